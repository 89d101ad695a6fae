"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[o,s]of Object.entries(e))s!==void 0&&(o.startsWith("on")?r.addEventListener(o.slice(2),s):o.includes(
"-")||o==="role"||o==="list"?r.setAttribute(o,String(s)):r[o]=s);return xr(r,...n),r}function xr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function M(t,...e){t.replaceChildren(),xr(t,...e)}function fe(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
o,s]of Object.entries(e))r.setAttribute(o,String(s));return r.append(...n),r}function he(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var Zo=0,Z=()=>`e${++Zo}`;function Sn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>o(i)},i)),o=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:o}}function Ze(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Dt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let o of t.matchAll(n)){let[s,i,a]=o;
e.append(t.slice(r,o.index)),r=o.index+s.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??s),a??"")}return e.
append(t.slice(r)),e}var Bt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let o=this.all.filter(a=>a.path===
e),s=o.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>s[Math.min(s.length-1,Math.floor(s.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:o}})}};
function le(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var Qe=t=>new Date(t).toTimeString().slice(0,
8);var Qo=new TextEncoder,es=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Sr=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
q=t=>{throw new Se(t)},V=t=>({bytes:t,at:0,depth:0,memory:0}),yt=(t=64)=>V(new Uint8Array(t)),be=t=>Qo.encode(t);function Pt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&
(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function L(t,e){t.at===t.bytes.length&&Pt(t,1),t.bytes[t.at++]=e}function Er(t,e){
L(t,e>>8),L(t,e)}function B(t,e){for(;e>127;e=Math.floor(e/128))L(t,e|128);L(t,e)}function ce(t,e){Pt(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function Pe(t,e){
B(t,e.length),ce(t,e)}function Ee(t,e){let{at:n}=t,{length:r}=e,o=r>Sr?128:0;L(t,r);for(let s=0;s<r&&o<128;s++)L(t,o=e.charCodeAt(s));o>127&&(t.at=n,Pe(t,be(e)))}
function me(t,e,n){L(t,e);let{at:r}=t;n();let o=t.bytes.slice(r,t.at);return t.at=r,Pe(t,o),o.length>0}var gt=({bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.
length-e,_e=({bytes:t,at:e})=>t[e],G=t=>t.bytes[t.at++]??q("it is cut off");function ke(t,e){let n=G(t);n!==e&&q(`${n} stands in the place of ${e}`)}function F(t,e=5){
let n=0;for(let r=1;e-- >0;r*=128){let o=G(t);if(o<128)return n+o*r;n+=(o-128)*r}return q("a number is too long")}function de(t,e=F(t)){return e>J(t)&&q("it is \
cut off"),t.bytes.subarray(t.at,t.at+=e)}var He=({bytes:t,at:e})=>t.slice(e);function z(t,e=F(t)){let{bytes:n,at:r}=t,o="",s=0;if(e<=Sr)for(let i;s<e&&(i=n[r+s])<
128;s++)o+=String.fromCharCode(i);if(s<e){let i=de(t,e);try{return es.decode(i)}catch{q("a text is not UTF-8")}}return t.at+=e,o}var _t=ts();var U=class t extends Error{constructor(n,r,o){super(r,o);this.name="Status";let{details:s=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=o??{};Object.assign(this,
{details:s,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,En(n),{cause:n})}};function ts(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var En=t=>t instanceof Error?t.message:String(t),se=(t,e)=>new U(t,e,{mayHaveRun:!1}),
Ht=t=>t>0&&t<=16?t:2,ht=(t,e,n)=>new U(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),qt=t=>ht(1,"the caller gave the call up",t),kr=(t,e="")=>ht(4,`no answer before th\
e deadline${e}`,t);var Wt=100,ns=64<<20,rs=12,Mn=8,Tn=56,kn=new Uint8Array(8),Nr=new DataView(kn.buffer);function O(t,e,n){let r;return{name:t,fields:()=>r??=os(e,n?.()??[])}}function $n(t,e){
let n=yt(256);return xt(n,t,e),gt(n)}var An=(t,e)=>St(V(e),t,0);function xt(t,e,n){t.depth=Wt,Ar(t,e,n)}function St(t,e,n){return t.depth=Wt,t.memory=Math.max(ns,
J(t)*rs),Cr(t,e,n)??Ir(t,e)}function os(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(o=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(o);
if(!s)throw new Error(`invalid table entry: ${o}`);let[,i,a,c,d,p]=s,u=p==="m"?as(e[r++]):p==="e"?ls(e[r++]):Tr[p],f=Tr[d[1]??""],b=f?[2,f.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,h=a?n.get(a):void 0;a&&!h&&n.set(a,h=[]);let C={name:a??i,of:u,isOptional:d==="?",key:f,head:b,case:i,number:+c,all:h};return h?.push(C),
C})}var wt=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Ar(t,e,n){if(!t.depth--)throw $r(e.name,`nests deeper than ${Wt}`);L(t,
8),L(t,0);let r="";try{for(let o of e.fields()){let{all:s,name:i}=o,a=n[r=i];if(!s)ss(t,o,a);else if(t.isFlat||o===s[0]){let c=a,d=s.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(L(t,3),B(t,d?d.number:0));let p=t.isFlat?o:d;p&&bt(t,p.of,p===d?c?.value:void 0)}}}catch(o){throw o instanceof
U?o:$r(`${e.name}.${r}`,o.message)}t.depth++}function ss(t,e,n){let{head:r,key:o,of:s}=e;if(n===void 0&&(r||e.isOptional)&&(n=wt(e)),r){let i=n,a=n;for(let c of r)
L(t,c);if(B(t,o?i.size:a.length),o)for(let[c,d]of i)bt(t,o,c),bt(t,s,d);else for(let c of a)bt(t,s,c)}else n===void 0&&e.isOptional&&!t.isFlat?L(t,0):bt(t,s,n)}
function bt(t,e,n){e.table||L(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Cr(t,e,n){if(_e(t)===0)return void t.at++;ke(t,8),G(t),t.depth--||q(`${e.name} n\
ests deeper than ${Wt}`);let r=e.fields();Cn(t,Tn+Mn*r.length);let o={},s="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(o[a]=void 0),n>0&&!J(
t))n--,c||(o[a]=wt(i));else if(!c)o[a]=is(t,i);else if(p&&_e(t)===3){t.at++,s+=` ${a} `;let u=F(t),f=c.find(b=>b.number===u);f?o[a]={case:f.case,value:Nn(t,f.of)}:
u&&q(`${e.name}.${a} has no member ${u}`)}else if(!s.includes(` ${a} `)){let u=Vt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(o[a]={case:i.
case,value:u})}}return t.depth++,o}function is(t,e){let{head:n,key:r,of:o}=e;if((r||e.isOptional)&&_e(t)===0)return t.at++,wt(e);if(!n)return Vt(t,o);for(let a of n)
ke(t,a);let s=F(t),i=wt(e);for(;s-- >0;)Cn(t,r?Tn:Mn),r?i.set(Vt(t,r),Nn(t,o)):i.push(Nn(t,o));return i}function Vt(t,{wire:e,table:n,take:r}){return n||ke(t,e),
r(t)}var Nn=(t,e)=>Vt(t,e)??Ir(t,e.table);function Ir(t,e){let n={},r=e.fields();Cn(t,Tn+Mn*r.length);for(let o of r)n[o.name]=o.all?void 0:wt(o);return n}function Cn(t,e){
(t.memory-=e)<0&&q("it takes too much memory")}var Ne=(t,e,n,r,o)=>({wire:t,zero:e,put:n,take:r,table:o}),as=t=>Ne(3,()=>{},(e,n)=>n?Ar(e,t,n):L(e,0),e=>Cr(e,t,
0),t);function ls(t){let e=Object.values(t);return Ne(10,()=>e[0],(n,r)=>{let o=e.indexOf(r),s=r+2147483648;vt(o>=0||r===(r|0)&&r<0&&s>=e.length,r),B(n,o<0?s:o)},
n=>{let r=F(n)>>>0,o=r-2147483648;return r>=e.length&&(o>=0||e.includes(o))&&q(`an enum has the index ${r}`),e[r]??o})}var Jt=(t,e)=>Ne(t?13:11,()=>e?0:0n,(n,r)=>{
let o=BigInt(r),s=Number(o),i=t?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(i)&&i>=0)return B(n,i);vt((t?BigInt.asIntN:BigInt.asUintN)(64,o)===o,r);let a=t?o<<1n^o>>
63n:o;for(;a>>53n;a>>=7n)L(n,Number(a&127n)|128);B(n,Number(a))},n=>{let{at:r}=n,o=F(n,10);if(o<=Number.MAX_SAFE_INTEGER)t&&(o=o%2?(o+1)/-2:o/2);else{let s=0n;for(let i=0n;r<
n.at;i+=7n)s|=BigInt(n.bytes[r++]&127)<<i;s=BigInt.asUintN(64,s),o=t?s>>1n^-(s&1n):s}return e?(Number.isSafeInteger(Number(o))||q("an integer is beyond 2^53"),Number(
o)):BigInt(o)}),Mr=(t,e)=>Ne(t,()=>0,(n,r)=>{Nr[e>4?"setFloat64":"setFloat32"](0,r);for(let o=0;o<e;o++)L(n,kn[o])},n=>{for(let r=0;r<e;r++)kn[r]=G(n);return Nr[e>
4?"getFloat64":"getFloat32"](0)}),Tr={b:Ne(7,()=>!1,(t,e)=>L(t,+e),t=>{let e=G(t);return e>1&&q(`a bool is ${e}`),e>0}),i:Ne(12,()=>0,(t,e)=>{vt(e===(e|0),e),B(
t,(e<<1^e>>31)>>>0)},t=>{let e=F(t);return e>>>1^-(e&1)}),u:Ne(10,()=>0,(t,e)=>{vt(e===e>>>0,e),B(t,e)},t=>F(t)>>>0),l:Jt(!0,!1),w:Jt(!1,!1),L:Jt(!0,!0),W:Jt(!1,
!0),f:Mr(14,4),d:Mr(15,8),s:Ne(5,()=>"",(t,e)=>{vt(typeof e=="string",e),L(t,10),Ee(t,e)},t=>(ke(t,10),z(t))),y:Ne(4,()=>new Uint8Array,(t,e)=>{L(t,10),Pe(t,e)},
t=>(ke(t,10),de(t).slice()))},$r=(t,e)=>se(3,`${t} ${e}`);function vt(t,e){if(!t)throw new Error(`cannot be ${String(e)}`)}var Rn=16,Rr=65536,Or=256,cs=61440,ds={metadata:{}},In=t=>t.endsWith("-bin"),Fr=(t,e)=>In(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${In(
t)?"":e}`),On=t=>typeof t=="string"?be(t):t;function Fn(t,{isBackward:e,timeout:n,metadata:r={},status:o}){let{at:s}=t;me(t,Rn,()=>{e&&me(t,4,()=>{}),n!==void 0&&
me(t,1,()=>B(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Fr(c,d))throw se(3,`metada\
ta breaks the rules: ${c}`);if(a+=c.length+d.length+8,p>=Or||a>cs)throw se(8,"too much metadata");me(t,2,()=>{Ee(t,c),ce(t,On(d))})}),o){let{code:c,details:d,mayHaveRun:p}=o;
me(t,3,()=>{B(t,c),t.at-s+d.length+32<=Rr&&ce(t,d)}),p||me(t,5,()=>{})}})||(t.at=s)}function jt(t){if(_e(t)!==Rn)return ds;t.at++;let e=V(de(t));J(e)>Rr&&q("a p\
refix is too long");let n=Object.create(null),r={metadata:n},o=0;for(;J(e);){let s=G(e),i=V(de(e));if(s===1)r.timeout=F(i,10)/1e3;else if(s===2){let a=z(i),c=In(
a)?He(i):z(i,J(i));(!Fr(a,c)||a in n||++o>Or)&&q("metadata breaks the rules"),n[a]=c}else s===3?(r.code=Ht(F(i,10)),r.details=He(i)):s===5&&(r.isRefused=!0)}return r}
function Lr(t){let e=1;for(;t[e]>127;)e++;return t[0]===Rn&&t[e+1]===4&&t[e+2]===0}function Gt(t,{metadata:e,code:n,details:r,isRefused:o}){if(_e(t)===6)return t.
at++,ke(t,5),ke(t,10),new U(n??2,z(t),{metadata:e,mayHaveRun:!o,...r&&{details:r}})}function Ur(t,e,n){Fn(t,{isBackward:n,status:e,metadata:e.metadata}),ce(t,[6,
5,10]),Ee(t,e.message)}var qe=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:o})=>o)});function Dr(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw se(9,`incompatib\
le layouts of ${t.name}`);return 1}var Br=({added:t=[0,0]},e,n)=>e*t[n];function Ln(t,e){let n=o=>o.match(/../g)?.forEach(s=>L(t,parseInt(s,16)));Ee(t,e.name),n(
e.fingerprint),B(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let o of[...e.operations].sort((s,i)=>s-i))B(t,o-r),r=o}function Pr(t){let e=()=>{let r="";
for(;r.length<16;)r+=G(t).toString(16).padStart(2,"0");return r},n={service:z(t),fingerprint:e(),compatible:[],operations:[]};for(let r=F(t);r>0;r--)n.compatible.
push(e());for(let r=0;J(t);)n.operations.push(r+=F(t));return n}var Un=5<<20,ps=1024,fs=65536,tt=10,Je=16384,ms=Je/2,ys=256,Xt=262144,gs=1e5,hs=64<<20,bs=65536,vs=2e3,ws=5,xs=1e4,_r="the server is going away",Ss=2147483647,Kt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),Ss));function Hr(t,e,n,r,o){let s=yt(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,f=0,b=0,h=0,C=32767,k=[0,Un,1/0,Je,0],$=!1,ie=!1,
ee,te=tt,X=0,ne=!1,W=0,K=!1,j=!1,re=0,ae,oe=()=>{s.at&&(K=!1,j=!0,$||ge?.send(gt(s)),s.at=W=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),(ge?.buffered()??
0)>hs&&R("too many unsent bytes"))},g=()=>{s.at!==W?(W=s.at,queueMicrotask(g)):(ne=!1,oe())},m=(y,x,E,P)=>{let{at:ze}=s;try{Pt(s,tt),s.at+=tt,E?.(s,P);let ue=s.
at,Ye=ue-ze-tt,wr=Math.max(k[1],ps);if(Ye>wr)throw se(8,`the message has ${Ye} bytes of at most ${wr}`);s.at=ze;for(let Yo of[15,y,x,Ye>>>16,Ye])Er(s,Yo);s.at=ue}catch(ue){
throw s.at=ze,ue}s.at>bs?oe():ne||(ne=!0,W=0,queueMicrotask(g))},v=(y,{code:x,message:E})=>m(y,7,P=>{B(P,x),ce(P,be(E.slice(0,256)))}),w=(y,x)=>{m(y,5,B,0),v(y,
x)},S=y=>{if(!$){if(re=0,ee){if(ce(ee,y),ee.at<te)return;y=gt(ee),ee=void 0}try{let x=0,E=P=>y[x+P]<<8|y[x+P+1];for(;!$&&!(y.length<(te=x+tt));x=te){E(0)!==15&&
q("a header without its magic");let P=E(6)*65536+E(8);if(P>Un&&q(`a packet of ${P} bytes`),y.length<(te+=P))break;I(E(2),E(4),y.subarray(x+tt,te))}x<y.length&&(te-=
x,ce(ee=yt(),y.subarray(x)))}catch(x){R(`the server broke the protocol: ${x.message}`)}}},I=(y,x,E)=>{let P=V(E),ze=i.get(y);if(x>=10)if(A.isUp||q("a packet bef\
ore HELLO"),Lr(E)){if(H)return H.packet(y,x,E,!1)}else{let ue=d[y%Je];if(ue?.id===y&&ue.operation===x)return pe(y),e.answered(),ue.isGivenUp?u--:e.replied(ue,E),
N();if(o.filter(Ye=>Ye.packet(A,y,x,E)).length)return}else if(x<2){E.length&&q("a PING with a body"),x===1?A.isUp||R("the server is a compat peer"):K||(K=!0,m(0,
1));return}else{if(x===3&&!A.isUp)return Y(P);if(x===4)return T();if(x===6)return H?.cancel(y,F(P));if(x===8)q("a stray hand-off");else{if(ze&&x!==3&&x<8)return e.
answered(),ze.packet(x,E);if(x===2){let ue=y-C&32767;if(y>=32768&&ue&&ue<=16384)return C=y,H?H.packet(y,2,E,!0):w(y,se(12,"this end serves nothing"))}}}++X>gs&&
R("too many stray packets")},Y=y=>{for((J(y)>fs||z(y,4)!=="fris"||!G(y))&&q("no HELLO");J(y);){let x=G(y),E=V(de(y));if(x in k)k[x]=F(E);else if(x===32||x===33)
try{let P=Pr(E);(x===32?a:c).set(P.service,P)}catch{}}k[3]=Math.min(k[3],Je),A.isUp=!0,clearTimeout(Be),e.room(A)},pe=y=>{d[y%Je]=void 0,p--===k[3]&&e.room(A)},
ye=(y,x,E)=>{i.set(x,y),y.begin(A,x,k[4],E)},N=()=>{ie&&p===u&&!i.size&&!H?.progress.size&&queueMicrotask(()=>R(_r))},T=()=>{ie||(ie=!0,e.left(A,_r),N())},R=y=>{
$||(oe(),ge?.close(),D(y))},D=y=>{if($)return;$=!0,clearInterval(ae),clearTimeout(Be),e.left(A,y),A.isUp=!1;let x=new U(14,`the connection was lost: ${y}`);for(let E of d)
E&&!E.isGivenUp&&e.lost(E,x);for(let E of i.values())E.lost(x);H?.down(x);for(let E of o)E.down(A,x)},A={isUp:!1,write:m,reset:v,refuse:w,fits(y){let x=a.get(y.
name);if(x)return x.fingerprint===y.fingerprint||n.includes(y)?Dr(y,x):void 0;for(let E of a.values())if(E.operations.some(P=>y.operations.includes(P)))throw se(
12,`the server has ${E.service} in the place of ${y.name}`);return 0},call(y,x){if(p>=k[3])return!1;do f=f+1&65535;while(d[f%Je]);let E=y.id=f;d[E%Je]=y,p++;try{
m(E,y.operation,x,y)}catch(P){throw pe(E),P}return!0},cancel(y){$||(y.isGivenUp=!0,m(y.id,6,B,y.operation),++u>=ms&&T(),N())},open(y,x,E){if(!k[2])throw se(12,"\
the server does not accept streams");if(b>=Math.min(k[2],28672))return!1;do h=h%32767+1;while(i.has(h));return b++,ye(y,h,x),m(h,2,E),!0},accept:ye,over(y){i.delete(
y),y<32768&&(b--,e.room(A)),N()},leave:T,closeIfIdle:N},H=r?.on(A,c),Be=Kt(xs,()=>R("no HELLO in time")),mt=()=>{s.isFlat=ge?.isFlat,m(0,3,y=>{ce(y,be("fris"));
let x=H?ys:0;[Un,x,x,Xt].forEach((E,P)=>me(y,P+1,()=>B(y,E)));for(let E of r?.services??[])me(y,32,()=>Ln(y,E));for(let E of n)me(y,33,()=>Ln(y,E))}),m(1,0),oe(),
ae=setInterval(()=>{if(++re>ws)return R("the server is silent");(re>1||!j)&&m(0,0),j=!1;let y=performance.now();for(let x of d)x&&x.until<=y&&!x.isGivenUp&&e.look(
x)},vs)},ge,br=y=>ge?y():queueMicrotask(y),vr=y=>br(()=>D(y));try{ge=t({open:()=>br(mt),data:S,close:vr})}catch(y){vr(En(y))}return A}function zt(t,e){let n=[],r=!1,o=()=>{},s=c=>{r||=c,o()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>o=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,s(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),o()},end:s}}var Dn=64,Es=4,ks=4096,Bn=(t,e)=>t instanceof Se?new U(13,`not a valid ${e.name}: ${t.message}`):U.from(t);function qr(t,e,n,r,o){let s,i=0,a=0,c=0,d=0,p=0,u=!0,
f=!0,b=!1,h=!1,C=()=>{},k,$=()=>!u&&!f,{messages:ie,items:ee,put:te,end:X}=zt(m=>{let v=m.length+Dn;d-=v,p+=v,f&&p*Es>=Xt&&(s?.write(i,5,B,p),p=0);try{let w=V(m),
S=jt(w);if(w.at&&(o?.(ne.metadata=S.metadata),!J(w)))return;let I=Gt(w,S);if(I)throw I;return St(w,e,a)}catch(w){throw Bn(w,e)}},()=>n?re(!0):oe()),ne=Object.assign(
ie,{metadata:{}}),W=()=>{$()&&(C(),k?.(),s?.over(i),s=k=void 0,r())},K=()=>{u&&(u=!1,s?.write(i,7),W())},j=m=>{u=f=!1,X(m),W()},re=(m,v=qt(!0))=>{$()||s?.reset(
i,v),ee.length=0,j(m)},ae=m=>re(m,m),oe=()=>{ee.length=0,b=!0},g=m=>{if(!s||!u)return;let v=m instanceof U;s.write(i,2,w=>{let{at:S}=w;v?Ur(w,m,!1):xt(w,t,m),c-=
w.at-S+Dn}),v&&K()};return{messages:ne,begin(m,v,w,S){s=m,i=v,c=w,a=S},packet(m,v){if(m===2)return!f||b?void 0:d+p>=Xt?ae(new U(8,"the peer sent more than it ha\
d credit for")):(d+=v.length+Dn,te(new Uint8Array(v)));let w=V(v);if(m===5){let S=F(w,10);h||=!S,(c+=S)>0&&C()}else if(v.length){let S=Ht(F(w));j(new U(S,new TextDecoder().
decode(He(w).subarray(0,ks)),{mayHaveRun:!h}))}else f=!1,X(!0),W()},send:g,async pump(m){try{let v=Symbol.asyncIterator in m?m[Symbol.asyncIterator]():m[Symbol.
iterator]();for(k=async()=>{try{await v.return?.()}catch{}};;){for(;c<=0&&!$();)await new Promise(I=>C=I);if($())return;let{done:w,value:S}=await v.next();if($())
return;if(w)break;g(S)}k=void 0,K()}catch(v){let w=U.from(v);n?re(w):g(w)}},finish:K,discard:oe,fail:ae,lost:j}}var Ns=3e4,Ms=5e3,Ts=20,Jr=2e3,Vr=10,Et=class{constructor(e,{timeout:n,patience:r=Ms,metadata:o,serve:s,stayConnected:i}={}){let a,c=0,d=Vr,p=0,u,f=!1,b="",h=new Set,
C=new Set,k=[],$=()=>{a||u||f||!(h.size||i)||(p=performance.now(),a=Hr(e,ie,[...C],s,k))},ie={room:g=>queueMicrotask(()=>{for(let m of h){if(a!==g||!ee(m,g))return;
h.delete(m)}}),left(g,m){a===g&&(a=void 0,g.isUp&&performance.now()-p>=Jr?c=0:(b=m,clearTimeout(u),u=Kt(Math.random()*Math.min(Ts*2**Math.min(c++,16),Jr),()=>{u=
void 0,$()})),$())},answered:()=>void(c=0),replied(g,m){let v=g,{method:{reply:w},options:{onMetadata:S}}=v;ne(v);try{let I=V(m),Y=jt(I),pe=Gt(I,Y);if(pe)throw pe;
I.at&&S?.(Y.metadata),v.resolve(St(I,w,v.missing)),d<Vr&&(d+=.1)}catch(I){v.reject(Bn(I,w))}},look:g=>X(g),lost(g,m){let v=g;if(v.link=void 0,!v.method.idempotent||
d<1)return W(v,m);d--,te(v)}},ee=(g,m)=>{let{service:v,method:w}=g;try{let S=v?m.fits(v):0;return S!==void 0?(g.missing=Br(w,S,1),g.start(g,m)&&(g.isSent=!0)):(C.
add(v),c=0,m.leave(),!1)}catch(S){return W(g,U.from(S)),!0}},te=g=>{if(!(a?.isUp&&ee(g,a))){if(f)return W(g,Wr());g.patient=performance.now()+r,h.add(g),X(g),$()}},
X=g=>{let{until:m,isSent:v,patient:w}=g,S=performance.now(),I=h.has(g)&&!a?.isUp&&`no connection to the server${b&&`: ${b}`}`;clearTimeout(g.timer),S>=m?W(g,kr(
v,I?`; ${I}`:"")):S>=w&&I?W(g,ht(14,I,v)):g.timer=Kt((S<w?Math.min(m,w):m)-S,()=>X(g))},ne=g=>{h.delete(g),clearTimeout(g.timer),g.options.signal?.removeEventListener(
"abort",g.abort)},W=(g,m)=>{ne(g),g.link?.cancel(g),g.reject(m)},K=(g,{told:m,until:v,options:{metadata:w}})=>{(m!==void 0||o||w)&&Fn(g,{timeout:m&&v-performance.
now(),metadata:{...o,...w}})},j=(g,m)=>{K(g,m),xt(g,m.method.request,m.request)},re=(g,m)=>{let v=m.call(g,j);return v&&(g.link=m),v},ae=(g,m,v,w,S,I,Y,pe,ye=1/0)=>{
let{signal:N}=w,T={id:0,operation:m.operation,until:performance.now()+(S??ye),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:g,method:m,
request:v,options:w,told:S,start:I,resolve:Y,reject:pe,abort:N&&(()=>W(T,qt(T.isSent)))};return N?.aborted?T.abort?.():(N?.addEventListener("abort",T.abort),S!==
void 0&&X(T),(S===void 0||S>0)&&te(T)),T},oe=(g,m,v,w={})=>{let S,I=qr(m.request,m.reply,!0,()=>S&&ne(S),w.onMetadata);return S=ae(g,m,v,w,w.timeout,(Y,pe)=>{let ye=pe.
open(I,Y.missing,N=>{K(N,Y),L(N,9),B(N,Y.operation)});return ye&&I.pump(v),ye},()=>{},I.fail),I};this.unary=(g,m,v,w={})=>new Promise((S,I)=>void ae(g,m,v,w,w.timeout??
n,re,S,I,Ns)),this.serverStreaming=(g,m,v,w)=>oe(g,m,[v],w).messages,this.twoWay=(g,m,v,w)=>oe(g,m,v,w).messages,this.clientStreaming=async(g,m,v,w)=>{let{messages:S}=oe(
g,m,v,w),{done:I,value:Y}=await S.next();if(I)throw new U(13,"there is no reply");return S.return?.(),Y},this.name=g=>void C.add(g),this.mount=g=>void k.push(g),
this.connected=()=>new Promise((g,m)=>{ae(void 0,{},void 0,{},void 0,(v,w)=>(ne(v),g(w),!0),g,m)}),this.close=()=>{f=!0,clearTimeout(u);for(let g of h)W(g,Wr());
a?.leave()},i&&queueMicrotask($)}},Wr=()=>ht(9,"the channel is closed",!1);async function Yt(t){let e;do e=await t.connected();while(!e.isUp);return e}var kt=65280,$s=16<<20,Pn=64,As=65536,Cs=4,Zt={now:0,last:1,oldest:2},Nt=class{constructor(e){this.channel=e;this.asked=new Map;this.last=0;let{asked:n}=this;e.
mount({packet(r,o,s,i){if(s<kt)return!1;for(let[a,c]of n)(!o||o===a)&&c.packet(r,o,s-kt,V(i));return!0},down(r,o){for(let s of[...n.values()])s.down(r,o)}})}subscribe(e,{
group:n="",from:r}={}){return this.ask(0,e,n,r)}async publish(e,n){(await Yt(this.channel)).write(0,kt+2,r=>{Pe(r,be(e)),ce(r,On(n))})}async sync(){await(await this.
ask(3)).return?.()}async ask(e,n,r="",o){let{asked:s}=this,i=await Yt(this.channel);do this.last=this.last%65535+1;while(s.has(this.last));let a=this.last;return new Promise(
(c,d)=>{let p=0,u=0,f=!1,{items:b,messages:h,put:C,end:k}=zt(N=>(p-=N.payload.length+Pn,N),()=>{s.delete(a)&&n!==void 0&&i.isUp&&i.write(a,kt+1)}),$=N=>{s.delete(
a),d(N),k(N)},ie=r?[]:n?.split(".")??[],ee=ie[ie.length-1]===">",te=N=>{let T=N.split(".");return(ee?T.length>=ie.length:T.length===ie.length)&&ie.every((R,D)=>R===
">"||R==="*"||R===T[D])},X=e===0&&!r&&o!==void 0,ne=typeof o=="object",W=ne||o===void 0?Zt.oldest:Zt[o],K=new Map(ne?[[n,{...o,offset:o.offset+1}]]:[]),j=new Map,
re=0,ae="",oe=!1,g=!1,m=!1,v=!1,w=!1,S=N=>{i.write(a,kt+N,T=>{if(n!==void 0&&Pe(T,be(n)),N===6){L(T,W);for(let[R,D]of K){Ee(T,R);for(let A=0;A<16;A+=2)L(T,parseInt(
D.epoch.slice(A,A+2),16));B(T,D.offset)}}else ce(T,be(r))})},I=()=>{w=!0,g&&(m||!(X&&v))&&(f=!0),c(h)},Y=N=>Array.from(de(N,8),T=>T.toString(16).padStart(2,"0")).
join(""),pe=(N,T,R)=>{if(T===5&&N&&!w&&X&&R.bytes[R.at]===Cs)m=!0,S(0);else if(T===6&&N&&R.bytes[R.at]===0){G(R),v=G(R)===1;let D=Y(R);re=F(R,10);let A=ae!==""&&
ae!==D,H=!n?.match(/[*>]/)&&K.size>0;ae=D,I(),m=!1,f||=H?!re:A}else if(T===7)for(;J(R);){let D=z(R),A={epoch:Y(R),offset:F(R,10)};if(!w||!N&&!te(D))continue;let H=j.
get(D);N&&!H?(re--,H=K.get(D)??(oe?{...A,offset:1}:void 0)):!N&&H?.epoch!==A.epoch&&(H=void 0),H&&v&&(H.epoch===A.epoch&&H.offset<=A.offset?u+=A.offset-H.offset:
f=!0),j.size>=As&&(j.clear(),m=!0),j.set(D,A)}else return!1;return!0},ye=async()=>{try{let N=await Yt(this.channel);if(!s.has(a))return;i=N,S(X?6:0)}catch(N){let T=U.
from(N);if(T.code===14&&s.has(a))return ye();$(T)}};s.set(a,{packet(N,T,R,D){if(!(N!==i||X&&pe(T,R,D)))if(R===2){let A=z(D);if(!T&&(!w||!te(A)))return;let H=He(
D),Be=j.get(A);for(Be&&j.set(A,{...Be,offset:Be.offset+1}),p+=H.length+Pn;p>$s&&b.length;){let mt=b.shift();p-=mt.payload.length+Pn;let ge=b[0];u+=mt.lagged+1,f||=
mt.reconnected,ge&&(ge.lagged+=u,ge.reconnected||=f,u=0,f=!1)}C({topic:A,payload:H,position:Be,lagged:u,reconnected:f}),u=0,f=!1}else R===4?X&&v&&w||(u+=F(D,10)):
T&&(J(D)?$(se([8,12,7][G(D)-3]??3,z(D,J(D)))):I())},down(N,T){if(N===i){if(n===void 0||!w&&!g)return $(T);if(w)if(re>0)for(let[R,D]of j)K.set(R,D);else K=m?new Map:
j,W=m?Zt.now:Zt.oldest,oe=!m;j=new Map,w=!1,g=!0,ye()}}}),S(X?6:e)})}};var _n="frisbee.1";function Hn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let o=new n(String(t),[_n,...e]);return o.binaryType="arraybuffer",o.onopen=()=>{o.protocol===_n?r.open():o.close()},
o.onmessage=({data:s})=>{s instanceof ArrayBuffer?r.data(new Uint8Array(s)):o.close()},o.onerror=()=>{},o.onclose=({code:s,reason:i})=>{r.close(`the WebSocket w\
as closed (${s}${i&&`, ${i}`})`)},{send:s=>o.send(s),close:()=>o.close(),buffered:()=>o.bufferedAmount}}}var Is=64;var Qt=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of ve(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],o=new Map;for(let{number:i,bytes:a}of ve(e))i===
2?n=Me(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(o=Fs(a));let s={4:0,5:0};for(let{number:i,bytes:a}of r){let c=s[i]??0;s[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,o,0):this.declareEnum(a,n,[],d,o)}}declare(e,n,r,o,s,i){if(i>Is)throw new Se("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",f=!1;for(let{number:k,bytes:$}of ve(e))k===1?u=Me($):k===2?a.push($):k===3?c.push($):k===4?d.push($):k===7?f=zr($,7):k===8&&p.push({name:Xr($),docs:s.
get(`${o},8,${p.length}`)??""});let b=[...r,u],h=Gr(n,b),C=a.map((k,$)=>Rs(k,s.get(`${o},2,${$}`)??""));this.messages.set(h,{name:h,package:n,path:b,docs:s.get(
o)??"",fields:C,oneofs:p,isEntry:f}),c.forEach((k,$)=>this.declare(k,n,b,`${o},3,${$}`,s,i+1)),d.forEach((k,$)=>this.declareEnum(k,n,b,`${o},4,${$}`,s))}declareEnum(e,n,r,o,s){
let i=[],a="";for(let{number:p,bytes:u}of ve(e)){if(p===1&&(a=Me(u)),p!==2)continue;let f=0;for(let b of ve(u))b.number===2&&(f=b.low|0);i.push({name:Xr(u),number:f,
docs:s.get(`${o},2,${i.length}`)??""})}let c=[...r,a],d=Gr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:s.get(o)??"",values:i})}},Kr=t=>t===11||t===10||t===
14,Gr=(t,e)=>[...t?[t]:[],...e].join(".");function Rs(t,e){let n="",r="",o="",[s,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of ve(t))u.number===1?n=Me(u.bytes):u.number===
3?s=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?o=Me(u.bytes).replace(/^\./,""):u.number===8?p=zr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Me(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new Se(`a field of the kind ${a}`);return{name:n,number:s,kind:a,type:o,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,f)=>f.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var Os=new Uint8Array,Me=t=>z(V(t),t.length);function*ve(t){
let e=V(t);for(;J(e);){let n=F(e),r=n>>>3,o=n&7;if(o===0){let s=0,i=0;for(let a of t.subarray(e.at,(F(e,10),e.at)))i<32&&(s|=(a&127)<<i),i+=7;yield{number:r,bytes:Os,
low:s>>>0}}else if(o===2)yield{number:r,bytes:de(e,F(e)),low:0};else if(o===1||o===5)de(e,o===1?8:4);else throw new Se(`a field of the wire type ${o}`)}}function Xr(t){
for(let{number:e,bytes:n}of ve(t))if(e===1)return Me(n);return""}function zr(t,e){for(let{number:n,low:r}of ve(t))if(n===e)return r!==0;return!1}function Fs(t){
let e=new Map;for(let{number:n,bytes:r}of ve(t)){if(n!==1)continue;let o="",s="",i="";for(let c of ve(r))if(c.number===1){let d=V(c.bytes),p=[];for(;J(d);)p.push(
F(d));o=p.join(",")}else c.number===3?s=Me(c.bytes):c.number===4&&(i=Me(c.bytes));let a=s||i;a&&e.set(o,en(a))}return e}var en=t=>t.replace(/^ /gm,"").trim();var Oe=t=>`f${t.number}`,rt=t=>`o${t}`,qn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
nt=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),o=Us(this.schema,
r),s=o.map(c=>`${Oe(c)}:${this.spec(r,c)}`).join(" "),i=o.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>Kr(c.kind)),a=O(e,s,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),o=qn[n.kind];if(r){let[s,i]=r.fields;if(!s||!i)throw new Error(
`${r.name} is no entry of a map`);return`%${qn[s.kind]}${qn[i.kind]}`}if(n.isRepeated)return`*${o}`;if(n.oneof!==void 0){let s=e.fields.filter(i=>i.oneof===n.oneof);
return`${rt(n.oneof)}/${s.indexOf(n)+1}/${o}`}return n.isOptional&&o!=="m"?`?${o}`:o}choice(e){let n=this.enums.get(e);return n||(n=Ls(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},Ls=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Us(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(o=>n(o)===r))}function Yr(t,e,n,r,o){let s=o.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:f})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:f})),i=qe(e,n,r,Object.fromEntries(s.map((a,c)=>[`m${c}`,a])));return s.
map(a=>({service:i,method:a}))}var Jn={POLYGLOT:0,PROTOBUF:1},Mt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Ds=O("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Bs=O("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Ps=O("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[qs]),_s=O("fr\
pc.reflection.v1.ListRequest","etag:s"),Hs=O("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Mt]),qs=O("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Jn,Hs]),ot=qe("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:_s,reply:Ps,receives:!0,
idempotent:!0},files:{operation:65001,request:Bs,reply:Ds,receives:!0,idempotent:!0}});var Zr=32<<20,Te=t=>`${t.service.name}/${t.name}`,tn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Hn(e),o=i=>{this.wire=i,n()},s=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),o("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{o("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Et(s,
{stayConnected:!0}),this.channel.name(ot),this.topics=new Nt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,o=new Map,s="";for await(let f of n.serverStreaming(
ot,ot.methods.list,{etag:e?.etag??""},{metadata:r})){if(f.notModified)return;s||=f.etag;for(let b of f.services){let h=o.get(b.name);h?h.methods.push(...b.methods):
o.set(b.name,b)}}let i=[],a=0;for await(let{data:f}of n.serverStreaming(ot,ot.methods.files,{},{metadata:r}))if(i.push(f),a+=f.length,a>Zr)throw new U(_t.RESOURCE_EXHAUSTED,
`the schema has more than ${Zr} bytes`);let c=new Uint8Array(a),d=0;for(let f of i)c.set(f,d),d+=f.length;let p=new Qt(c),u=new nt(p);return{etag:s,schema:p,services:[
...o.values()].map(f=>Js(f,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Js(t,e){let n,r=s=>{if(t.codec!==Jn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=Yr(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==Mt.UNKNOWN}))),n[s]},o={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:en(t.docs),isDeprecated:t.isDeprecated,methods:[]};return o.methods=
t.methods.map((s,i)=>({service:o,name:s.name,operation:s.operation,request:s.request,response:s.response,sends:s.requestStreams,receives:s.responseStreams,idempotency:s.
idempotency===Mt.NO_SIDE_EFFECTS?"no side effects":s.idempotency===Mt.IDEMPOTENT?"idempotent":"",formats:s.formats,docs:en(s.docs),isDeprecated:s.isDeprecated,callable:()=>r(
i)})),o}var nn=t=>Object.entries(_t).find(([,e])=>e===t)?.[0]??String(t);var Vs=50;function rn(t,e,n){let r=t.slice(-Vs).reverse().map(o=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
o)},l("span",{className:"muted"},Qe(o.beganAt)),l("span",{className:o.code===0?"badge ok":"badge failed"},nn(o.code)),!n&&l("span",{className:"path"},o.path),l(
"span",{className:"muted shortened"},(o.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},le(o.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var _=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},Q=()=>Object.create(null),Wn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),jn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Ve=t=>jn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Fe(t){try{return JSON.parse(t||"{}")}catch(e){throw new _(
"",e.message)}}function We(t,e,n,r=""){let o=Ks(t,e,n,r);if(o)return o;if(!Wn(n))throw new _(r,`${e} is an object`);let s=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=s.fields.find(f=>f.jsonName===a||f.name===a),p=r?`${r}.${a}`:a;if(!d)throw new _(p,`${e} has no such field${Ws(s)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=js(t,d,c,p);if(d.oneof===void 0)i[Oe(d)]=u;else{let f=rt(d.oneof);if(i[f])throw new _(p,`${s.oneofs[d.oneof]?.name} has two \
members`);i[f]={case:Oe(d),value:u}}}return i}var Ws=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function js(t,e,n,r){let o=t.
entry(e),[s,i]=o?.fields??[];if(s&&i){if(!Wn(n))throw new _(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[Gs(s,a,r),Vn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Vn(t,e,n,r);if(!Array.isArray(n))throw new _(r,"a list is an array");return n.map((a,c)=>Vn(t,e,a,`${r}[${c}]`))}function Gs(t,e,n){
if(t.kind!==8)return At(t,e,n);if(e!=="true"&&e!=="false")throw new _(n,`${e} is not true or false`);return e==="true"}var eo=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Xs=t=>[3,4,6,16,18].includes(
t),Gn=t=>t in eo;function Vn(t,e,n,r){if(e.kind===11)return We(t,e.type,n,r);if(e.kind!==14)return At(e,n,r);let{name:o,values:s}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=s.find(a=>a.name===n);if(!i)throw new _(r,`${o} has no value ${Tt(n)}; it has: ${s.map(a=>a.name).join(", ")}`);return i.
number}var Tt=t=>JSON.stringify(t).slice(0,60);function At(t,e,n=""){let{kind:r}=t,o=eo[r];if(o){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new _(n,`${Tt(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new _(n,"an integer of this size is writte\
n as text, in quotes");let i=BigInt(e);if(i<o[0]||i>o[1])throw new _(n,`${i} is not from ${o[0]} to ${o[1]}`);return Xs(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new _(n,`${Tt(e)} is no number`);return Number(
e)}if(r===8){if(typeof e!="boolean")throw new _(n,`${Tt(e)} is not true or false`);return e}if(typeof e!="string")throw new _(n,`${Tt(e)} is no text`);return r===
12?we(e,n):e}function Ks(t,e,n,r){let o=jn.test(e)&&t.message(e).fields[0];if(o)return{f1:At(o,n,r)};switch(e){case"google.protobuf.Timestamp":return zs(n,r);case"\
google.protobuf.Duration":{let s=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!s)throw new _(r,'a duration is written as "1.5s"');let[,i,a="",
c=""]=s,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new _(r,'a mask is written\
 as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(s=>s.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.protobuf.Struct":if(!Wn(
n))throw new _(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([s,i])=>[s,$t(i,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(n))throw new _(
r,"a ListValue is an array");return{f1:n.map(s=>$t(s,0))};case"google.protobuf.Value":return $t(n,0)}}function zs(t,e){let n=typeof t=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))throw new _(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function $t(t,e){if(e>90)throw new _("","nests too deep");let n=(r,o)=>({o0:{case:`f${r}`,value:o}});return t===null?
n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(4,t):Array.isArray(t)?n(6,{f1:t.map(r=>$t(r,e+1))}):n(5,{f1:new Map(Object.entries(
t).map(([r,o])=>[r,$t(o,e+1)]))})}function Ct(t,e,n){let r=Qs(t,e,n);if(r!==void 0)return r;let o=Q();for(let s of t.message(e).fields){let i=s.oneof===void 0?void 0:
n[rt(s.oneof)],a=s.oneof===void 0?n[Oe(s)]:i?.case===Oe(s)?i.value:void 0;if(a===void 0)continue;let c=Ys(t,s,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(o[s.jsonName]=c)}return o}function Ys(t,e,n){let r=t.entry(e)?.fields[1];if(r&&n instanceof Map){let o=Q();for(let[s,i]of n)o[String(s)]=on(t,r,i);
return o}return Array.isArray(n)?n.map(o=>on(t,e,o)):on(t,e,n)}function on(t,e,n){return e.kind===11?Ct(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(
({number:r})=>r===n)?.name??n:n instanceof Uint8Array?$e(n):typeof n=="bigint"||typeof n=="number"&&!Number.isFinite(n)?String(n):e.kind===2?Zs(n):n}function Zs(t){
for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}function Qs(t,e,n){let r=jn.test(e)&&t.message(e).fields[0];if(r)return on(
t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let o=Number(n.f1),s=new Date(o*1e3);return Number.isNaN(s.getTime())||o<-62135596800||o>253402300799?void 0:
`${s.toISOString().slice(0,19)}${Qr(n.f2)}Z`}case"google.protobuf.Duration":{let[o,s]=[n.f1,n.f2];return`${o<0n||s<0?"-":""}${o<0n?-o:o}${Qr(Math.abs(s))}s`}case"\
google.protobuf.FieldMask":return n.f1.map(o=>o.replace(/_([a-z])/g,(s,i)=>i.toUpperCase())).join(",");case"google.protobuf.Struct":return to(n);case"google.pro\
tobuf.ListValue":return n.f1.map(sn);case"google.protobuf.Value":return sn(n)}}function to(t){let e=Q();for(let[n,r]of t.f1)e[n]=sn(r);return e}function sn(t){let e=t.
o0;return!e||e.case==="f1"?null:e.case==="f5"?to(e.value):e.case==="f6"?e.value.f1.map(sn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var Qr=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function $e(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.
fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function we(t,e=""){try{return Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(
0))}catch{throw new _(e,"it is no base64")}}function st(t){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var je=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var Ge=t=>Kn(JSON.stringify(t)),Kn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ae=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Kn(t).replace(/'/g,"'\\''")}'`,no=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:$e(n)]);function ro({method:t,
requests:e,metadata:n,timeout:r,origin:o}){let s=t.sends||t.receives,i=[s?"curl -sN":"curl",`-H 'content-type: application/${s?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Ae(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of no(n))i.push(`-H ${Ae(`${p}: ${u}`)}`);let a=Ae(`${o}/${Te(t)}`);if(!s)return[...i,`-d\
 ${Ae(Ge(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(Ge);return[`printf '${c.map(p=>`\\0${ei(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Ae).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ei=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function oo({method:t,requests:e,metadata:n,timeout:r,origin:o}){let{
host:s,protocol:i}=new URL(o),a=i==="https:"?`wss://${s}/`:s,c=[`frpc call --server ${Ae(a)}`,Ae(Te(t))];for(let d of e)c.push(Ae(Ge(d)));for(let[d,p]of no(n))c.
push(`-H ${Ae(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var dn=t=>t.replace(/\W/g,"_")||"_",so=t=>dn(t).replace(/^_(?=\d)/,"-"),io=t=>dn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),It=t=>io(t).map(e=>e.toLowerCase()).join("_")||"_",Xe=t=>io(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",an=t=>Xe(t).replace(/^./,e=>e.toLowerCase()),ti=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),cn=t=>ti.has(It(t))?/^(self|super|crate)$/.test(It(t))?`${It(t)}_`:`r#${It(t)}`:It(t),xe=t=>Kn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ao(t){let{schema:e,method:n,requests:r,metadata:o,timeout:s,origin:i}=t,a=dn(n.service.name.
split(".").pop()??""),c=r.map(b=>co(e,n.request,b,0)),d=cn(n.name),p=[`let client = ${a}Client::connect(${xe(new URL(i).host)}).await?;`],u=c[0]??`${Xe(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let f=[...s===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(s)}));`],...Object.entries(o).map(([b,h])=>typeof h=="string"?`request.metadata_mut().insert(${xe(b)}, ${xe(h)})?;`:`request.metadata_m\
ut().insert_bin(${xe(b)}, &[${[...h].join(", ")}][..])?;`)];return f.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...f),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(b=>`requests.send(${b}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(b=>`    requests.send(${b}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function lo({path:t,package:e}){let n=[...t.slice(0,-1).map(cn),Xe(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Xn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function co(t,e,n,r){let o=t.message(e),s=lo(o),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of o.fields){
let f=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(f===void 0||f===null&&u.type!=="google.protobuf.Value")continue;let b=u.oneof===void 0?void 0:o.oneofs[u.oneof],
h=ni(t,o,u,f,r+1),C=b?b.name:u.name;c.add(C);let k=[...o.path.map(cn),Xe(b?.name??"")].join("::");a.push(Xn(`${cn(C)}: ${b?`Some(${k}::${Xe(u.name)}(${h}))`:h},`,
r+1))}let d=new Set(o.fields.map(u=>u.oneof===void 0?u.name:o.oneofs[u.oneof]?.name));if(a.length===0)return`${s}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Xn(`..${s}::default()`,r+1));let p=`${s} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${s} {
${a.join(`
`)}
${Xn("}",r)}`}function ni(t,e,n,r,o){let[s,i]=t.entry(n)?.fields??[];if(s&&i)return`HashMap::from([${Object.entries(r).map(([u,f])=>`(${s.kind===9?`${xe(u)}.to_\
owned()`:so(u)}, ${ln(t,i,f,o)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>ln(t,n,d,o)).join(", ")}]`;let a=ln(t,n,r,o),c=n.kind===11&&!Ve(n.type)&&
uo(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function uo(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(o=>o.kind===11&&!o.isRepeated&&uo(t,o.type,n,r))??!1)}function ln(t,e,n,r){if(e.kind===11){let[o]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${xe(String(n))}.parse()?`:Ve(e.type)&&o&&/Value$/.test(e.type)&&o.name===
"value"?ln(t,o,n,r):Ve(e.type)?ri(e.type,n):co(t,e.type,n,r)}if(e.kind===14){let o=t.enumeration(e.type),s=o.values.find(({name:c})=>c===n);if(!s)return String(
Number(n)|0);let i=Xe(o.path[o.path.length-1]??""),a=Xe(s.name);return`${lo(o)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...we(String(n))].join(", ")}]`:e.kind===9?`${xe(String(n))}.to_owned()`:e.kind===1||e.kind===2?mo(Number(n),e.kind===1?"f64":"f32"):so(String(n))}var it="\
frpc::prost_types::";function ri(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`));
return`${it}FieldMask { paths: vec![${n.map(r=>`${xe(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${it}Struct { fields: ${fo(e)} }`:t===
"google.protobuf.ListValue"?`${it}ListValue { values: ${po(e)} }`:zn(e)}function zn(t){if(t===null)return`${it}Value::from(${it}value::Kind::NullValue(0))`;let e=typeof t==
"string"?xe(t):typeof t=="number"?mo(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?po(t):fo(t);return`${it}Value::from(${e})`}var po=t=>`vec![${t.map(
zn).join(", ")}]`,fo=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${xe(e)}.to_owned(), ${zn(n)})`).join(", ")}])`,mo=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function yo(t){let{
schema:e,method:n,requests:r,metadata:o,timeout:s,origin:i}=t,a=dn(n.service.name.split(".").pop()??""),c=r.map(b=>ho(e,n.request,We(e,n.request,b))),d=[...s===
void 0?[]:[`timeout: ${s}`],...Object.keys(o).length===0?[]:[`metadata: { ${Object.entries(o).map(([b,h])=>`${Ge(b)}: ${typeof h=="string"?Ge(h):go(h)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${an(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${Ge(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var go=t=>`new Uint8Array([${[...t].join(", ")}])`;function ho(t,e,n){
let{fields:r,oneofs:o}=t.message(e),s=[];for(let i of r){let a=Oe(i);if(i.oneof===void 0){n[a]!==void 0&&s.push(`${an(i.name)}: ${oi(t,i,n[a])}`);continue}let c=n[rt(
i.oneof)];c?.case===a&&s.push(`${an(o[i.oneof]?.name??"")}: { case: "${an(i.name)}", value: ${Rt(t,i,c.value)} }`)}return s.length>0?`{ ${s.join(", ")} }`:"{}"}
function oi(t,e,n){let[r,o]=t.entry(e)?.fields??[];return r&&o?`new Map([${[...n].map(([s,i])=>`[${Rt(t,r,s)}, ${Rt(t,o,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(s=>Rt(t,e,s)).join(", ")}]`:Rt(t,e,n)}function Rt(t,e,n){return n instanceof Uint8Array?go(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?ho(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ge(n):String(n)}var bo=new WeakMap;function at(t,e){return bo.set(t,e),t}var Ot=t=>bo.get(t)??Q();var vo=16<<20,Yn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function Zn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function Qn(t){let e=Z(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return at({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=Yn({id:e});return at({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>Zn(o,()=>void(o.value.
trim()&&At(t,s()))),o=l("input",{type:"text",id:e,className:"number",inputMode:Gn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),s=()=>{
let i=o.value.trim();return Number.isSafeInteger(Number(i))&&!si(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!Gn(n)?Number(i):i};return at({element:o,id:e,get:()=>o.
value.trim()?ii(s()):void 0,set(i){o.value=i==null?"":String(i),r()}},0)}var si=t=>t===3||t===4||t===6||t===16||t===18,ii=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function wo(t){let e=Z(),n=l("select",{id:e},...t.values.map(({name:o,number:s,docs:i})=>l("option",{value:o,title:i},`${o} = ${s}`))),[r]=t.values;return at(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:o=>n.value=t.values.find(({name:s,number:i})=>s===o||i===o)?.name??r?.name??""},r?.name??0)}function xo(){
let t=Z(),e,n=Yn({id:t,oninput:()=>f()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),o=r.value,
s=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=i.files?.[0];if(h){if(h.size>vo){s.textContent=`${h.
name} has more than ${vo>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),s.textContent=`${h.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,b.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,s.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(n.value);if(h==="base64")return we(n.
value.replace(/\s/g,""));let C=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(C))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(C.match(/../g)??[],k=>parseInt(k,16))},p=(h,C)=>{let k=C==="text"?st(h):void 0;r.value=o=C==="text"&&k===void 0?"base64":C,n.value=r.value==="text"?k??"":r.
value==="hex"?je(h):$e(h),f()},u=()=>{try{p(d(o),r.value)}catch{o=r.value,f()}},f=()=>Zn(n,()=>void d(r.value)),b=l("div",{className:"bytes"},n,r,l("button",{type:"\
button",className:"quiet",onclick:()=>i.click()},"File…"),i,s,a);return at({element:b,id:t,get(){let h=e??d(r.value);return h.length>0?$e(h):void 0},set(h){c(),
p(typeof h=="string"?we(h):new Uint8Array,r.value)}},"")}function Ke(t,e,n){let r=Z(),o=Yn({id:r,placeholder:e,oninput:()=>Zn(o,()=>void(t==="json"&&o.value&&JSON.
parse(o.value)))}),s=n&&l("button",{type:"button",className:"quiet",onclick:()=>o.value=n.json()},n.label);return{element:l("div",{className:"free"},o,s),id:r,get:()=>o.
value.trim()?t==="json"?JSON.parse(o.value):o.value.trim():void 0,set:i=>o.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var ai=3,pn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=No(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??Q()}set(e){this.editor.set(e)}example(){this.set(Eo(this.schema,this.name,[]))}};function Eo(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),o=r.fields[0];if(Ve(e)&&o)return So(t,o,n);let s=Q(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>ai);if(!p||u||d.kind===10||a.isDeprecated)continue;let f=So(t,d,i),b=c?.fields[0];b?s[a.jsonName]=
Object.assign(Q(),{[b.kind===9?"key":b.kind===8?"true":"1"]:f}):s[a.jsonName]=a.isRepeated?[f]:f}return s}function So(t,e,n){switch(e.kind){case 11:return Eo(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:o})=>o!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function li(t,e){let n=t.entry(e),[r,o]=n?.fields??
[];return r&&o?`map<${un(r)}, ${un(o)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${un(e)}`}var ci=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],un=t=>ci[t.kind]||(t.type.split(".").pop()??"");function lt(t,e){
return e.kind===14?wo(t.enumeration(e.type)):e.kind===12?xo():e.kind!==11?Qn(e):di(t,e.type)}function di(t,e){switch(e){case"google.protobuf.Timestamp":return Ke(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Ke("text","1.5s");case"google.protobuf.Fiel\
dMask":return Ke("text","name,homeAddress.city");case"google.protobuf.Struct":return Ke("json",'{ "key": "value" }');case"google.protobuf.Value":return Ke("json",
"any JSON");case"google.protobuf.ListValue":return Ke("json","[1, 2]")}let n=Ve(e)?t.message(e).fields[0]:void 0;if(!n)return No(t,e);let r=lt(t,n);return{...r,
get:()=>r.get()??ko(n)}}var ko=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function No(t,e){let n=t.message(e),r=[],o=l("div",{className:"fields"}),s=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(s.has(i.oneof))continue;s.add(i.oneof);let c=yi(t,n,i.oneof);o.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=ui(t,i);o.append(Mo(i.name,li(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&o.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:o,get(){let i=Q();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:Q();for(let{take:c}of r)c(a)}}}
function Mo(t,e,n,r,o){let s=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},s,l("span",{className:"type"},e),o&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function ui(t,e){let n=t.entry(e);return n?mi(t,n):e.isRepeated?fi(()=>lt(t,e)):
e.isOptional||e.kind===11?pi(()=>lt(t,e),()=>e.kind===11?Q():ko(e)):lt(t,e)}function pi(t,e){let n=Z(),r,o=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
o.checked)}),s=l("div",{className:"inside"}),i=l("div",{className:"presence"},o,s),a=c=>{o.checked=c,c?M(s,(r??=t()).element):M(s,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>o.checked?r?.get()??e():void 0,set(c){a(c!=null),o.checked&&r?.set(c)}}}var To=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function fi(t){let e=[],n=l("div",{className:"items"}),r=s=>{let i=t();s!==void 0&&i.set(s),e.push(i);
let a=l("div",{className:"item"},i.element,To(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},o=l("button",{type:"button",className:"quiet",onclick:()=>$o(
r().element)},"Add");return{element:l("div",{className:"list"},n,o),get:()=>e.length>0?e.map(s=>s.get()??Ot(s)):void 0,set(s){e=[],M(n);for(let i of Array.isArray(
s)?s:[])r(i)}}}var $o=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function mi(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is no entry of a map`);let o=[],s=l("div",{className:"items"}),i=(c,d)=>{let p={key:Qn({...n,kind:n.kind===8?9:n.kind}),value:lt(t,
r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),o.push(p);let u=l("div",
{className:"item"},p.key.element,p.value.element,To(()=>{o=o.filter(f=>f!==p),u.remove()}));return s.append(u),p.key},a=l("button",{type:"button",className:"qui\
et",onclick:()=>$o(i().element)},"Add");return{element:l("div",{className:"list"},s,a),get(){if(o.length===0)return;let c=Q();for(let{key:d,value:p}of o)c[String(
d.get()??Ot(d))]=p.get()??Ot(p);return c},set(c){if(o=[],M(s),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function yi(t,e,n){let r=e.
fields.filter(f=>f.oneof===n),o=Z(),s=l("div",{className:"inside"}),i=new Map,a=l("select",{id:o,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(f=>l("option",{value:f.jsonName},`${f.name}: ${un(f)}`))),c=f=>{a.value=f;let b=r.find(C=>C.jsonName===f);if(!b)return void M(s);let h=i.get(f)??lt(t,b);return i.
set(f,h),h.id&&document.getElementById(h.id)?.setAttribute("aria-label",b.name),M(s,h.element,b.docs&&l("p",{className:"docs"},b.docs)),h},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,s),id:o,get:()=>{},set(){}};return{element:Mo(d,"oneof",p,u,!1),get(){let f=i.get(a.value);return a.
value&&f?Object.assign(Q(),{[a.value]:f.get()??Ot(f)}):Q()},set(f){let b=f,h=r.find(C=>(b[C.jsonName]??b[C.name])!==void 0);c(h?.jsonName??"")?.set(h&&(b[h.jsonName]??
b[h.name]))}}}var ct=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",o=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),s=r.trim().toLowerCase();s&&(e[s]=s.endsWith("-bin")?we(o,s):o)}return e}set(e){M(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:$e(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),o=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),s=l("div",{className:"item"},r,o,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{s.remove(),this.changed()}},"×"));return this.rows.append(s),r}},er=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:$e(n))]));var tr=1e5,gi=90;function Ao(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),o=l("ol",{className:"log","aria-label":"Messages"}),{method:s}=e,
i=s.sends||s.receives;i||o.classList.add("one");let a=0;return M(t,n,r,o),()=>{M(n,...hi(e)),M(r,e.isOver&&e.status&&bi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),er(e.metadata)));let c=o.scrollHeight-o.scrollTop-o.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;o.childElementCount>0&&o.childElementCount+p>e.messages.length;)o.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&o.append(
wi(u,i));a=e.dropped+e.messages.length,c&&(o.scrollTop=o.scrollHeight)}}function hi(t){let{sent:e,received:n,method:r}=t,s=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},s)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${nn(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},le(t.took),s&&`, ${s}`)]}function bi({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},st(e)??je(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&er(t.metadata))}function vi(t){let e=t.replace(/\n\s*/g," ");return e.length<=gi?e:t}function wi(t,e){let n=e?vi(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Dt(n.slice(0,tr)),n.length>tr&&`
… ${n.length-tr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${le(t.at)}`),l("span",{className:"grow"}),Ze(()=>n)),r)}var xi=500,Si=16<<20,fn=class{constructor(e,n,r,o,s){this.catalog=n;this.method=r;this.terms=o;this.changed=s;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new nr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:o,method:s}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(o,s,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(o,s,a,i))}}catch(o){this.status=U.from(o)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Ct(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>xi||this.chars>Si&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},nr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Ei=["Form","JSON","Copy as"],Co={curl:ro,frpc:oo,Rust:ao,TypeScript:yo};function rr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var mn=class{constructor(e,n,r,o){this.server=e;this.catalog=n;this.method=
r;this.records=o;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new ct(()=>this.
note(""));this.timeout=l("input",{type:"text",id:Z(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Sn(Ei,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let s="";try{r.callable(),this.form=new pn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){s=i.message}this.element=l("article",{className:"method"},this.header(),s?l("p",{className:"notice"},`\
This method cannot be called here: ${s}.`):l("div",{className:"panes"},this.request(),this.output)),s||(this.tabs.select("Form"),this.act(),M(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=We(
this.catalog.schema,this.method.request,Fe(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Fe(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=rr(e),r=o=>l("span",{className:"tag"},o);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,o)=>l("button",{type:"button",className:"quiet",onclick:o},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Fe(this.json.value))}),this.tab=e,e==="Form"?M(this.body,this.form?.element):e==="JSON"?M(this.body,this.json):this.attempt(()=>M(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Fe(a.json)),o=n.sends&&r&&r.
length>0?r:[Fe(this.formText())],s={schema:this.catalog.schema,method:n,requests:o,origin:location.origin,...this.terms()},i=Sn(Object.keys(Co),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Co[this.command](s))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),Ze(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new fn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Ao(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Te(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,o=c=>l("kbd",{},c),s=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===s)return;this.actions.dataset.state=s;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",o("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",o("Ctrl ↵"));M(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",o("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",o("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var ki={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Ni=O("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Mi=O("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),Ti=O("frpc.introspection.v1.CloseCount","kind:s count:w"),$i=O("frpc.introspection.v1.CodeCount","code:i count:\
w"),or=O("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[ki]),Ai=O("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Ni,Pi,or,Fi]),Ci=O("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),Ii=O("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[or]),Ri=O("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),Oi=O("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[$i]),Fi=O("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Li=O("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Oi]),Io=O("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[Ti,Mi,qi,Li]),Ui=O("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[or,Io]),Di=O("frpc.introspection.v1.ServersReply","servers:*m",()=>[Io]),Bi=O("frpc.introspe\
ction.v1.ServersRequest",""),Pi=O("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),_i=O("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[Ui]),Hi=O("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),qi=O("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),yn=qe("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Bi,reply:Di,idempotent:!0},connections:{
operation:65031,request:Ri,reply:Ii,idempotent:!0},connection:{operation:65032,request:Ci,reply:Ai,idempotent:!0},watch:{operation:65033,request:Hi,reply:_i,receives:!0,
idempotent:!0}});var ut=12e4,sr=2e3,[Le,Ue,De,pt]=[480,120,44,16];function ir(t){let e=fe("svg",{viewBox:`0 0 ${Le} ${Ue}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let o=fe("text",{x:De+(Le-De)*n,y:Ue-3,"text-anchor":n===0?"start":n===1?"end":"middle"});o.textContent=r,e.append(o)}return e}
function ar(t,e,n){let r=fe("text",{x:De-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(fe("line",{x1:De,x2:Le,y1:e,y2:e,class:"grid"}),r)}var dt=Ue-pt-
8;function Ro(t,e){let n=ir("Calls and errors in the last two minutes"),r=ut/sr,o=Array.from({length:r},()=>({ok:0,failed:0})),s=Math.floor(e/sr);for(let{beganAt:c,
took:d,code:p}of t){let u=o[r-1-(s-Math.floor((c+d)/sr))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...o.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])ar(
n,Ue-pt-dt*c,String(Math.round(i*c)));let a=(Le-De)/r;return o.forEach(({ok:c,failed:d},p)=>{let u=(f,b,h)=>{b>0&&n.append(fe("rect",{x:De+p*a+.75,width:a-1.5,y:Ue-
pt-(f+b)/i*dt,height:b/i*dt,class:h}))};u(0,d,"failed"),u(d,c,"ok")}),n}function ft(t,e){return[...t.filter(({at:n})=>e.at-n<ut),e]}var Oo=(t,e,n,r)=>e.map((o,s)=>fe(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[s]??0).toFixed(1)}`).join(" "),class:o})),Fo=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function gn(t,e,n,r,o,s){let i=ir(`${t}, in the last two minutes`),a=Fo(e,o),c=d=>Ue-pt-d/a*dt;for(let d of[0,.5,1])ar(i,c(a*d),s(a*d));return i.append(...Oo(e,
n,d=>Le-(Le-De)*(r-d)/ut,c)),i}function lr(t,e,n,r){let o=Fo(e,1e-9),s=fe("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return s.append(
...Oo(e,n,i=>120-120*(r-i)/ut,i=>19-i/o*18)),s}function Lo(t,e){let n=ir("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<ut),o=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),s=Math.floor(Math.min(0,...o)),i=Math.ceil(Math.max(2,...o));for(let a=s;a<=i;a++)ar(n,Ue-pt-dt*(a-s)/(i-s),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Le-(Le-De)*(e-a-c)/ut,f=Ue-pt-dt*((o[p]??0)-s)/(i-s);n.append(fe("circle",{cx:u,
cy:f,r:2.5,class:d===0?"ok":"failed"}))}),n}function Uo(t){let e=t.slice(-40),n=fe("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:o})=>o));return e.forEach(({took:o,code:s},i)=>{let a=Math.max(1.5,o/r*20);n.append(fe("rect",{x:i*3,width:2,y:20-a,height:a,class:s===0?"ok":"f\
ailed"}))}),n}var Do=1e3,Ji=256,Vi=50,hn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===yn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:o}=e;try{let s=n.serverStreaming(yn,yn.methods.watch,{intervalMs:Do,connections:Ji},{signal:o,metadata:r});for await(let{servers:i}of s)
M(this.content,...i.map(a=>this.draw(a)))}catch(s){o.aborted||M(this.content,l("p",{className:"problem"},s.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Do)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),o=this.before.get(e.name),s=new Map(e.methods.map(u=>[u.name,ji(u,o?.methods.
get(u.name),r,o?.at)])),i=u=>cr([...s.values()].map(({rates:f})=>f.at(-1)?.values[u]??0)),a=cr(n.map(u=>Number(u.streams))),c=cr(n.map(u=>Number(u.queued))),d={
at:r,methods:s,rates:o?ft(o.rates,{at:r,values:[i(0),i(1)]}):[],open:ft(o?.open??[],{at:r,values:[Number(e.open),a]}),bytes:ft(o?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Gi(e),l("div",{className:"plots"},
ur(["Calls of all clients in a second, ",Wi("errors")," below"],gn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Bo)),ur(["\
Connections, and ",Po("streams"),p],gn("Connections and streams",d.open,["curve","curve second"],r,4,Bo)),ur(["Bytes that wait to be written",p,", and ",Po("hel\
d for clients")],gn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Ft(BigInt(Math.round(u)))))),this.table(e,s,r),_o(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Vi).map(Xi)))}table({methods:e},n,r){let o=e.flatMap(({name:s,figures:i})=>{let a=n.
get(s);return a&&a.calls>0n?[{name:s,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return o.sort((s,i)=>i.rate-s.rate||Number(i.calls-s.calls)),_o(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],o.map(({name:s,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
s,a.toFixed(a<10?1:0),c,d,dr(i?.p50Ns),dr(i?.p99Ns),dr(i?.maxNs),lr(`Calls and errors of ${s}, in the last two minutes`,p,["curve","curve failed"],r),lr(`Averag\
e latencies of ${s}, in the last two minutes`,u,["curve"],r)]))}},cr=t=>t.reduce((e,n)=>e+n,0),Bo=t=>String(Math.round(t)),dr=(t=0n)=>le(Number(t)/1e6),Wi=t=>l(
"span",{className:"failed"},t),Po=t=>l("span",{className:"second"},t),ur=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function ji({figures:t},e,n,r=n){let o=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),s=(t?.ok??0n)+o,i=t?.sumNs??0n;if(!e||s<e.calls||n<=r)return{calls:s,failed:o,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(s-e.calls);return{calls:s,failed:o,spent:i,rates:ft(e.rates,{at:n,values:[c/a,Number(o-e.failed)/a]}),times:c>0?ft(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function Gi({name:t,open:e,opened:n,shed:r,memoryHeld:o,memoryMax:s,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Ft(o)} of at most ${Ft(s)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Xi=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:o,
queued:s,memory:i})=>[t||"unknown",le(Number(e)),n,n>0n?le(Number(r)):"",o,Ft(s),Ft(i)];function _o(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,o)=>l("td",{className:o>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function Ft(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var Ki=1e3,bn=class{constructor(e,n,r,o,s){this.server=e;this.records=n;this.catalog=r;this.open=o;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new hn(e,r);let i=new ct(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:s},"Reload the schema"))),setInterval(()=>this.draw(),Ki)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:o}=this,s=this.catalog(),i=s?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${Qe(r.since)}`:n],["connections made",String(r.connections)],["sent",Ho(r.sent)],["received",Ho(
r.received)],["services",s?`${s.services.length}, with ${i} methods`:"unknown"]];M(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();M(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Ro(o.all,c)),l("figure",{},l(
"figcaption",{},"Latency of each call; of a stream, its duration"),Lo(o.all,c)));let d=o.all.length===0?0:(o.all[o.all.length-1]?.beganAt??0)+o.all.length;d!==this.
drawnOf&&(this.drawnOf=d,M(this.methods,o.all.length>0&&this.table()),M(this.history,rn(o.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:o,p50:s,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:o>0?"count failed":"count"},String(o)),e(le(s)),e(le(i)),e(le(a)),l("td",{},Uo(c)))})))}};function Ho(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var qo=500,Jo=2e4,vn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:Z()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:Z(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:Z(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),o=l("textarea",{id:Z(),rows:3,spellcheck:!1}),s=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for all \
that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),o.value,s.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:o.id},"Payload"),o,s,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>M(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new nt(e.schema)},M(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let o of n)
this.arrived(o)}catch(o){this.problem.textContent=`${e}: ${o.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let o=n;r==="base64"?o=we(n.replace(/\s/g,"")):r==="hex"?o=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],s=>parseInt(s,16)):r!=="text"&&this.schema&&
(o=$n(this.schema.tables.of(r),We(this.schema.catalog.schema,r,Fe(n)))),await this.server.topics.publish(e,o)}arrived(e){this.waiting.push(e),this.waiting.length>
qo&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:o}of this.waiting){o>0&&this.log.append(l("li",{className:"muted"},`${o} messages were lost here, since thi\
s page did not take them in time`));let s=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${Qe(Date.now())}`),l("span",{className:"grow"}),Ze(()=>s)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
s)?Dt(s):s)))}for(this.waiting=[];this.log.childElementCount>qo;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Ct(this.schema.catalog.schema,n,An(this.schema.tables.of(n),e)),void 0,
2)}catch(o){return`not a valid ${n}: ${o.message}
${je(e.subarray(0,Jo))}`}let r=e.subarray(0,Jo);return(n==="hex"?void 0:st(r))??je(r)}};var zi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Vo,pr,Wo,Lt,mr]=[he("services"),he("main"),he("state"),he("filter"),he("keys")],Ce=new tn(`${location.origin.replace(/^http/,"w\
s")}/`,()=>Yi()),xn=new Bt,wn=new Map,Go=new vn(Ce),Ie,Ut="",jo=!1,Re,fr=0,yr=new bn(Ce,xn,()=>Ie,t=>zo(t),()=>void Xo(!0));async function Xo(t){let e=++fr,n=t?
void 0:Ie;try{let r=await Ce.catalog(n);if(e!==fr)return;if(Ut="",r){Ie=r;for(let[o,s]of wn)s.isBusy||wn.delete(o);Go.know(r)}}catch(r){if(e!==fr)return;Ut=r.message}
gr(),hr(),jo=await Ce.hasBroker(),he("to-topics").hidden=!jo}function Yi(){Wo.textContent=Ce.wire==="open"?"connected":Ce.wire==="lost"?"connection lost":"conne\
cting",Wo.className=`state ${Ce.wire}`,Ce.wire==="open"&&setTimeout(()=>void Xo(!1))}function gr(){let t=Lt.value.trim().toLowerCase().split(/\s+/),e=s=>t.every(
i=>Te(s).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Ie?.services??[]).map(s=>({service:s,methods:s.methods.filter(e)})).filter(({
methods:s})=>s.length>0),o=s=>/^(frpc|grpc)\./.test(s);r.sort((s,i)=>Number(o(s.service.name))-Number(o(i.service.name))),M(Vo,...r.map(({service:s,methods:i})=>l(
"details",{open:!o(s.name)||Lt.value!==""||n.startsWith(`${s.name}/`)},l("summary",{title:s.docs},l("span",{},s.name.includes(".")&&l("span",{className:"of"},s.
name.slice(0,s.name.lastIndexOf("."))),s.name.slice(s.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Te(c),p=rr(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&M(Vo,l("p",{className:"empty"},Ie?"No method has this name.":Ut?"No services.":"Loading the services…"))}
function hr(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Re=void 0;let e=Ie?.services.flatMap(n=>n.methods).find(n=>Te(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")M(pr,Go.element);else if(e&&Ie)Re=wn.get(t)??new mn(Ce,Ie,
e,xn),wn.set(t,Re),M(pr,Re.element,Qi(t));else{let n=t&&Ie?`The server shows no method ${t}.`:"";M(pr,Ut&&Zi(),n&&l("p",{className:"notice"},n),yr.element),yr.draw()}}
function Zi(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Ut}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Qi(t){let e=l("\
div",{}),n=()=>M(e,rn(xn.all.filter(r=>r.path===t),zo,!0));return n(),Ko=n,l("section",{className:"past"},l("h2",{},"History"),e)}var Ko=()=>{};xn.listen(()=>{Ko(),
yr.draw()});function zo(t){location.hash===`#/${encodeURI(t.path)}`?Re?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Re?.
restore(t),{once:!0}))}function ea(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Re?.end():Re?.send();else if(t.key==="Escape"&&!mr.open){if(!Re?.cancel())return}else if(t.key==="/"&&!n)Lt.focus();else if(t.key===
"?"&&!n)mr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ea(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",hr);Lt.addEventListener("input",gr);he("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Lt.focus()});he("help").addEventListener("click",()=>mr.showModal());M(he("key-list"),...zi.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));gr();hr();})();
