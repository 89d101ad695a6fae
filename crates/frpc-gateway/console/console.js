"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[o,s]of Object.entries(e))s!==void 0&&(o.startsWith("on")?r.addEventListener(o.slice(2),s):o.includes(
"-")||o==="role"||o==="list"?r.setAttribute(o,String(s)):r[o]=s);return Sr(r,...n),r}function Sr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function M(t,...e){t.replaceChildren(),Sr(t,...e)}function fe(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
o,s]of Object.entries(e))r.setAttribute(o,String(s));return r.append(...n),r}function he(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var Qo=0,Z=()=>`e${++Qo}`;function kn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>o(i)},i)),o=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:o}}function Qe(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Bt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let o of t.matchAll(n)){let[s,i,a]=o;
e.append(t.slice(r,o.index)),r=o.index+s.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??s),a??"")}return e.
append(t.slice(r)),e}var Pt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let o=this.all.filter(a=>a.path===
e),s=o.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>s[Math.min(s.length-1,Math.floor(s.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:o}})}};
function ce(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var et=t=>new Date(t).toTimeString().slice(0,
8);var es=new TextEncoder,ts=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Er=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
q=t=>{throw new Se(t)},V=t=>({bytes:t,at:0,depth:0,memory:0}),gt=(t=64)=>V(new Uint8Array(t)),be=t=>es.encode(t);function _t(t,e){let{bytes:n,at:r}=t;r+e>n.length&&
(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function U(t,e){t.at===t.bytes.length&&_t(t,1),t.bytes[t.at++]=e}function kr(t,e){
U(t,e>>8),U(t,e)}function B(t,e){for(;e>127;e=Math.floor(e/128))U(t,e|128);U(t,e)}function de(t,e){_t(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function Be(t,e){
B(t,e.length),de(t,e)}function Ee(t,e){let{at:n}=t,{length:r}=e,o=r>Er?128:0;U(t,r);for(let s=0;s<r&&o<128;s++)U(t,o=e.charCodeAt(s));o>127&&(t.at=n,Be(t,be(e)))}
function me(t,e,n){U(t,e);let{at:r}=t;n();let o=t.bytes.slice(r,t.at);return t.at=r,Be(t,o),o.length>0}var ht=({bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.
length-e,Pe=({bytes:t,at:e})=>t[e],G=t=>t.bytes[t.at++]??q("it is cut off");function ke(t,e){let n=G(t);n!==e&&q(`${n} stands in the place of ${e}`)}function O(t,e=5){
let n=0;for(let r=1;e-- >0;r*=128){let o=G(t);if(o<128)return n+o*r;n+=(o-128)*r}return q("a number is too long")}function ue(t,e=O(t)){return e>J(t)&&q("it is \
cut off"),t.bytes.subarray(t.at,t.at+=e)}var _e=({bytes:t,at:e})=>t.slice(e);function z(t,e=O(t)){let{bytes:n,at:r}=t,o="",s=0;if(e<=Er)for(let i;s<e&&(i=n[r+s])<
128;s++)o+=String.fromCharCode(i);if(s<e){let i=ue(t,e);try{return ts.decode(i)}catch{q("a text is not UTF-8")}}return t.at+=e,o}var Ht=ns();var D=class t extends Error{constructor(n,r,o){super(r,o);this.name="Status";let{details:s=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=o??{};Object.assign(this,
{details:s,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,qt(n),{cause:n})}};function ns(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var qt=t=>t instanceof Error?t.message:String(t),oe=(t,e)=>new D(t,e,{mayHaveRun:!1}),
Jt=t=>t>0&&t<=16?t:2,bt=(t,e,n)=>new D(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),Vt=t=>bt(1,"the caller gave the call up",t),Nr=(t,e="")=>bt(4,`no answer before th\
e deadline${e}`,t);var Gt=100,rs=64<<20,os=12,Tn=8,$n=56,Nn=new Uint8Array(8),Mr=new DataView(Nn.buffer);function R(t,e,n){let r;return{name:t,fields:()=>r??=ss(e,n?.()??[])}}function An(t,e){
let n=gt(256);return St(n,t,e),ht(n)}var Cn=(t,e)=>Et(V(e),t,0);function St(t,e,n){t.depth=Gt,Cr(t,e,n)}function Et(t,e,n){return t.depth=Gt,t.memory=Math.max(rs,
J(t)*os),Ir(t,e,n)??Rr(t,e)}function ss(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(o=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(o);
if(!s)throw new Error(`invalid table entry: ${o}`);let[,i,a,c,d,p]=s,u=p==="m"?ls(e[r++]):p==="e"?cs(e[r++]):$r[p],f=$r[d[1]??""],v=f?[2,f.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,h=a?n.get(a):void 0;a&&!h&&n.set(a,h=[]);let A={name:a??i,of:u,isOptional:d==="?",key:f,head:v,case:i,number:+c,all:h};return h?.push(A),
A})}var xt=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Cr(t,e,n){if(!t.depth--)throw Ar(e.name,`nests deeper than ${Gt}`);U(t,
8),U(t,0);let r="";try{for(let o of e.fields()){let{all:s,name:i}=o,a=n[r=i];if(!s)is(t,o,a);else if(t.isFlat||o===s[0]){let c=a,d=s.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(U(t,3),B(t,d?d.number:0));let p=t.isFlat?o:d;p&&vt(t,p.of,p===d?c?.value:void 0)}}}catch(o){throw o instanceof
D?o:Ar(`${e.name}.${r}`,o.message)}t.depth++}function is(t,e,n){let{head:r,key:o,of:s}=e;if(n===void 0&&(r||e.isOptional)&&(n=xt(e)),r){let i=n,a=n;for(let c of r)
U(t,c);if(B(t,o?i.size:a.length),o)for(let[c,d]of i)vt(t,o,c),vt(t,s,d);else for(let c of a)vt(t,s,c)}else n===void 0&&e.isOptional&&!t.isFlat?U(t,0):vt(t,s,n)}
function vt(t,e,n){e.table||U(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Ir(t,e,n){if(Pe(t)===0)return void t.at++;ke(t,8),G(t),t.depth--||q(`${e.name} n\
ests deeper than ${Gt}`);let r=e.fields();In(t,$n+Tn*r.length);let o={},s="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(o[a]=void 0),n>0&&!J(
t))n--,c||(o[a]=xt(i));else if(!c)o[a]=as(t,i);else if(p&&Pe(t)===3){t.at++,s+=` ${a} `;let u=O(t),f=c.find(v=>v.number===u);f?o[a]={case:f.case,value:Mn(t,f.of)}:
u&&q(`${e.name}.${a} has no member ${u}`)}else if(!s.includes(` ${a} `)){let u=jt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(o[a]={case:i.
case,value:u})}}return t.depth++,o}function as(t,e){let{head:n,key:r,of:o}=e;if((r||e.isOptional)&&Pe(t)===0)return t.at++,xt(e);if(!n)return jt(t,o);for(let a of n)
ke(t,a);let s=O(t),i=xt(e);for(;s-- >0;)In(t,r?$n:Tn),r?i.set(jt(t,r),Mn(t,o)):i.push(Mn(t,o));return i}function jt(t,{wire:e,table:n,take:r}){return n||ke(t,e),
r(t)}var Mn=(t,e)=>jt(t,e)??Rr(t,e.table);function Rr(t,e){let n={},r=e.fields();In(t,$n+Tn*r.length);for(let o of r)n[o.name]=o.all?void 0:xt(o);return n}function In(t,e){
(t.memory-=e)<0&&q("it takes too much memory")}var Ne=(t,e,n,r,o)=>({wire:t,zero:e,put:n,take:r,table:o}),ls=t=>Ne(3,()=>{},(e,n)=>n?Cr(e,t,n):U(e,0),e=>Ir(e,t,
0),t);function cs(t){let e=Object.values(t);return Ne(10,()=>e[0],(n,r)=>{let o=e.indexOf(r),s=r+2147483648;wt(o>=0||r===(r|0)&&r<0&&s>=e.length,r),B(n,o<0?s:o)},
n=>{let r=O(n)>>>0,o=r-2147483648;return r>=e.length&&(o>=0||e.includes(o))&&q(`an enum has the index ${r}`),e[r]??o})}var Wt=(t,e)=>Ne(t?13:11,()=>e?0:0n,(n,r)=>{
let o=BigInt(r),s=Number(o),i=t?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(i)&&i>=0)return B(n,i);wt((t?BigInt.asIntN:BigInt.asUintN)(64,o)===o,r);let a=t?o<<1n^o>>
63n:o;for(;a>>53n;a>>=7n)U(n,Number(a&127n)|128);B(n,Number(a))},n=>{let{at:r}=n,o=O(n,10);if(o<=Number.MAX_SAFE_INTEGER)t&&(o=o%2?(o+1)/-2:o/2);else{let s=0n;for(let i=0n;r<
n.at;i+=7n)s|=BigInt(n.bytes[r++]&127)<<i;s=BigInt.asUintN(64,s),o=t?s>>1n^-(s&1n):s}return e?(Number.isSafeInteger(Number(o))||q("an integer is beyond 2^53"),Number(
o)):BigInt(o)}),Tr=(t,e)=>Ne(t,()=>0,(n,r)=>{Mr[e>4?"setFloat64":"setFloat32"](0,r);for(let o=0;o<e;o++)U(n,Nn[o])},n=>{for(let r=0;r<e;r++)Nn[r]=G(n);return Mr[e>
4?"getFloat64":"getFloat32"](0)}),$r={b:Ne(7,()=>!1,(t,e)=>U(t,+e),t=>{let e=G(t);return e>1&&q(`a bool is ${e}`),e>0}),i:Ne(12,()=>0,(t,e)=>{wt(e===(e|0),e),B(
t,(e<<1^e>>31)>>>0)},t=>{let e=O(t);return e>>>1^-(e&1)}),u:Ne(10,()=>0,(t,e)=>{wt(e===e>>>0,e),B(t,e)},t=>O(t)>>>0),l:Wt(!0,!1),w:Wt(!1,!1),L:Wt(!0,!0),W:Wt(!1,
!0),f:Tr(14,4),d:Tr(15,8),s:Ne(5,()=>"",(t,e)=>{wt(typeof e=="string",e),U(t,10),Ee(t,e)},t=>(ke(t,10),z(t))),y:Ne(4,()=>new Uint8Array,(t,e)=>{U(t,10),Be(t,e)},
t=>(ke(t,10),ue(t).slice()))},Ar=(t,e)=>oe(3,`${t} ${e}`);function wt(t,e){if(!t)throw new Error(`cannot be ${String(e)}`)}var On=16,Or=65536,Fr=256,ds=61440,us={metadata:{}},Rn=t=>t.endsWith("-bin"),Lr=(t,e)=>Rn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${Rn(
t)?"":e}`),Fn=t=>typeof t=="string"?be(t):t;function Ln(t,{isBackward:e,timeout:n,metadata:r={},status:o}){let{at:s}=t;me(t,On,()=>{e&&me(t,4,()=>{}),n!==void 0&&
me(t,1,()=>B(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Lr(c,d))throw oe(3,`metada\
ta breaks the rules: ${c}`);if(a+=c.length+d.length+8,p>=Fr||a>ds)throw oe(8,"too much metadata");me(t,2,()=>{Ee(t,c),de(t,Fn(d))})}),o){let{code:c,details:d,mayHaveRun:p}=o;
me(t,3,()=>{B(t,c),t.at-s+d.length+32<=Or&&de(t,d)}),p||me(t,5,()=>{})}})||(t.at=s)}function Xt(t){if(Pe(t)!==On)return us;t.at++;let e=V(ue(t));J(e)>Or&&q("a p\
refix is too long");let n=Object.create(null),r={metadata:n},o=0;for(;J(e);){let s=G(e),i=V(ue(e));if(s===1)r.timeout=O(i,10)/1e3;else if(s===2){let a=z(i),c=Rn(
a)?_e(i):z(i,J(i));(!Lr(a,c)||a in n||++o>Fr)&&q("metadata breaks the rules"),n[a]=c}else s===3?(r.code=Jt(O(i,10)),r.details=_e(i)):s===5&&(r.isRefused=!0)}return r}
function Ur(t){let e=1;for(;t[e]>127;)e++;return t[0]===On&&t[e+1]===4&&t[e+2]===0}function Kt(t,{metadata:e,code:n,details:r,isRefused:o}){if(Pe(t)===6)return t.
at++,ke(t,5),ke(t,10),new D(n??2,z(t),{metadata:e,mayHaveRun:!o,...r&&{details:r}})}function Dr(t,e,n){Ln(t,{isBackward:n,status:e,metadata:e.metadata}),de(t,[6,
5,10]),Ee(t,e.message)}var He=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:o})=>o)});function Br(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw oe(9,`incompatib\
le layouts of ${t.name}`);return 1}var Pr=({added:t=[0,0]},e,n)=>e*t[n];function Un(t,e){let n=o=>o.match(/../g)?.forEach(s=>U(t,parseInt(s,16)));Ee(t,e.name),n(
e.fingerprint),B(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let o of[...e.operations].sort((s,i)=>s-i))B(t,o-r),r=o}function _r(t){let e=()=>{let r="";
for(;r.length<16;)r+=G(t).toString(16).padStart(2,"0");return r},n={service:z(t),fingerprint:e(),compatible:[],operations:[]};for(let r=O(t);r>0;r--)n.compatible.
push(e());for(let r=0;J(t);)n.operations.push(r+=O(t));return n}var Dn=5<<20,fs=1024,ms=65536,nt=10,qe=16384,ys=qe/2,gs=256,zt=262144,hs=1e5,bs=64<<20,vs=65536,ws=2e3,xs=5,Ss=1e4,Hr="the server is going away",Es=2147483647,Yt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),Es));function qr(t,e,n,r,o){let s=gt(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,f=0,v=0,h=0,A=32767,k=[0,Dn,1/0,qe,0],$=!1,se=!1,
ee,te=nt,X=0,ne=!1,W=0,K=!1,j=!1,re=0,ie,ae=m=>{if(!($||!ze))try{m(ze)}catch(x){H(qt(x));try{ze.close()}catch{}}},y=()=>{s.at&&(K=!1,j=!0,ae(m=>m.send(ht(s))),s.
at=W=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),ae(m=>{m.buffered()>bs&&I("too many unsent bytes")}))},g=()=>{s.at!==W?(W=s.at,queueMicrotask(g)):(ne=
!1,y())},b=(m,x,E,P)=>{let{at:Ye}=s;try{_t(s,nt),s.at+=nt,E?.(s,P);let pe=s.at,Ze=pe-Ye-nt,xr=Math.max(k[1],fs);if(Ze>xr)throw oe(8,`the message has ${Ze} bytes\
 of at most ${xr}`);s.at=Ye;for(let Zo of[15,m,x,Ze>>>16,Ze])kr(s,Zo);s.at=pe}catch(pe){throw s.at=Ye,pe}s.at>vs?y():ne||(ne=!0,W=0,queueMicrotask(g))},w=(m,{code:x,
message:E})=>b(m,7,P=>{B(P,x),de(P,be(E.slice(0,256)))}),S=(m,x)=>{b(m,5,B,0),w(m,x)},C=m=>{if(!$){if(re=0,ee){if(de(ee,m),ee.at<te)return;m=ht(ee),ee=void 0}try{
let x=0,E=P=>m[x+P]<<8|m[x+P+1];for(;!$&&!(m.length<(te=x+nt));x=te){E(0)!==15&&q("a header without its magic");let P=E(6)*65536+E(8);if(P>Dn&&q(`a packet of ${P}\
 bytes`),m.length<(te+=P))break;Y(E(2),E(4),m.subarray(x+nt,te))}x<m.length&&(te-=x,de(ee=gt(),m.subarray(x)))}catch(x){I(`the server broke the protocol: ${x.message}`)}}},
Y=(m,x,E)=>{let P=V(E),Ye=i.get(m);if(x>=10)if(F.isUp||q("a packet before HELLO"),Ur(E)){if(le)return le.packet(m,x,E,!1)}else{let pe=d[m%qe];if(pe?.id===m&&pe.
operation===x)return ge(m),e.answered(),pe.isGivenUp?u--:e.replied(pe,E),N();if(o.filter(Ze=>Ze.packet(F,m,x,E)).length)return}else if(x<2){E.length&&q("a PING \
with a body"),x===1?F.isUp||I("the server is a compat peer"):K||(K=!0,b(0,1));return}else{if(x===3&&!F.isUp)return ye(P);if(x===4)return L();if(x===6)return le?.
cancel(m,O(P));if(x===8)q("a stray hand-off");else{if(Ye&&x!==3&&x<8)return e.answered(),Ye.packet(x,E);if(x===2){let pe=m-A&32767;if(m>=32768&&pe&&pe<=16384)return A=
m,le?le.packet(m,2,E,!0):S(m,oe(12,"this end serves nothing"))}}}++X>hs&&I("too many stray packets")},ye=m=>{for((J(m)>ms||z(m,4)!=="fris"||!G(m))&&q("no HELLO");J(
m);){let x=G(m),E=V(ue(m));if(x in k)k[x]=O(E);else if(x===32||x===33)try{let P=_r(E);(x===32?a:c).set(P.service,P)}catch{}}k[3]=Math.min(k[3],qe),F.isUp=!0,clearTimeout(
Ke),e.room(F)},ge=m=>{d[m%qe]=void 0,p--===k[3]&&e.room(F)},T=(m,x,E)=>{i.set(x,m),m.begin(F,x,k[4],E)},N=()=>{se&&p===u&&!i.size&&!le?.progress.size&&queueMicrotask(
()=>I(Hr))},L=()=>{se||(se=!0,e.left(F,Hr),N())},I=m=>{$||(y(),ae(x=>x.close()),H(m))},H=m=>{if($)return;$=!0,clearInterval(ie),clearTimeout(Ke),e.left(F,m),F.isUp=
!1;let x=new D(14,`the connection was lost: ${m}`);for(let E of d)E&&!E.isGivenUp&&e.lost(E,x);for(let E of i.values())E.lost(x);le?.down(x);for(let E of o)E.down(
F,x)},F={isUp:!1,write:b,reset:w,refuse:S,fits(m){let x=a.get(m.name);if(x)return x.fingerprint===m.fingerprint||n.includes(m)?Br(m,x):void 0;for(let E of a.values())
if(E.operations.some(P=>m.operations.includes(P)))throw oe(12,`the server has ${E.service} in the place of ${m.name}`);return 0},call(m,x){if(p>=k[3])return!1;do
f=f+1&65535;while(d[f%qe]);let E=m.id=f;d[E%qe]=m,p++;try{b(E,m.operation,x,m)}catch(P){throw ge(E),P}return!0},cancel(m){$||(m.isGivenUp=!0,b(m.id,6,B,m.operation),
++u>=ys&&L(),N())},open(m,x,E){if(!k[2])throw oe(12,"the server does not accept streams");if(v>=Math.min(k[2],28672))return!1;do h=h%32767+1;while(i.has(h));return v++,
T(m,h,x),b(h,2,E),!0},accept:T,over(m){i.delete(m),m<32768&&(v--,e.room(F)),N()},leave:L,closeIfIdle:N},le=r?.on(F,c),Ke=Yt(Ss,()=>I("no HELLO in time")),yt=()=>{
s.isFlat=ze?.isFlat,b(0,3,m=>{de(m,be("fris"));let x=le?gs:0;[Dn,x,x,zt].forEach((E,P)=>me(m,P+1,()=>B(m,E)));for(let E of r?.services??[])me(m,32,()=>Un(m,E));
for(let E of n)me(m,33,()=>Un(m,E))}),b(1,0),y(),ie=setInterval(()=>{if(++re>xs)return I("the server is silent");(re>1||!j)&&b(0,0),j=!1;let m=performance.now();
for(let x of d)x&&x.until<=m&&!x.isGivenUp&&e.look(x)},ws)},ze,vr=m=>ze?m():queueMicrotask(m),wr=m=>vr(()=>H(m));try{ze=t({open:()=>vr(yt),data:C,close:wr})}catch(m){
wr(qt(m))}return F}function Zt(t,e){let n=[],r=!1,o=()=>{},s=c=>{r||=c,o()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>o=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,s(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),o()},end:s}}var Bn=64,ks=4,Ns=4096,Pn=(t,e)=>t instanceof Se?new D(13,`not a valid ${e.name}: ${t.message}`):D.from(t);function Jr(t,e,n,r,o){let s,i=0,a=0,c=0,d=0,p=0,u=!0,
f=!0,v=!1,h=!1,A=()=>{},k,$=()=>!u&&!f,{messages:se,items:ee,put:te,end:X}=Zt(g=>{let b=g.length+Bn;d-=b,p+=b,f&&p*ks>=zt&&(s?.write(i,5,B,p),p=0);try{let w=V(g),
S=Xt(w);if(w.at&&(o?.(ne.metadata=S.metadata),!J(w)))return;let C=Kt(w,S);if(C)throw C;return Et(w,e,a)}catch(w){throw Pn(w,e)}},()=>n?re(!0):ae()),ne=Object.assign(
se,{metadata:{}}),W=()=>{$()&&(A(),k?.(),s?.over(i),s=k=void 0,r())},K=()=>{u&&(u=!1,s?.write(i,7),W())},j=g=>{u=f=!1,X(g),W()},re=(g,b=Vt(!0))=>{$()||s?.reset(
i,b),ee.length=0,j(g)},ie=g=>re(g,g),ae=()=>{ee.length=0,v=!0},y=g=>{if(!s||!u)return;let b=g instanceof D;s.write(i,2,w=>{let{at:S}=w;b?Dr(w,g,!1):St(w,t,g),c-=
w.at-S+Bn}),b&&K()};return{messages:ne,begin(g,b,w,S){s=g,i=b,c=w,a=S},packet(g,b){if(g===2)return!f||v?void 0:d+p>=zt?ie(new D(8,"the peer sent more than it ha\
d credit for")):(d+=b.length+Bn,te(new Uint8Array(b)));let w=V(b);if(g===5){let S=O(w,10);h||=!S,(c+=S)>0&&A()}else if(b.length){let S=Jt(O(w));j(new D(S,new TextDecoder().
decode(_e(w).subarray(0,Ns)),{mayHaveRun:!h}))}else f=!1,X(!0),W()},send:y,async pump(g){try{let b=Symbol.asyncIterator in g?g[Symbol.asyncIterator]():g[Symbol.
iterator]();for(k=async()=>{try{await b.return?.()}catch{}};;){for(;c<=0&&!$();)await new Promise(C=>A=C);if($())return;let{done:w,value:S}=await b.next();if($())
return;if(w)break;y(S)}k=void 0,K()}catch(b){let w=D.from(b);n?re(w):y(w)}},finish:K,discard:ae,fail:ie,lost:j}}var Ms=3e4,Ts=5e3,$s=20,Vr=2e3,Wr=10,kt=class{constructor(e,{timeout:n,patience:r=Ts,metadata:o,serve:s,stayConnected:i}={}){let a,c=0,d=Wr,p=0,u,f=!1,v="",h=new Set,
A=new Set,k=[],$=()=>{a||u||f||!(h.size||i)||(p=performance.now(),a=qr(e,se,[...A],s,k))},se={room:y=>queueMicrotask(()=>{for(let g of h){if(a!==y||!ee(g,y))return;
h.delete(g)}}),left(y,g){a===y&&(a=void 0,y.isUp&&performance.now()-p>=Vr?c=0:(v=g,clearTimeout(u),u=Yt(Math.random()*Math.min($s*2**Math.min(c++,16),Vr),()=>{u=
void 0,$()})),$())},answered:()=>void(c=0),replied(y,g){let b=y,{method:{reply:w},options:{onMetadata:S}}=b;ne(b);try{let C=V(g),Y=Xt(C),ye=Kt(C,Y);if(ye)throw ye;
C.at&&S?.(Y.metadata),b.resolve(Et(C,w,b.missing)),d<Wr&&(d+=.1)}catch(C){b.reject(Pn(C,w))}},look:y=>X(y),lost(y,g){let b=y;if(b.link=void 0,!b.method.idempotent||
d<1)return W(b,g);d--,te(b)}},ee=(y,g)=>{let{service:b,method:w}=y;try{let S=b?g.fits(b):0;return S!==void 0?(y.missing=Pr(w,S,1),y.start(y,g)&&(y.isSent=!0)):(A.
add(b),c=0,g.leave(),!1)}catch(S){return W(y,D.from(S)),!0}},te=y=>{if(!(a?.isUp&&ee(y,a))){if(f)return W(y,jr());y.patient=performance.now()+r,h.add(y),X(y),$()}},
X=y=>{let{until:g,isSent:b,patient:w}=y,S=performance.now(),C=h.has(y)&&!a?.isUp&&`no connection to the server${v&&`: ${v}`}`;clearTimeout(y.timer),S>=g?W(y,Nr(
b,C?`; ${C}`:"")):S>=w&&C?W(y,bt(14,C,b)):y.timer=Yt((S<w?Math.min(g,w):g)-S,()=>X(y))},ne=y=>{h.delete(y),clearTimeout(y.timer),y.options.signal?.removeEventListener(
"abort",y.abort)},W=(y,g)=>{ne(y),y.link?.cancel(y),y.reject(g)},K=(y,{told:g,until:b,options:{metadata:w}})=>{(g!==void 0||o||w)&&Ln(y,{timeout:g&&b-performance.
now(),metadata:{...o,...w}})},j=(y,g)=>{K(y,g),St(y,g.method.request,g.request)},re=(y,g)=>{let b=g.call(y,j);return b&&(y.link=g),b},ie=(y,g,b,w,S,C,Y,ye,ge=1/0)=>{
let{signal:T}=w,N={id:0,operation:g.operation,until:performance.now()+(S??ge),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:y,method:g,
request:b,options:w,told:S,start:C,resolve:Y,reject:ye,abort:T&&(()=>W(N,Vt(N.isSent)))};return T?.aborted?N.abort?.():(T?.addEventListener("abort",N.abort),S!==
void 0&&X(N),(S===void 0||S>0)&&te(N)),N},ae=(y,g,b,w={})=>{let S,C=Jr(g.request,g.reply,!0,()=>S&&ne(S),w.onMetadata);return S=ie(y,g,b,w,w.timeout,(Y,ye)=>{let ge=ye.
open(C,Y.missing,T=>{K(T,Y),U(T,9),B(T,Y.operation)});return ge&&C.pump(b),ge},()=>{},C.fail),C};this.unary=(y,g,b,w={})=>new Promise((S,C)=>void ie(y,g,b,w,w.timeout??
n,re,S,C,Ms)),this.serverStreaming=(y,g,b,w)=>ae(y,g,[b],w).messages,this.twoWay=(y,g,b,w)=>ae(y,g,b,w).messages,this.clientStreaming=async(y,g,b,w)=>{let{messages:S}=ae(
y,g,b,w),{done:C,value:Y}=await S.next();if(C)throw new D(13,"there is no reply");return S.return?.(),Y},this.name=y=>void A.add(y),this.mount=y=>void k.push(y),
this.connected=()=>new Promise((y,g)=>{ie(void 0,{},void 0,{},void 0,(b,w)=>(ne(b),y(w),!0),y,g)}),this.close=()=>{f=!0,clearTimeout(u);for(let y of h)W(y,jr());
a?.leave()},i&&queueMicrotask($)}},jr=()=>bt(9,"the channel is closed",!1);async function Qt(t){let e;do e=await t.connected();while(!e.isUp);return e}var Nt=65280,As=16<<20,_n=64,Cs=65536,Is=4,en={now:0,last:1,oldest:2},Mt=class{constructor(e){this.channel=e;this.asked=new Map;this.last=0;let{asked:n}=this;e.
mount({packet(r,o,s,i){if(s<Nt)return!1;for(let[a,c]of n)(!o||o===a)&&c.packet(r,o,s-Nt,V(i));return!0},down(r,o){for(let s of[...n.values()])s.down(r,o)}})}subscribe(e,{
group:n="",from:r}={}){return this.ask(0,e,n,r)}async publish(e,n){(await Qt(this.channel)).write(0,Nt+2,r=>{Be(r,be(e)),de(r,Fn(n))})}async sync(){await(await this.
ask(3)).return?.()}async ask(e,n,r="",o){let{asked:s}=this,i=await Qt(this.channel);do this.last=this.last%65535+1;while(s.has(this.last));let a=this.last;return new Promise(
(c,d)=>{let p=0,u=0,f=!1,{items:v,messages:h,put:A,end:k}=Zt(T=>(p-=T.payload.length+_n,T),()=>{s.delete(a)&&n!==void 0&&i.isUp&&i.write(a,Nt+1)}),$=T=>{s.delete(
a),d(T),k(T)},se=r?[]:n?.split(".")??[],ee=se[se.length-1]===">",te=T=>{let N=T.split(".");return(ee?N.length>=se.length:N.length===se.length)&&se.every((L,I)=>L===
">"||L==="*"||L===N[I])},X=e===0&&!r&&o!==void 0,ne=typeof o=="object",W=ne||o===void 0?en.oldest:en[o],K=new Map(ne?[[n,{...o,offset:o.offset+1}]]:[]),j=new Map,
re=0,ie="",ae=!1,y=!1,g=!1,b=!1,w=!1,S=T=>{i.write(a,Nt+T,N=>{if(n!==void 0&&Be(N,be(n)),T===6){U(N,W);for(let[L,I]of K){Ee(N,L);for(let H=0;H<16;H+=2)U(N,parseInt(
I.epoch.slice(H,H+2),16));B(N,I.offset)}}else de(N,be(r))})},C=()=>{w=!0,y&&(g||!(X&&b))&&(f=!0),c(h)},Y=T=>Array.from(ue(T,8),N=>N.toString(16).padStart(2,"0")).
join(""),ye=(T,N,L)=>{if(N===5&&T&&!w&&X&&L.bytes[L.at]===Is)g=!0,S(0);else if(N===6&&T&&L.bytes[L.at]===0){G(L),b=G(L)===1;let I=Y(L);re=O(L,10);let H=ie!==""&&
ie!==I,F=!n?.match(/[*>]/)&&K.size>0;ie=I,C(),g=!1,f||=F?!re:H}else if(N===7)for(;J(L);){let I=z(L),H={epoch:Y(L),offset:O(L,10)};if(!w||!T&&!te(I))continue;let F=j.
get(I);T&&!F?(re--,F=K.get(I)??(ae?{...H,offset:1}:void 0)):!T&&F?.epoch!==H.epoch&&(F=void 0),F&&b&&(F.epoch===H.epoch&&F.offset<=H.offset?u+=H.offset-F.offset:
f=!0),j.size>=Cs&&(j.clear(),g=!0),j.set(I,H)}else return!1;return!0},ge=async()=>{try{let T=await Qt(this.channel);if(!s.has(a))return;i=T,S(X?6:0)}catch(T){let N=D.
from(T);if(N.code===14&&s.has(a))return ge();$(N)}};s.set(a,{packet(T,N,L,I){if(!(T!==i||X&&ye(N,L,I)))if(L===2){let H=z(I);if(!N&&(!w||!te(H)))return;let F=_e(
I),le=j.get(H);for(le&&j.set(H,{...le,offset:le.offset+1}),p+=F.length+_n;p>As&&v.length;){let Ke=v.shift();p-=Ke.payload.length+_n;let yt=v[0];u+=Ke.lagged+1,f||=
Ke.reconnected,yt&&(yt.lagged+=u,yt.reconnected||=f,u=0,f=!1)}A({topic:H,payload:F,position:le,lagged:u,reconnected:f}),u=0,f=!1}else L===4?X&&b&&w||(u+=O(I,10)):
N&&(J(I)?$(oe([8,12,7][G(I)-3]??3,z(I,J(I)))):C())},down(T,N){if(T===i){if(n===void 0||!w&&!y)return $(N);if(w)if(re>0)for(let[L,I]of j)K.set(L,I);else K=g?new Map:
j,W=g?en.now:en.oldest,ae=!g;j=new Map,w=!1,y=!0,ge()}}}),S(X?6:e)})}};var Hn="frisbee.1";function qn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let o=new n(String(t),[Hn,...e]);return o.binaryType="arraybuffer",o.onopen=()=>{o.protocol===Hn?r.open():o.close()},
o.onmessage=({data:s})=>{s instanceof ArrayBuffer?r.data(new Uint8Array(s)):o.close()},o.onerror=()=>{},o.onclose=({code:s,reason:i})=>{r.close(`the WebSocket w\
as closed (${s}${i&&`, ${i}`})`)},{send:s=>o.send(s),close:()=>o.close(),buffered:()=>o.bufferedAmount}}}var Rs=64;var tn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of ve(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],o=new Map;for(let{number:i,bytes:a}of ve(e))i===
2?n=Me(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(o=Ls(a));let s={4:0,5:0};for(let{number:i,bytes:a}of r){let c=s[i]??0;s[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,o,0):this.declareEnum(a,n,[],d,o)}}declare(e,n,r,o,s,i){if(i>Rs)throw new Se("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",f=!1;for(let{number:k,bytes:$}of ve(e))k===1?u=Me($):k===2?a.push($):k===3?c.push($):k===4?d.push($):k===7?f=Yr($,7):k===8&&p.push({name:Kr($),docs:s.
get(`${o},8,${p.length}`)??""});let v=[...r,u],h=Xr(n,v),A=a.map((k,$)=>Os(k,s.get(`${o},2,${$}`)??""));this.messages.set(h,{name:h,package:n,path:v,docs:s.get(
o)??"",fields:A,oneofs:p,isEntry:f}),c.forEach((k,$)=>this.declare(k,n,v,`${o},3,${$}`,s,i+1)),d.forEach((k,$)=>this.declareEnum(k,n,v,`${o},4,${$}`,s))}declareEnum(e,n,r,o,s){
let i=[],a="";for(let{number:p,bytes:u}of ve(e)){if(p===1&&(a=Me(u)),p!==2)continue;let f=0;for(let v of ve(u))v.number===2&&(f=v.low|0);i.push({name:Kr(u),number:f,
docs:s.get(`${o},2,${i.length}`)??""})}let c=[...r,a],d=Xr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:s.get(o)??"",values:i})}},zr=t=>t===11||t===10||t===
14,Xr=(t,e)=>[...t?[t]:[],...e].join(".");function Os(t,e){let n="",r="",o="",[s,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of ve(t))u.number===1?n=Me(u.bytes):u.number===
3?s=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?o=Me(u.bytes).replace(/^\./,""):u.number===8?p=Yr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Me(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new Se(`a field of the kind ${a}`);return{name:n,number:s,kind:a,type:o,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,f)=>f.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var Fs=new Uint8Array,Me=t=>z(V(t),t.length);function*ve(t){
let e=V(t);for(;J(e);){let n=O(e),r=n>>>3,o=n&7;if(o===0){let s=0,i=0;for(let a of t.subarray(e.at,(O(e,10),e.at)))i<32&&(s|=(a&127)<<i),i+=7;yield{number:r,bytes:Fs,
low:s>>>0}}else if(o===2)yield{number:r,bytes:ue(e,O(e)),low:0};else if(o===1||o===5)ue(e,o===1?8:4);else throw new Se(`a field of the wire type ${o}`)}}function Kr(t){
for(let{number:e,bytes:n}of ve(t))if(e===1)return Me(n);return""}function Yr(t,e){for(let{number:n,low:r}of ve(t))if(n===e)return r!==0;return!1}function Ls(t){
let e=new Map;for(let{number:n,bytes:r}of ve(t)){if(n!==1)continue;let o="",s="",i="";for(let c of ve(r))if(c.number===1){let d=V(c.bytes),p=[];for(;J(d);)p.push(
O(d));o=p.join(",")}else c.number===3?s=Me(c.bytes):c.number===4&&(i=Me(c.bytes));let a=s||i;a&&e.set(o,nn(a))}return e}var nn=t=>t.replace(/^ /gm,"").trim();var Oe=t=>`f${t.number}`,ot=t=>`o${t}`,Jn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
rt=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),o=Ds(this.schema,
r),s=o.map(c=>`${Oe(c)}:${this.spec(r,c)}`).join(" "),i=o.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>zr(c.kind)),a=R(e,s,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),o=Jn[n.kind];if(r){let[s,i]=r.fields;if(!s||!i)throw new Error(
`${r.name} is no entry of a map`);return`%${Jn[s.kind]}${Jn[i.kind]}`}if(n.isRepeated)return`*${o}`;if(n.oneof!==void 0){let s=e.fields.filter(i=>i.oneof===n.oneof);
return`${ot(n.oneof)}/${s.indexOf(n)+1}/${o}`}return n.isOptional&&o!=="m"?`?${o}`:o}choice(e){let n=this.enums.get(e);return n||(n=Us(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},Us=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Ds(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(o=>n(o)===r))}function Zr(t,e,n,r,o){let s=o.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:f})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:f})),i=He(e,n,r,Object.fromEntries(s.map((a,c)=>[`m${c}`,a])));return s.
map(a=>({service:i,method:a}))}var Vn={POLYGLOT:0,PROTOBUF:1},Tt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Bs=R("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Ps=R("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),_s=R("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Js]),Hs=R("fr\
pc.reflection.v1.ListRequest","etag:s"),qs=R("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Tt]),Js=R("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Vn,qs]),st=He("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Hs,reply:_s,receives:!0,
idempotent:!0},files:{operation:65001,request:Ps,reply:Bs,receives:!0,idempotent:!0}});var Qr=32<<20,Te=t=>`${t.service.name}/${t.name}`,rn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=qn(e),o=i=>{this.wire=i,n()},s=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),o("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{o("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new kt(s,
{stayConnected:!0}),this.channel.name(st),this.topics=new Mt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,o=new Map,s="";for await(let f of n.serverStreaming(
st,st.methods.list,{etag:e?.etag??""},{metadata:r})){if(f.notModified)return;s||=f.etag;for(let v of f.services){let h=o.get(v.name);h?h.methods.push(...v.methods):
o.set(v.name,v)}}let i=[],a=0;for await(let{data:f}of n.serverStreaming(st,st.methods.files,{},{metadata:r}))if(i.push(f),a+=f.length,a>Qr)throw new D(Ht.RESOURCE_EXHAUSTED,
`the schema has more than ${Qr} bytes`);let c=new Uint8Array(a),d=0;for(let f of i)c.set(f,d),d+=f.length;let p=new tn(c),u=new rt(p);return{etag:s,schema:p,services:[
...o.values()].map(f=>Vs(f,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Vs(t,e){let n,r=s=>{if(t.codec!==Vn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=Zr(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==Tt.UNKNOWN}))),n[s]},o={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:nn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return o.methods=
t.methods.map((s,i)=>({service:o,name:s.name,operation:s.operation,request:s.request,response:s.response,sends:s.requestStreams,receives:s.responseStreams,idempotency:s.
idempotency===Tt.NO_SIDE_EFFECTS?"no side effects":s.idempotency===Tt.IDEMPOTENT?"idempotent":"",formats:s.formats,docs:nn(s.docs),isDeprecated:s.isDeprecated,callable:()=>r(
i)})),o}var on=t=>Object.entries(Ht).find(([,e])=>e===t)?.[0]??String(t);var Ws=50;function sn(t,e,n){let r=t.slice(-Ws).reverse().map(o=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
o)},l("span",{className:"muted"},et(o.beganAt)),l("span",{className:o.code===0?"badge ok":"badge failed"},on(o.code)),!n&&l("span",{className:"path"},o.path),l(
"span",{className:"muted shortened"},(o.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},ce(o.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var _=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},Q=()=>Object.create(null),jn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Gn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Je=t=>Gn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Fe(t){try{return JSON.parse(t||"{}")}catch(e){throw new _(
"",e.message)}}function Ve(t,e,n,r=""){let o=zs(t,e,n,r);if(o)return o;if(!jn(n))throw new _(r,`${e} is an object`);let s=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=s.fields.find(f=>f.jsonName===a||f.name===a),p=r?`${r}.${a}`:a;if(!d)throw new _(p,`${e} has no such field${js(s)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Gs(t,d,c,p);if(d.oneof===void 0)i[Oe(d)]=u;else{let f=ot(d.oneof);if(i[f])throw new _(p,`${s.oneofs[d.oneof]?.name} has two \
members`);i[f]={case:Oe(d),value:u}}}return i}var js=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Gs(t,e,n,r){let o=t.
entry(e),[s,i]=o?.fields??[];if(s&&i){if(!jn(n))throw new _(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[Xs(s,a,r),Wn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Wn(t,e,n,r);if(!Array.isArray(n))throw new _(r,"a list is an array");return n.map((a,c)=>Wn(t,e,a,`${r}[${c}]`))}function Xs(t,e,n){
if(t.kind!==8)return Ct(t,e,n);if(e!=="true"&&e!=="false")throw new _(n,`${e} is not true or false`);return e==="true"}var to=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Ks=t=>[3,4,6,16,18].includes(
t),Xn=t=>t in to;function Wn(t,e,n,r){if(e.kind===11)return Ve(t,e.type,n,r);if(e.kind!==14)return Ct(e,n,r);let{name:o,values:s}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=s.find(a=>a.name===n);if(!i)throw new _(r,`${o} has no value ${$t(n)}; it has: ${s.map(a=>a.name).join(", ")}`);return i.
number}var $t=t=>JSON.stringify(t).slice(0,60);function Ct(t,e,n=""){let{kind:r}=t,o=to[r];if(o){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new _(n,`${$t(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new _(n,"an integer of this size is writte\
n as text, in quotes");let i=BigInt(e);if(i<o[0]||i>o[1])throw new _(n,`${i} is not from ${o[0]} to ${o[1]}`);return Ks(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new _(n,`${$t(e)} is no number`);return Number(
e)}if(r===8){if(typeof e!="boolean")throw new _(n,`${$t(e)} is not true or false`);return e}if(typeof e!="string")throw new _(n,`${$t(e)} is no text`);return r===
12?we(e,n):e}function zs(t,e,n,r){let o=Gn.test(e)&&t.message(e).fields[0];if(o)return{f1:Ct(o,n,r)};switch(e){case"google.protobuf.Timestamp":return Ys(n,r);case"\
google.protobuf.Duration":{let s=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!s)throw new _(r,'a duration is written as "1.5s"');let[,i,a="",
c=""]=s,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new _(r,'a mask is written\
 as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(s=>s.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.protobuf.Struct":if(!jn(
n))throw new _(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([s,i])=>[s,At(i,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(n))throw new _(
r,"a ListValue is an array");return{f1:n.map(s=>At(s,0))};case"google.protobuf.Value":return At(n,0)}}function Ys(t,e){let n=typeof t=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))throw new _(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function At(t,e){if(e>90)throw new _("","nests too deep");let n=(r,o)=>({o0:{case:`f${r}`,value:o}});return t===null?
n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(4,t):Array.isArray(t)?n(6,{f1:t.map(r=>At(r,e+1))}):n(5,{f1:new Map(Object.entries(
t).map(([r,o])=>[r,At(o,e+1)]))})}function It(t,e,n){let r=ei(t,e,n);if(r!==void 0)return r;let o=Q();for(let s of t.message(e).fields){let i=s.oneof===void 0?void 0:
n[ot(s.oneof)],a=s.oneof===void 0?n[Oe(s)]:i?.case===Oe(s)?i.value:void 0;if(a===void 0)continue;let c=Zs(t,s,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(o[s.jsonName]=c)}return o}function Zs(t,e,n){let r=t.entry(e)?.fields[1];if(r&&n instanceof Map){let o=Q();for(let[s,i]of n)o[String(s)]=an(t,r,i);
return o}return Array.isArray(n)?n.map(o=>an(t,e,o)):an(t,e,n)}function an(t,e,n){return e.kind===11?It(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(
({number:r})=>r===n)?.name??n:n instanceof Uint8Array?$e(n):typeof n=="bigint"||typeof n=="number"&&!Number.isFinite(n)?String(n):e.kind===2?Qs(n):n}function Qs(t){
for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}function ei(t,e,n){let r=Gn.test(e)&&t.message(e).fields[0];if(r)return an(
t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let o=Number(n.f1),s=new Date(o*1e3);return Number.isNaN(s.getTime())||o<-62135596800||o>253402300799?void 0:
`${s.toISOString().slice(0,19)}${eo(n.f2)}Z`}case"google.protobuf.Duration":{let[o,s]=[n.f1,n.f2];return`${o<0n||s<0?"-":""}${o<0n?-o:o}${eo(Math.abs(s))}s`}case"\
google.protobuf.FieldMask":return n.f1.map(o=>o.replace(/_([a-z])/g,(s,i)=>i.toUpperCase())).join(",");case"google.protobuf.Struct":return no(n);case"google.pro\
tobuf.ListValue":return n.f1.map(ln);case"google.protobuf.Value":return ln(n)}}function no(t){let e=Q();for(let[n,r]of t.f1)e[n]=ln(r);return e}function ln(t){let e=t.
o0;return!e||e.case==="f1"?null:e.case==="f5"?no(e.value):e.case==="f6"?e.value.f1.map(ln):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var eo=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function $e(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.
fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function we(t,e=""){try{return Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(
0))}catch{throw new _(e,"it is no base64")}}function it(t){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var We=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var je=t=>zn(JSON.stringify(t)),zn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ae=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${zn(t).replace(/'/g,"'\\''")}'`,ro=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:$e(n)]);function oo({method:t,
requests:e,metadata:n,timeout:r,origin:o}){let s=t.sends||t.receives,i=[s?"curl -sN":"curl",`-H 'content-type: application/${s?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Ae(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of ro(n))i.push(`-H ${Ae(`${p}: ${u}`)}`);let a=Ae(`${o}/${Te(t)}`);if(!s)return[...i,`-d\
 ${Ae(je(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(je);return[`printf '${c.map(p=>`\\0${ti(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Ae).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ti=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function so({method:t,requests:e,metadata:n,timeout:r,origin:o}){let{
host:s,protocol:i}=new URL(o),a=i==="https:"?`wss://${s}/`:s,c=[`frpc call --server ${Ae(a)}`,Ae(Te(t))];for(let d of e)c.push(Ae(je(d)));for(let[d,p]of ro(n))c.
push(`-H ${Ae(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var pn=t=>t.replace(/\W/g,"_")||"_",io=t=>pn(t).replace(/^_(?=\d)/,"-"),ao=t=>pn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Rt=t=>ao(t).map(e=>e.toLowerCase()).join("_")||"_",Ge=t=>ao(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",cn=t=>Ge(t).replace(/^./,e=>e.toLowerCase()),ni=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),un=t=>ni.has(Rt(t))?/^(self|super|crate)$/.test(Rt(t))?`${Rt(t)}_`:`r#${Rt(t)}`:Rt(t),xe=t=>zn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function lo(t){let{schema:e,method:n,requests:r,metadata:o,timeout:s,origin:i}=t,a=pn(n.service.name.
split(".").pop()??""),c=r.map(v=>uo(e,n.request,v,0)),d=un(n.name),p=[`let client = ${a}Client::connect(${xe(new URL(i).host)}).await?;`],u=c[0]??`${Ge(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let f=[...s===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(s)}));`],...Object.entries(o).map(([v,h])=>typeof h=="string"?`request.metadata_mut().insert(${xe(v)}, ${xe(h)})?;`:`request.metadata_m\
ut().insert_bin(${xe(v)}, &[${[...h].join(", ")}][..])?;`)];return f.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...f),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(v=>`requests.send(${v}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(v=>`    requests.send(${v}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function co({path:t,package:e}){let n=[...t.slice(0,-1).map(un),Ge(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Kn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function uo(t,e,n,r){let o=t.message(e),s=co(o),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of o.fields){
let f=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(f===void 0||f===null&&u.type!=="google.protobuf.Value")continue;let v=u.oneof===void 0?void 0:o.oneofs[u.oneof],
h=ri(t,o,u,f,r+1),A=v?v.name:u.name;c.add(A);let k=[...o.path.map(un),Ge(v?.name??"")].join("::");a.push(Kn(`${un(A)}: ${v?`Some(${k}::${Ge(u.name)}(${h}))`:h},`,
r+1))}let d=new Set(o.fields.map(u=>u.oneof===void 0?u.name:o.oneofs[u.oneof]?.name));if(a.length===0)return`${s}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Kn(`..${s}::default()`,r+1));let p=`${s} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${s} {
${a.join(`
`)}
${Kn("}",r)}`}function ri(t,e,n,r,o){let[s,i]=t.entry(n)?.fields??[];if(s&&i)return`HashMap::from([${Object.entries(r).map(([u,f])=>`(${s.kind===9?`${xe(u)}.to_\
owned()`:io(u)}, ${dn(t,i,f,o)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>dn(t,n,d,o)).join(", ")}]`;let a=dn(t,n,r,o),c=n.kind===11&&!Je(n.type)&&
po(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function po(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(o=>o.kind===11&&!o.isRepeated&&po(t,o.type,n,r))??!1)}function dn(t,e,n,r){if(e.kind===11){let[o]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${xe(String(n))}.parse()?`:Je(e.type)&&o&&/Value$/.test(e.type)&&o.name===
"value"?dn(t,o,n,r):Je(e.type)?oi(e.type,n):uo(t,e.type,n,r)}if(e.kind===14){let o=t.enumeration(e.type),s=o.values.find(({name:c})=>c===n);if(!s)return String(
Number(n)|0);let i=Ge(o.path[o.path.length-1]??""),a=Ge(s.name);return`${co(o)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...we(String(n))].join(", ")}]`:e.kind===9?`${xe(String(n))}.to_owned()`:e.kind===1||e.kind===2?yo(Number(n),e.kind===1?"f64":"f32"):io(String(n))}var at="\
frpc::prost_types::";function oi(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`));
return`${at}FieldMask { paths: vec![${n.map(r=>`${xe(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${at}Struct { fields: ${mo(e)} }`:t===
"google.protobuf.ListValue"?`${at}ListValue { values: ${fo(e)} }`:Yn(e)}function Yn(t){if(t===null)return`${at}Value::from(${at}value::Kind::NullValue(0))`;let e=typeof t==
"string"?xe(t):typeof t=="number"?yo(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?fo(t):mo(t);return`${at}Value::from(${e})`}var fo=t=>`vec![${t.map(
Yn).join(", ")}]`,mo=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${xe(e)}.to_owned(), ${Yn(n)})`).join(", ")}])`,yo=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function go(t){let{
schema:e,method:n,requests:r,metadata:o,timeout:s,origin:i}=t,a=pn(n.service.name.split(".").pop()??""),c=r.map(v=>bo(e,n.request,Ve(e,n.request,v))),d=[...s===
void 0?[]:[`timeout: ${s}`],...Object.keys(o).length===0?[]:[`metadata: { ${Object.entries(o).map(([v,h])=>`${je(v)}: ${typeof h=="string"?je(h):ho(h)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${cn(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${je(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var ho=t=>`new Uint8Array([${[...t].join(", ")}])`;function bo(t,e,n){
let{fields:r,oneofs:o}=t.message(e),s=[];for(let i of r){let a=Oe(i);if(i.oneof===void 0){n[a]!==void 0&&s.push(`${cn(i.name)}: ${si(t,i,n[a])}`);continue}let c=n[ot(
i.oneof)];c?.case===a&&s.push(`${cn(o[i.oneof]?.name??"")}: { case: "${cn(i.name)}", value: ${Ot(t,i,c.value)} }`)}return s.length>0?`{ ${s.join(", ")} }`:"{}"}
function si(t,e,n){let[r,o]=t.entry(e)?.fields??[];return r&&o?`new Map([${[...n].map(([s,i])=>`[${Ot(t,r,s)}, ${Ot(t,o,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(s=>Ot(t,e,s)).join(", ")}]`:Ot(t,e,n)}function Ot(t,e,n){return n instanceof Uint8Array?ho(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?bo(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?je(n):String(n)}var vo=new WeakMap;function lt(t,e){return vo.set(t,e),t}var Ft=t=>vo.get(t)??Q();var wo=16<<20,Zn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function Qn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function er(t){let e=Z(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return lt({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=Zn({id:e});return lt({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>Qn(o,()=>void(o.value.
trim()&&Ct(t,s()))),o=l("input",{type:"text",id:e,className:"number",inputMode:Xn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),s=()=>{
let i=o.value.trim();return Number.isSafeInteger(Number(i))&&!ii(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!Xn(n)?Number(i):i};return lt({element:o,id:e,get:()=>o.
value.trim()?ai(s()):void 0,set(i){o.value=i==null?"":String(i),r()}},0)}var ii=t=>t===3||t===4||t===6||t===16||t===18,ai=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function xo(t){let e=Z(),n=l("select",{id:e},...t.values.map(({name:o,number:s,docs:i})=>l("option",{value:o,title:i},`${o} = ${s}`))),[r]=t.values;return lt(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:o=>n.value=t.values.find(({name:s,number:i})=>s===o||i===o)?.name??r?.name??""},r?.name??0)}function So(){
let t=Z(),e,n=Zn({id:t,oninput:()=>f()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),o=r.value,
s=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=i.files?.[0];if(h){if(h.size>wo){s.textContent=`${h.
name} has more than ${wo>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),s.textContent=`${h.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,v.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,s.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(n.value);if(h==="base64")return we(n.
value.replace(/\s/g,""));let A=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(A))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(A.match(/../g)??[],k=>parseInt(k,16))},p=(h,A)=>{let k=A==="text"?it(h):void 0;r.value=o=A==="text"&&k===void 0?"base64":A,n.value=r.value==="text"?k??"":r.
value==="hex"?We(h):$e(h),f()},u=()=>{try{p(d(o),r.value)}catch{o=r.value,f()}},f=()=>Qn(n,()=>void d(r.value)),v=l("div",{className:"bytes"},n,r,l("button",{type:"\
button",className:"quiet",onclick:()=>i.click()},"File…"),i,s,a);return lt({element:v,id:t,get(){let h=e??d(r.value);return h.length>0?$e(h):void 0},set(h){c(),
p(typeof h=="string"?we(h):new Uint8Array,r.value)}},"")}function Xe(t,e,n){let r=Z(),o=Zn({id:r,placeholder:e,oninput:()=>Qn(o,()=>void(t==="json"&&o.value&&JSON.
parse(o.value)))}),s=n&&l("button",{type:"button",className:"quiet",onclick:()=>o.value=n.json()},n.label);return{element:l("div",{className:"free"},o,s),id:r,get:()=>o.
value.trim()?t==="json"?JSON.parse(o.value):o.value.trim():void 0,set:i=>o.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var li=3,mn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=Mo(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??Q()}set(e){this.editor.set(e)}example(){this.set(ko(this.schema,this.name,[]))}};function ko(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),o=r.fields[0];if(Je(e)&&o)return Eo(t,o,n);let s=Q(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>li);if(!p||u||d.kind===10||a.isDeprecated)continue;let f=Eo(t,d,i),v=c?.fields[0];v?s[a.jsonName]=
Object.assign(Q(),{[v.kind===9?"key":v.kind===8?"true":"1"]:f}):s[a.jsonName]=a.isRepeated?[f]:f}return s}function Eo(t,e,n){switch(e.kind){case 11:return ko(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:o})=>o!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function ci(t,e){let n=t.entry(e),[r,o]=n?.fields??
[];return r&&o?`map<${fn(r)}, ${fn(o)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${fn(e)}`}var di=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],fn=t=>di[t.kind]||(t.type.split(".").pop()??"");function ct(t,e){
return e.kind===14?xo(t.enumeration(e.type)):e.kind===12?So():e.kind!==11?er(e):ui(t,e.type)}function ui(t,e){switch(e){case"google.protobuf.Timestamp":return Xe(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Xe("text","1.5s");case"google.protobuf.Fiel\
dMask":return Xe("text","name,homeAddress.city");case"google.protobuf.Struct":return Xe("json",'{ "key": "value" }');case"google.protobuf.Value":return Xe("json",
"any JSON");case"google.protobuf.ListValue":return Xe("json","[1, 2]")}let n=Je(e)?t.message(e).fields[0]:void 0;if(!n)return Mo(t,e);let r=ct(t,n);return{...r,
get:()=>r.get()??No(n)}}var No=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function Mo(t,e){let n=t.message(e),r=[],o=l("div",{className:"fields"}),s=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(s.has(i.oneof))continue;s.add(i.oneof);let c=gi(t,n,i.oneof);o.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=pi(t,i);o.append(To(i.name,ci(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&o.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:o,get(){let i=Q();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:Q();for(let{take:c}of r)c(a)}}}
function To(t,e,n,r,o){let s=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},s,l("span",{className:"type"},e),o&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function pi(t,e){let n=t.entry(e);return n?yi(t,n):e.isRepeated?mi(()=>ct(t,e)):
e.isOptional||e.kind===11?fi(()=>ct(t,e),()=>e.kind===11?Q():No(e)):ct(t,e)}function fi(t,e){let n=Z(),r,o=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
o.checked)}),s=l("div",{className:"inside"}),i=l("div",{className:"presence"},o,s),a=c=>{o.checked=c,c?M(s,(r??=t()).element):M(s,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>o.checked?r?.get()??e():void 0,set(c){a(c!=null),o.checked&&r?.set(c)}}}var $o=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function mi(t){let e=[],n=l("div",{className:"items"}),r=s=>{let i=t();s!==void 0&&i.set(s),e.push(i);
let a=l("div",{className:"item"},i.element,$o(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},o=l("button",{type:"button",className:"quiet",onclick:()=>Ao(
r().element)},"Add");return{element:l("div",{className:"list"},n,o),get:()=>e.length>0?e.map(s=>s.get()??Ft(s)):void 0,set(s){e=[],M(n);for(let i of Array.isArray(
s)?s:[])r(i)}}}var Ao=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function yi(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is no entry of a map`);let o=[],s=l("div",{className:"items"}),i=(c,d)=>{let p={key:er({...n,kind:n.kind===8?9:n.kind}),value:ct(t,
r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),o.push(p);let u=l("div",
{className:"item"},p.key.element,p.value.element,$o(()=>{o=o.filter(f=>f!==p),u.remove()}));return s.append(u),p.key},a=l("button",{type:"button",className:"qui\
et",onclick:()=>Ao(i().element)},"Add");return{element:l("div",{className:"list"},s,a),get(){if(o.length===0)return;let c=Q();for(let{key:d,value:p}of o)c[String(
d.get()??Ft(d))]=p.get()??Ft(p);return c},set(c){if(o=[],M(s),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function gi(t,e,n){let r=e.
fields.filter(f=>f.oneof===n),o=Z(),s=l("div",{className:"inside"}),i=new Map,a=l("select",{id:o,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(f=>l("option",{value:f.jsonName},`${f.name}: ${fn(f)}`))),c=f=>{a.value=f;let v=r.find(A=>A.jsonName===f);if(!v)return void M(s);let h=i.get(f)??ct(t,v);return i.
set(f,h),h.id&&document.getElementById(h.id)?.setAttribute("aria-label",v.name),M(s,h.element,v.docs&&l("p",{className:"docs"},v.docs)),h},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,s),id:o,get:()=>{},set(){}};return{element:To(d,"oneof",p,u,!1),get(){let f=i.get(a.value);return a.
value&&f?Object.assign(Q(),{[a.value]:f.get()??Ft(f)}):Q()},set(f){let v=f,h=r.find(A=>(v[A.jsonName]??v[A.name])!==void 0);c(h?.jsonName??"")?.set(h&&(v[h.jsonName]??
v[h.name]))}}}var dt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",o=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),s=r.trim().toLowerCase();s&&(e[s]=s.endsWith("-bin")?we(o,s):o)}return e}set(e){M(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:$e(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),o=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),s=l("div",{className:"item"},r,o,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{s.remove(),this.changed()}},"×"));return this.rows.append(s),r}},tr=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:$e(n))]));var nr=1e5,hi=90;function Co(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),o=l("ol",{className:"log","aria-label":"Messages"}),{method:s}=e,
i=s.sends||s.receives;i||o.classList.add("one");let a=0;return M(t,n,r,o),()=>{M(n,...bi(e)),M(r,e.isOver&&e.status&&vi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),tr(e.metadata)));let c=o.scrollHeight-o.scrollTop-o.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;o.childElementCount>0&&o.childElementCount+p>e.messages.length;)o.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&o.append(
xi(u,i));a=e.dropped+e.messages.length,c&&(o.scrollTop=o.scrollHeight)}}function bi(t){let{sent:e,received:n,method:r}=t,s=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},s)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${on(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},ce(t.took),s&&`, ${s}`)]}function vi({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},it(e)??We(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&tr(t.metadata))}function wi(t){let e=t.replace(/\n\s*/g," ");return e.length<=hi?e:t}function xi(t,e){let n=e?wi(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Bt(n.slice(0,nr)),n.length>nr&&`
… ${n.length-nr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${ce(t.at)}`),l("span",{className:"grow"}),Qe(()=>n)),r)}var Si=500,Ei=16<<20,yn=class{constructor(e,n,r,o,s){this.catalog=n;this.method=r;this.terms=o;this.changed=s;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new rr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:o,method:s}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(o,s,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(o,s,a,i))}}catch(o){this.status=D.from(o)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(It(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>Si||this.chars>Ei&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},rr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var ki=["Form","JSON","Copy as"],Io={curl:oo,frpc:so,Rust:lo,TypeScript:go};function or({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var gn=class{constructor(e,n,r,o){this.server=e;this.catalog=n;this.method=
r;this.records=o;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new dt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:Z(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=kn(ki,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let s="";try{r.callable(),this.form=new mn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){s=i.message}this.element=l("article",{className:"method"},this.header(),s?l("p",{className:"notice"},`\
This method cannot be called here: ${s}.`):l("div",{className:"panes"},this.request(),this.output)),s||(this.tabs.select("Form"),this.act(),M(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=Ve(
this.catalog.schema,this.method.request,Fe(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Fe(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=or(e),r=o=>l("span",{className:"tag"},o);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
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
length>0?r:[Fe(this.formText())],s={schema:this.catalog.schema,method:n,requests:o,origin:location.origin,...this.terms()},i=kn(Object.keys(Io),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Io[this.command](s))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),Qe(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new yn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Co(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Te(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,o=c=>l("kbd",{},c),s=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===s)return;this.actions.dataset.state=s;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",o("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",o("Ctrl ↵"));M(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",o("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",o("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var Ni={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Mi=R("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Ti=R("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),$i=R("frpc.introspection.v1.CloseCount","kind:s count:w"),Ai=R("frpc.introspection.v1.CodeCount","code:i count:\
w"),sr=R("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[Ni]),Ci=R("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Mi,_i,sr,Li]),Ii=R("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),Ri=R("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[sr]),Oi=R("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),Fi=R("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Ai]),Li=R("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Ui=R("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Fi]),Ro=R("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[$i,Ti,Ji,Ui]),Di=R("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[sr,Ro]),Bi=R("frpc.introspection.v1.ServersReply","servers:*m",()=>[Ro]),Pi=R("frpc.introspe\
ction.v1.ServersRequest",""),_i=R("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Hi=R("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[Di]),qi=R("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Ji=R("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),hn=He("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Pi,reply:Bi,idempotent:!0},connections:{
operation:65031,request:Oi,reply:Ri,idempotent:!0},connection:{operation:65032,request:Ii,reply:Ci,idempotent:!0},watch:{operation:65033,request:qi,reply:Hi,receives:!0,
idempotent:!0}});var pt=12e4,ir=2e3,[Le,Ue,De,ft]=[480,120,44,16];function ar(t){let e=fe("svg",{viewBox:`0 0 ${Le} ${Ue}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let o=fe("text",{x:De+(Le-De)*n,y:Ue-3,"text-anchor":n===0?"start":n===1?"end":"middle"});o.textContent=r,e.append(o)}return e}
function lr(t,e,n){let r=fe("text",{x:De-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(fe("line",{x1:De,x2:Le,y1:e,y2:e,class:"grid"}),r)}var ut=Ue-ft-
8;function Oo(t,e){let n=ar("Calls and errors in the last two minutes"),r=pt/ir,o=Array.from({length:r},()=>({ok:0,failed:0})),s=Math.floor(e/ir);for(let{beganAt:c,
took:d,code:p}of t){let u=o[r-1-(s-Math.floor((c+d)/ir))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...o.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])lr(
n,Ue-ft-ut*c,String(Math.round(i*c)));let a=(Le-De)/r;return o.forEach(({ok:c,failed:d},p)=>{let u=(f,v,h)=>{v>0&&n.append(fe("rect",{x:De+p*a+.75,width:a-1.5,y:Ue-
ft-(f+v)/i*ut,height:v/i*ut,class:h}))};u(0,d,"failed"),u(d,c,"ok")}),n}function mt(t,e){return[...t.filter(({at:n})=>e.at-n<pt),e]}var Fo=(t,e,n,r)=>e.map((o,s)=>fe(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[s]??0).toFixed(1)}`).join(" "),class:o})),Lo=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function bn(t,e,n,r,o,s){let i=ar(`${t}, in the last two minutes`),a=Lo(e,o),c=d=>Ue-ft-d/a*ut;for(let d of[0,.5,1])lr(i,c(a*d),s(a*d));return i.append(...Fo(e,
n,d=>Le-(Le-De)*(r-d)/pt,c)),i}function cr(t,e,n,r){let o=Lo(e,1e-9),s=fe("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return s.append(
...Fo(e,n,i=>120-120*(r-i)/pt,i=>19-i/o*18)),s}function Uo(t,e){let n=ar("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<pt),o=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),s=Math.floor(Math.min(0,...o)),i=Math.ceil(Math.max(2,...o));for(let a=s;a<=i;a++)lr(n,Ue-ft-ut*(a-s)/(i-s),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Le-(Le-De)*(e-a-c)/pt,f=Ue-ft-ut*((o[p]??0)-s)/(i-s);n.append(fe("circle",{cx:u,
cy:f,r:2.5,class:d===0?"ok":"failed"}))}),n}function Do(t){let e=t.slice(-40),n=fe("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:o})=>o));return e.forEach(({took:o,code:s},i)=>{let a=Math.max(1.5,o/r*20);n.append(fe("rect",{x:i*3,width:2,y:20-a,height:a,class:s===0?"ok":"f\
ailed"}))}),n}var Bo=1e3,Vi=256,Wi=50,vn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===hn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:o}=e;try{let s=n.serverStreaming(hn,hn.methods.watch,{intervalMs:Bo,connections:Vi},{signal:o,metadata:r});for await(let{servers:i}of s)
M(this.content,...i.map(a=>this.draw(a)))}catch(s){o.aborted||M(this.content,l("p",{className:"problem"},s.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Bo)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),o=this.before.get(e.name),s=new Map(e.methods.map(u=>[u.name,Gi(u,o?.methods.
get(u.name),r,o?.at)])),i=u=>dr([...s.values()].map(({rates:f})=>f.at(-1)?.values[u]??0)),a=dr(n.map(u=>Number(u.streams))),c=dr(n.map(u=>Number(u.queued))),d={
at:r,methods:s,rates:o?mt(o.rates,{at:r,values:[i(0),i(1)]}):[],open:mt(o?.open??[],{at:r,values:[Number(e.open),a]}),bytes:mt(o?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Xi(e),l("div",{className:"plots"},
pr(["Calls of all clients in a second, ",ji("errors")," below"],bn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Po)),pr(["\
Connections, and ",_o("streams"),p],bn("Connections and streams",d.open,["curve","curve second"],r,4,Po)),pr(["Bytes that wait to be written",p,", and ",_o("hel\
d for clients")],bn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Lt(BigInt(Math.round(u)))))),this.table(e,s,r),Ho(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Wi).map(Ki)))}table({methods:e},n,r){let o=e.flatMap(({name:s,figures:i})=>{let a=n.
get(s);return a&&a.calls>0n?[{name:s,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return o.sort((s,i)=>i.rate-s.rate||Number(i.calls-s.calls)),Ho(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],o.map(({name:s,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
s,a.toFixed(a<10?1:0),c,d,ur(i?.p50Ns),ur(i?.p99Ns),ur(i?.maxNs),cr(`Calls and errors of ${s}, in the last two minutes`,p,["curve","curve failed"],r),cr(`Averag\
e latencies of ${s}, in the last two minutes`,u,["curve"],r)]))}},dr=t=>t.reduce((e,n)=>e+n,0),Po=t=>String(Math.round(t)),ur=(t=0n)=>ce(Number(t)/1e6),ji=t=>l(
"span",{className:"failed"},t),_o=t=>l("span",{className:"second"},t),pr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function Gi({figures:t},e,n,r=n){let o=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),s=(t?.ok??0n)+o,i=t?.sumNs??0n;if(!e||s<e.calls||n<=r)return{calls:s,failed:o,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(s-e.calls);return{calls:s,failed:o,spent:i,rates:mt(e.rates,{at:n,values:[c/a,Number(o-e.failed)/a]}),times:c>0?mt(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function Xi({name:t,open:e,opened:n,shed:r,memoryHeld:o,memoryMax:s,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Lt(o)} of at most ${Lt(s)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Ki=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:o,
queued:s,memory:i})=>[t||"unknown",ce(Number(e)),n,n>0n?ce(Number(r)):"",o,Lt(s),Lt(i)];function Ho(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,o)=>l("td",{className:o>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function Lt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var zi=1e3,wn=class{constructor(e,n,r,o,s){this.server=e;this.records=n;this.catalog=r;this.open=o;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new vn(e,r);let i=new dt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:s},"Reload the schema"))),setInterval(()=>this.draw(),zi)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:o}=this,s=this.catalog(),i=s?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${et(r.since)}`:n],["connections made",String(r.connections)],["sent",qo(r.sent)],["received",qo(
r.received)],["services",s?`${s.services.length}, with ${i} methods`:"unknown"]];M(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();M(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Oo(o.all,c)),l("figure",{},l(
"figcaption",{},"Latency of each call; of a stream, its duration"),Uo(o.all,c)));let d=o.all.length===0?0:(o.all[o.all.length-1]?.beganAt??0)+o.all.length;d!==this.
drawnOf&&(this.drawnOf=d,M(this.methods,o.all.length>0&&this.table()),M(this.history,sn(o.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:o,p50:s,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:o>0?"count failed":"count"},String(o)),e(ce(s)),e(ce(i)),e(ce(a)),l("td",{},Do(c)))})))}};function qo(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var Jo=500,Vo=2e4,xn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:Z()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:Z(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:Z(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),o=l("textarea",{id:Z(),rows:3,spellcheck:!1}),s=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for all \
that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),o.value,s.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:o.id},"Payload"),o,s,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>M(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new rt(e.schema)},M(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let o of n)
this.arrived(o)}catch(o){this.problem.textContent=`${e}: ${o.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let o=n;r==="base64"?o=we(n.replace(/\s/g,"")):r==="hex"?o=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],s=>parseInt(s,16)):r!=="text"&&this.schema&&
(o=An(this.schema.tables.of(r),Ve(this.schema.catalog.schema,r,Fe(n)))),await this.server.topics.publish(e,o)}arrived(e){this.waiting.push(e),this.waiting.length>
Jo&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:o}of this.waiting){o>0&&this.log.append(l("li",{className:"muted"},`${o} messages were lost here, since thi\
s page did not take them in time`));let s=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${et(Date.now())}`),l("span",{className:"grow"}),Qe(()=>s)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
s)?Bt(s):s)))}for(this.waiting=[];this.log.childElementCount>Jo;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(It(this.schema.catalog.schema,n,Cn(this.schema.tables.of(n),e)),void 0,
2)}catch(o){return`not a valid ${n}: ${o.message}
${We(e.subarray(0,Vo))}`}let r=e.subarray(0,Vo);return(n==="hex"?void 0:it(r))??We(r)}};var Yi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Wo,fr,jo,Ut,yr]=[he("services"),he("main"),he("state"),he("filter"),he("keys")],Ce=new rn(`${location.origin.replace(/^http/,"w\
s")}/`,()=>Zi()),En=new Pt,Sn=new Map,Xo=new xn(Ce),Ie,Dt="",Go=!1,Re,mr=0,gr=new wn(Ce,En,()=>Ie,t=>Yo(t),()=>void Ko(!0));async function Ko(t){let e=++mr,n=t?
void 0:Ie;try{let r=await Ce.catalog(n);if(e!==mr)return;if(Dt="",r){Ie=r;for(let[o,s]of Sn)s.isBusy||Sn.delete(o);Xo.know(r)}}catch(r){if(e!==mr)return;Dt=r.message}
hr(),br(),Go=await Ce.hasBroker(),he("to-topics").hidden=!Go}function Zi(){jo.textContent=Ce.wire==="open"?"connected":Ce.wire==="lost"?"connection lost":"conne\
cting",jo.className=`state ${Ce.wire}`,Ce.wire==="open"&&setTimeout(()=>void Ko(!1))}function hr(){let t=Ut.value.trim().toLowerCase().split(/\s+/),e=s=>t.every(
i=>Te(s).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Ie?.services??[]).map(s=>({service:s,methods:s.methods.filter(e)})).filter(({
methods:s})=>s.length>0),o=s=>/^(frpc|grpc)\./.test(s);r.sort((s,i)=>Number(o(s.service.name))-Number(o(i.service.name))),M(Wo,...r.map(({service:s,methods:i})=>l(
"details",{open:!o(s.name)||Ut.value!==""||n.startsWith(`${s.name}/`)},l("summary",{title:s.docs},l("span",{},s.name.includes(".")&&l("span",{className:"of"},s.
name.slice(0,s.name.lastIndexOf("."))),s.name.slice(s.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Te(c),p=or(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&M(Wo,l("p",{className:"empty"},Ie?"No method has this name.":Dt?"No services.":"Loading the services…"))}
function br(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Re=void 0;let e=Ie?.services.flatMap(n=>n.methods).find(n=>Te(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")M(fr,Xo.element);else if(e&&Ie)Re=Sn.get(t)??new gn(Ce,Ie,
e,En),Sn.set(t,Re),M(fr,Re.element,ea(t));else{let n=t&&Ie?`The server shows no method ${t}.`:"";M(fr,Dt&&Qi(),n&&l("p",{className:"notice"},n),gr.element),gr.draw()}}
function Qi(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Dt}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function ea(t){let e=l("\
div",{}),n=()=>M(e,sn(En.all.filter(r=>r.path===t),Yo,!0));return n(),zo=n,l("section",{className:"past"},l("h2",{},"History"),e)}var zo=()=>{};En.listen(()=>{zo(),
gr.draw()});function Yo(t){location.hash===`#/${encodeURI(t.path)}`?Re?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Re?.
restore(t),{once:!0}))}function ta(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Re?.end():Re?.send();else if(t.key==="Escape"&&!yr.open){if(!Re?.cancel())return}else if(t.key==="/"&&!n)Ut.focus();else if(t.key===
"?"&&!n)yr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ta(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",br);Ut.addEventListener("input",hr);he("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Ut.focus()});he("help").addEventListener("click",()=>yr.showModal());M(he("key-list"),...Yi.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));hr();br();})();
