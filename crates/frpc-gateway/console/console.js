"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Sr(r,...n),r}function Sr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function M(t,...e){t.replaceChildren(),Sr(t,...e)}function ye(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function he(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var eo=0,Z=()=>`e${++eo}`;function kn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function Qe(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Dt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Bt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function ce(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var et=t=>new Date(t).toTimeString().slice(0,
8);var to=new TextEncoder,no=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Er=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
H=t=>{throw new Se(t)},W=t=>({bytes:t,at:0,depth:0,memory:0}),ht=(t=64)=>W(new Uint8Array(t)),be=t=>to.encode(t);function _t(t,e){let{bytes:n,at:r}=t;r+e>n.length&&
(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function P(t,e){t.at===t.bytes.length&&_t(t,1),t.bytes[t.at++]=e}function kr(t,e){
P(t,e>>8),P(t,e)}function D(t,e){for(;e>127;e=Math.floor(e/128))P(t,e|128);P(t,e)}function de(t,e){_t(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function De(t,e){
D(t,e.length),de(t,e)}function Ee(t,e){let{at:n}=t,{length:r}=e,s=r>Er?128:0;P(t,r);for(let o=0;o<r&&s<128;o++)P(t,s=e.charCodeAt(o));s>127&&(t.at=n,De(t,be(e)))}
function ge(t,e,n){P(t,e);let{at:r}=t;n();let s=t.bytes.slice(r,t.at);return t.at=r,De(t,s),s.length>0}var bt=({bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.
length-e,Be=({bytes:t,at:e})=>t[e],G=t=>t.bytes[t.at++]??H("truncated");function ke(t,e){let n=G(t);n!==e&&H(`found byte ${n}, expected ${e}`)}function I(t,e=5){
let n=0;for(let r=1;e-- >0;r*=128){let s=G(t);if(s<128)return n+s*r;n+=(s-128)*r}return H("a number is too long")}function ue(t,e=I(t)){return e>J(t)&&H("trunca\
ted"),t.bytes.subarray(t.at,t.at+=e)}var _e=({bytes:t,at:e})=>t.slice(e);function z(t,e=I(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=Er)for(let i;o<e&&(i=n[r+o])<128;o++)
s+=String.fromCharCode(i);if(o<e){let i=ue(t,e);try{return no.decode(i)}catch{H("a text is not UTF-8")}}return t.at+=e,s}var qt=ro();var U=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,Ht(n),{cause:n})}};function ro(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var Ht=t=>t instanceof Error?t.message:String(t),oe=(t,e)=>new U(t,e,{mayHaveRun:!1}),
Mr=t=>{let e=U.from(t);return e.mayHaveRun?e:new U(e.code,e.message,{...e,mayHaveRun:!0})},Jt=t=>t>0&&t<=16?t:2,vt=(t,e,n)=>new U(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),
Vt=t=>vt(1,"the caller cancelled the call",t),Nr=(t,e="")=>vt(4,`deadline exceeded${e}`,t);var Gt=100,so=64<<20,oo=12,$n=8,Tn=56,Mn=new Uint8Array(8),$r=new DataView(Mn.buffer);function R(t,e,n){let r;return{name:t,fields:()=>r??=io(e,n?.()??[])}}function Cn(t,e){
let n=ht(256);return Et(n,t,e),bt(n)}var An=(t,e)=>kt(W(e),t,0);function Et(t,e,n){t.depth=Gt,Rr(t,e,n)}function kt(t,e,n){return t.depth=Gt,t.memory=Math.max(so,
J(t)*oo),Ir(t,e,n)??Or(t,e)}function io(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);
if(!o)throw new Error(`invalid table entry: ${s}`);let[,i,a,c,d,p]=o,u=p==="m"?co(e[r++]):p==="e"?uo(e[r++]):Cr[p],f=Cr[d[1]??""],v=f?[2,f.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,b=a?n.get(a):void 0;a&&!b&&n.set(a,b=[]);let A={name:a??i,of:u,isOptional:d==="?",key:f,head:v,case:i,number:+c,all:b};return b?.push(A),
A})}var St=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Rr(t,e,n){if(!t.depth--)throw Ar(e.name,`nests deeper than ${Gt}`);P(t,
8),P(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)ao(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(P(t,3),D(t,d?d.number:0));let p=t.isFlat?s:d;p&&wt(t,p.of,p===d?c?.value:void 0)}}}catch(s){throw s instanceof
U?s:Ar(`${e.name}.${r}`,s.message)}t.depth++}function ao(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=St(e)),r){let i=n,a=n;for(let c of r)
P(t,c);if(D(t,s?i.size:a.length),s)for(let[c,d]of i)wt(t,s,c),wt(t,o,d);else for(let c of a)wt(t,o,c)}else n===void 0&&e.isOptional&&!t.isFlat?P(t,0):wt(t,o,n)}
function wt(t,e,n){e.table||P(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Ir(t,e,n){if(Be(t)===0)return void t.at++;ke(t,8),G(t),t.depth--||H(`${e.name} n\
ests deeper than ${Gt}`);let r=e.fields();Rn(t,Tn+$n*r.length);let s={},o="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(s[a]=void 0),n>0&&!J(
t))n--,c||(s[a]=St(i));else if(!c)s[a]=lo(t,i);else if(p&&Be(t)===3){t.at++,o+=` ${a} `;let u=I(t),f=c.find(v=>v.number===u);f?s[a]={case:f.case,value:Nn(t,f.of)}:
u&&H(`${e.name}.${a} has no member ${u}`)}else if(!o.includes(` ${a} `)){let u=jt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(s[a]={case:i.
case,value:u})}}return t.depth++,s}function lo(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&Be(t)===0)return t.at++,St(e);if(!n)return jt(t,s);for(let a of n)
ke(t,a);let o=I(t),i=St(e);for(;o-- >0;)Rn(t,r?Tn:$n),r?i.set(jt(t,r),Nn(t,s)):i.push(Nn(t,s));return i}function jt(t,{wire:e,table:n,take:r}){return n||ke(t,e),
r(t)}var Nn=(t,e)=>jt(t,e)??Or(t,e.table);function Or(t,e){let n={},r=e.fields();Rn(t,Tn+$n*r.length);for(let s of r)n[s.name]=s.all?void 0:St(s);return n}function Rn(t,e){
(t.memory-=e)<0&&H("exceeds the memory limit")}var Me=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),co=t=>Me(3,()=>{},(e,n)=>n?Rr(e,t,n):P(e,0),e=>Ir(e,t,
0),t);function uo(t){let e=Object.values(t);return Me(10,()=>e[0],(n,r)=>{let s=e.indexOf(r),o=r+2147483648;xt(s>=0||r===(r|0)&&r<0&&o>=e.length,r),D(n,s<0?o:s)},
n=>{let r=I(n)>>>0,s=r-2147483648;return r>=e.length&&(s>=0||e.includes(s))&&H(`an enum has the index ${r}`),e[r]??s})}var Wt=(t,e)=>Me(t?13:11,()=>e?0:0n,(n,r)=>{
let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return D(n,i);xt((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>
63n:s;for(;a>>53n;a>>=7n)P(n,Number(a&127n)|128);D(n,Number(a))},n=>{let{at:r}=n,s=I(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<
n.at;i+=7n)o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||H("an integer is beyond 2^53"),Number(
s)):BigInt(s)}),Tr=(t,e)=>Me(t,()=>0,(n,r)=>{$r[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)P(n,Mn[s])},n=>{for(let r=0;r<e;r++)Mn[r]=G(n);return $r[e>
4?"getFloat64":"getFloat32"](0)}),Cr={b:Me(7,()=>!1,(t,e)=>P(t,+e),t=>{let e=G(t);return e>1&&H(`a bool is ${e}`),e>0}),i:Me(12,()=>0,(t,e)=>{xt(e===(e|0),e),D(
t,(e<<1^e>>31)>>>0)},t=>{let e=I(t);return e>>>1^-(e&1)}),u:Me(10,()=>0,(t,e)=>{xt(e===e>>>0,e),D(t,e)},t=>I(t)>>>0),l:Wt(!0,!1),w:Wt(!1,!1),L:Wt(!0,!0),W:Wt(!1,
!0),f:Tr(14,4),d:Tr(15,8),s:Me(5,()=>"",(t,e)=>{xt(typeof e=="string",e),P(t,10),Ee(t,e)},t=>(ke(t,10),z(t))),y:Me(4,()=>new Uint8Array,(t,e)=>{P(t,10),De(t,e)},
t=>(ke(t,10),ue(t).slice()))},Ar=(t,e)=>oe(3,`${t} ${e}`);function xt(t,e){if(!t)throw new Error(`cannot be ${String(e)}`)}var On=16,Fr=65536,Lr=256,po=61440,mo={metadata:{}},In=t=>t.endsWith("-bin"),Ur=(t,e)=>In(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${In(
t)?"":e}`),Fn=t=>typeof t=="string"?be(t):t;function Ln(t,{isBackward:e,timeout:n,metadata:r={},status:s}){let{at:o}=t;ge(t,On,()=>{e&&ge(t,4,()=>{}),n!==void 0&&
ge(t,1,()=>D(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Ur(c,d))throw oe(3,`invali\
d metadata entry: ${c}`);if(a+=c.length+d.length+8,p>=Lr||a>po)throw oe(8,"too much metadata");ge(t,2,()=>{Ee(t,c),de(t,Fn(d))})}),s){let{code:c,details:d,mayHaveRun:p}=s;
ge(t,3,()=>{D(t,c),t.at-o+d.length+32<=Fr&&de(t,d)}),p||ge(t,5,()=>{})}})||(t.at=o)}function Xt(t){if(Be(t)!==On)return mo;t.at++;let e=W(ue(t));J(e)>Fr&&H("a p\
refix is too long");let n=Object.create(null),r={metadata:n},s=0;for(;J(e);){let o=G(e),i=W(ue(e));if(o===1)r.timeout=I(i,10)/1e3;else if(o===2){let a=z(i),c=In(
a)?_e(i):z(i,J(i));(!Ur(a,c)||a in n||++s>Lr)&&H("invalid metadata"),n[a]=c}else o===3?(r.code=Jt(I(i,10)),r.details=_e(i)):o===5&&(r.isRefused=!0)}return r}function Pr(t){
let e=1;for(;t[e]>127;)e++;return t[0]===On&&t[e+1]===4&&t[e+2]===0}function Kt(t,{metadata:e,code:n,details:r,isRefused:s}){if(Be(t)===6)return t.at++,ke(t,5),
ke(t,10),new U(n??2,z(t),{metadata:e,mayHaveRun:!s,...r&&{details:r}})}function Dr(t,e,n){Ln(t,{isBackward:n,status:e,metadata:e.metadata}),de(t,[6,5,10]),Ee(t,
e.message)}var qe=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)});function Br(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw oe(9,`incompatib\
le layouts of ${t.name}`);return 1}var _r=({added:t=[0,0]},e,n)=>e*t[n];function Un(t,e){let n=s=>s.match(/../g)?.forEach(o=>P(t,parseInt(o,16)));Ee(t,e.name),n(
e.fingerprint),D(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let s of[...e.operations].sort((o,i)=>o-i))D(t,s-r),r=s}function qr(t){let e=()=>{let r="";
for(;r.length<16;)r+=G(t).toString(16).padStart(2,"0");return r},n={service:z(t),fingerprint:e(),compatible:[],operations:[]};for(let r=I(t);r>0;r--)n.compatible.
push(e());for(let r=0;J(t);)n.operations.push(r+=I(t));return n}var Pn=5<<20,yo=1024,go=65536,nt=10,He=16384,ho=He/2,bo=256,zt=262144,vo=1e5,wo=64<<20,xo=65536,So=2e3,Eo=5,ko=1e4,Hr="the server is going away",Mo=2147483647,Yt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),Mo));function Jr(t,e,n,r,s){let o=ht(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,f=0,v=0,b=0,A=32767,E=[0,Pn,1/0,He,0],T=!1,X=!1,
ie,ee=nt,te=0,ne=!1,K=0,V=!1,j=!1,re=0,fe,ae=y=>{if(!(T||!ze))try{y(ze)}catch(w){q(Ht(w));try{ze.close()}catch{}}},Y=()=>{o.at&&(V=!1,j=!0,ae(y=>y.send(bt(o))),
o.at=K=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),ae(y=>{y.buffered()>wo&&F("too many unsent bytes")}))},m=()=>{o.at!==K?(K=o.at,queueMicrotask(m)):
(ne=!1,Y())},g=(y,w,S,B)=>{let{at:Ye}=o;try{_t(o,nt),o.at+=nt,S?.(o,B);let me=o.at,Ze=me-Ye-nt,xr=Math.max(E[1],yo);if(Ze>xr)throw oe(8,`the message has ${Ze} b\
ytes of at most ${xr}`);o.at=Ye;for(let Qs of[15,y,w,Ze>>>16,Ze])kr(o,Qs);o.at=me}catch(me){throw o.at=Ye,me}o.at>xo?Y():ne||(ne=!0,K=0,queueMicrotask(m))},h=(y,{
code:w,message:S})=>g(y,7,B=>{D(B,w),de(B,be(S.slice(0,256)))}),x=(y,w)=>{g(y,5,D,0),h(y,w)},N=y=>{if(!T){if(re=0,ie){if(de(ie,y),ie.at<ee)return;y=bt(ie),ie=void 0}
try{let w=0,S=B=>y[w+B]<<8|y[w+B+1];for(;!T&&!(y.length<(ee=w+nt));w=ee){S(0)!==15&&H("a header without its magic");let B=S(6)*65536+S(8);if(B>Pn&&H(`a packet o\
f ${B} bytes`),y.length<(ee+=B))break;O(S(2),S(4),y.subarray(w+nt,ee))}w<y.length&&(ee-=w,de(ie=ht(),y.subarray(w)))}catch(w){F(`the server broke the protocol: ${w.
message}`)}}},O=(y,w,S)=>{let B=W(S),Ye=i.get(y);if(w>=10)if(L.isUp||H("a packet before HELLO"),Pr(S)){if(le)return le.packet(y,w,S,!1)}else{let me=d[y%He];if(me?.
id===y&&me.operation===w)return pe(y),e.answered(),me.isGivenUp?u--:e.replied(me,S),k();if(s.filter(Ze=>Ze.packet(L,y,w,S)).length)return}else if(w<2){S.length&&
H("a PING with a body"),w===1?L.isUp||F("the server is a compat peer"):V||(V=!0,g(0,1));return}else{if(w===3&&!L.isUp)return se(B);if(w===4)return $();if(w===6)
return le?.cancel(y,I(B));if(w===8)H("a stray hand-off");else{if(Ye&&w!==3&&w<8)return e.answered(),Ye.packet(w,S);if(w===2){let me=y-A&32767;if(y>=32768&&me&&me<=
16384)return A=y,le?le.packet(y,2,S,!0):x(y,oe(12,"no service is served"))}}}++te>vo&&F("too many stray packets")},se=y=>{for((J(y)>go||z(y,4)!=="fris"||!G(y))&&
H("no HELLO");J(y);){let w=G(y),S=W(ue(y));if(w in E)E[w]=I(S);else if(w===32||w===33)try{let B=qr(S);(w===32?a:c).set(B.service,B)}catch{}}E[3]=Math.min(E[3],He),
L.isUp=!0,clearTimeout(Ke),e.room(L)},pe=y=>{d[y%He]=void 0,p--===E[3]&&e.room(L)},C=(y,w,S)=>{i.set(w,y),y.begin(L,w,E[4],S)},k=()=>{X&&p===u&&!i.size&&!le?.progress.
size&&queueMicrotask(()=>F(Hr))},$=()=>{X||(X=!0,e.closing(L,Hr),k())},F=y=>{T||(Y(),ae(w=>w.close()),q(y))},q=y=>{if(T)return;T=!0,clearInterval(fe),clearTimeout(
Ke),e.closing(L,y),L.isUp=!1;let w=new U(14,`the connection was lost: ${y}`);for(let S of d)S&&!S.isGivenUp&&e.lost(S,w);for(let S of i.values())S.lost(w);le?.down(
w);for(let S of s)S.down(L,w)},L={isUp:!1,write:g,reset:h,refuse:x,fits(y){let w=a.get(y.name);if(w)return w.fingerprint===y.fingerprint||n.includes(y)?Br(y,w):
void 0;for(let S of a.values())if(S.operations.some(B=>y.operations.includes(B)))throw oe(12,`the server has ${S.service} instead of ${y.name}`);return 0},call(y,w){
if(p>=E[3])return!1;do f=f+1&65535;while(d[f%He]);let S=y.id=f;d[S%He]=y,p++;try{g(S,y.operation,w,y)}catch(B){throw pe(S),B}return!0},cancel(y){T||(y.isGivenUp=
!0,g(y.id,6,D,y.operation),++u>=ho&&$(),k())},open(y,w,S){if(!E[2])throw oe(12,"the server does not accept streams");if(v>=Math.min(E[2],28672))return!1;do b=b%
32767+1;while(i.has(b));return v++,C(y,b,w),g(b,2,S),!0},accept:C,over(y){i.delete(y),y<32768&&(v--,e.room(L)),k()},drain:$,closeIfIdle:k},le=r?.on(L,c),Ke=Yt(ko,
()=>F("handshake timeout")),gt=()=>{o.isFlat=ze?.isFlat,g(0,3,y=>{de(y,be("fris"));let w=le?bo:0;[Pn,w,w,zt].forEach((S,B)=>ge(y,B+1,()=>D(y,S)));for(let S of r?.
services??[])ge(y,32,()=>Un(y,S));for(let S of n)ge(y,33,()=>Un(y,S))}),g(1,0),Y(),!T&&(fe=setInterval(()=>{if(++re>Eo)return F("keepalive timeout");(re>1||!j)&&
g(0,0),j=!1;let y=performance.now();for(let w of d)w&&w.until<=y&&!w.isGivenUp&&e.expired(w)},So))},ze,vr=y=>ze?y():queueMicrotask(y),wr=y=>vr(()=>q(y));try{ze=
t({open:()=>vr(gt),data:N,close:wr})}catch(y){wr(Ht(y))}return L}function Zt(t,e){let n=[],r=!1,s=()=>{},o=c=>{r||=c,s()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>s=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,o(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),s()},end:o}}var Dn=64,No=4,$o=4096,Bn=(t,e)=>t instanceof Se?new U(13,`not a valid ${e.name}: ${t.message}`):U.from(t);function Vr(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
f=!0,v=!1,b=!1,A=()=>{},E,T=()=>!u&&!f,{messages:X,items:ie,put:ee,end:te}=Zt(m=>{let g=m.length+Dn;d-=g,p+=g,f&&p*No>=zt&&(o?.write(i,5,D,p),p=0);try{let h=W(m),
x=Xt(h);if(h.at&&(s?.(ne.metadata=x.metadata),!J(h)))return;let N=Kt(h,x);if(N)throw N;return kt(h,e,a)}catch(h){throw Bn(h,e)}},()=>n?re(!0):ae()),ne=Object.assign(
X,{metadata:{}}),K=()=>{T()&&(A(),E?.(),o?.over(i),o=E=void 0,r())},V=()=>{u&&(u=!1,o?.write(i,7),K())},j=m=>{u=f=!1,te(m),K()},re=(m,g=Vt(!0))=>{T()||o?.reset(
i,g),ie.length=0,j(m)},fe=m=>re(m,m),ae=()=>{ie.length=0,v=!0},Y=m=>{if(!o||!u)return;let g=m instanceof U;o.write(i,2,h=>{let{at:x}=h;g?Dr(h,m,!1):Et(h,t,m),c-=
h.at-x+Dn}),g&&V()};return{messages:ne,begin(m,g,h,x){o=m,i=g,c=h,a=x},packet(m,g){if(m===2)return!f||v?void 0:d+p>=zt?fe(new U(8,"the peer exceeded its credit")):
(d+=g.length+Dn,ee(new Uint8Array(g)));let h=W(g);if(m===5){let x=I(h,10);b||=!x,(c+=x)>0&&A()}else if(g.length){let x=Jt(I(h));j(new U(x,new TextDecoder().decode(
_e(h).subarray(0,$o)),{mayHaveRun:!b}))}else f=!1,te(!0),K()},send:Y,async pump(m,g){try{let h=Symbol.asyncIterator in m?m[Symbol.asyncIterator]():m[Symbol.iterator]();
for(E=async()=>{try{await h.return?.()}catch{}};;){for(;c<=0&&!T();)await new Promise(O=>A=O);if(T())return;let{done:x,value:N}=await h.next();if(T())return;if(x)
break;Y(N)}E=void 0,V()}catch(h){if(!n)throw h;re(g?Mr(h):U.from(h))}},finish:V,discard:ae,fail:fe,lost:j}}var To=3e4,Co=5e3,Ao=20,Wr=2e3,jr=10,Mt=class{constructor(e,{timeout:n,patience:r=Co,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=jr,p=0,u,f=!1,v="",b=[new Set,
new Set],A=({method:{sends:m,receives:g}})=>b[m||g?1:0],E=new Set,T=[],X=()=>{a||u||f||!(b[0].size||b[1].size||i)||(p=performance.now(),a=Jr(e,ie,[...E],o,T))},
ie={room:m=>queueMicrotask(()=>{for(let g of b)for(let h of g){if(a!==m||!ee(h,m))break;g.delete(h)}}),closing(m,g){a===m&&(a=void 0,m.isUp&&performance.now()-p>=
Wr?c=0:(v=g,clearTimeout(u),u=Yt(Math.random()*Math.min(Ao*2**Math.min(c++,16),Wr),()=>{u=void 0,X()})),X())},answered:()=>void(c=0),replied(m,g){let h=m,{method:{
reply:x},options:{onMetadata:N}}=h;K(h);try{let O=W(g),se=Xt(O),pe=Kt(O,se);if(pe)throw pe;O.at&&N?.(se.metadata),h.resolve(kt(O,x,h.missing)),d<jr&&(d+=.1)}catch(O){
h.reject(Bn(O,x))}},expired:m=>ne(m),lost(m,g){let h=m;if(h.link=void 0,!h.method.idempotent||d<1)return V(h,g);d--,te(h)}},ee=(m,g)=>{let{service:h,method:x}=m;
try{let N=h?g.fits(h):0;return N!==void 0?(m.missing=_r(x,N,1),m.start(m,g)&&(m.isSent=!0)):(E.add(h),c=0,g.drain(),!1)}catch(N){return V(m,U.from(N)),!0}},te=m=>{
if(!(a?.isUp&&ee(m,a))){if(f)return V(m,Gr());m.patientUntil=performance.now()+r,A(m).add(m),ne(m),X()}},ne=m=>{let{until:g,isSent:h,patientUntil:x}=m,N=performance.
now(),O=A(m).has(m)&&!a?.isUp&&`no connection to the server${v&&`: ${v}`}`;clearTimeout(m.timer),N>=g?V(m,Nr(h,O?`; ${O}`:"")):N>=x&&O?V(m,vt(14,O,h)):m.timer=Yt(
(N<x?Math.min(g,x):g)-N,()=>ne(m))},K=m=>{A(m).delete(m),clearTimeout(m.timer),m.options.signal?.removeEventListener("abort",m.abort)},V=(m,g)=>{K(m),m.link?.cancel(
m),m.reject(g)},j=(m,{sentTimeout:g,until:h,options:{metadata:x}})=>{(g!==void 0||s||x)&&Ln(m,{timeout:g&&h-performance.now(),metadata:{...s,...x}})},re=(m,g)=>{
j(m,g),Et(m,g.method.request,g.request)},fe=(m,g)=>{let h=g.call(m,re);return h&&(m.link=g),h},ae=(m,g,h,x,N,O,se,pe,C=1/0)=>{let{signal:k}=x,$={id:0,operation:g.
operation,until:performance.now()+(N??C),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:m,method:g,request:h,options:x,sentTimeout:N,
start:O,resolve:se,reject:pe,abort:k&&(()=>V($,Vt($.isSent)))};return k?.aborted?$.abort?.():(k?.addEventListener("abort",$.abort),N!==void 0&&ne($),(N===void 0||
N>0)&&te($)),$},Y=(m,g,h,x={})=>{let N,O=Vr(g.request,g.reply,!0,()=>N&&K(N),x.onMetadata);return N=ae(m,g,h,x,x.timeout,(se,pe)=>{let C=pe.open(O,se.missing,k=>{
j(k,se),P(k,9),D(k,se.operation)});return C&&O.pump(h,g.sends),C},()=>{},O.fail),O};this.unary=(m,g,h,x={})=>new Promise((N,O)=>void ae(m,g,h,x,x.timeout??n,fe,
N,O,To)),this.serverStreaming=(m,g,h,x)=>Y(m,g,[h],x).messages,this.twoWay=(m,g,h,x)=>Y(m,g,h,x).messages,this.clientStreaming=async(m,g,h,x)=>{let{messages:N}=Y(
m,g,h,x),{done:O,value:se}=await N.next();if(O)throw new U(13,"there is no reply");return N.return?.(),se},this.name=m=>void E.add(m),this.mount=m=>void T.push(
m),this.connected=()=>new Promise((m,g)=>{ae(void 0,{},void 0,{},void 0,(h,x)=>(K(h),m(x),!0),m,g)}),this.close=()=>{f=!0,clearTimeout(u);for(let m of b)for(let g of m)
V(g,Gr());a?.drain()},i&&queueMicrotask(X)}},Gr=()=>vt(9,"the channel is closed",!1);async function Qt(t){let e;do e=await t.connected();while(!e.isUp);return e}var rt=65280,Ro=16<<20,_n=64,Io=65536,Oo=4,en={now:0,last:1,oldest:2},Xr=t=>oe([8,12,7][G(t)-3]??3,z(t,J(t))),Nt=class{constructor(e){this.channel=e;this.requests=
new Map;this.last=0;let{requests:n}=this;e.mount({packet:(r,s,o,i)=>{if(o<rt)return!1;!s&&o===rt+5&&(this.refused??=Xr(W(i)));for(let[a,c]of n)(!s||s===a)&&c.packet(
r,s,o-rt,W(i));return!0},down(r,s){for(let o of[...n.values()])o.down(r,s)}})}subscribe(e,{group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){
(await Qt(this.channel)).write(0,rt+2,r=>{De(r,be(e)),de(r,Fn(n))})}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.refused=void 0,
e)throw e}async request(e,n,r="",s){let{requests:o}=this,i=await Qt(this.channel);do this.last=this.last%65535+1;while(o.has(this.last));let a=this.last;return new Promise(
(c,d)=>{let p=0,u=0,f=!1,{items:v,messages:b,put:A,end:E}=Zt(C=>(p-=C.payload.length+_n,C),()=>{o.delete(a)&&n!==void 0&&i.isUp&&i.write(a,rt+1)}),T=C=>{o.delete(
a),d(C),E(C)},X=r?[]:n?.split(".")??[],ie=X[X.length-1]===">",ee=C=>{let k=C.split(".");return(ie?k.length>=X.length:k.length===X.length)&&X.every(($,F)=>$===">"||
$==="*"||$===k[F])},te=e===0&&!r&&s!==void 0,ne=typeof s=="object",K=ne||s===void 0?en.oldest:en[s],V=new Map(ne?[[n,{...s,offset:s.offset+1}]]:[]),j=new Map,re=0,
fe="",ae=!1,Y=!1,m=!1,g=!1,h=!1,x=C=>{i.write(a,rt+C,k=>{if(n!==void 0&&De(k,be(n)),C===6){P(k,K);for(let[$,F]of V){Ee(k,$);for(let q=0;q<16;q+=2)P(k,parseInt(F.
epoch.slice(q,q+2),16));D(k,F.offset)}}else de(k,be(r))})},N=()=>{h=!0,Y&&(m||!(te&&g))&&(f=!0),c(b)},O=C=>Array.from(ue(C,8),k=>k.toString(16).padStart(2,"0")).
join(""),se=(C,k,$)=>{if(k===5&&C&&!h&&te&&$.bytes[$.at]===Oo)m=!0,x(0);else if(k===6&&C&&$.bytes[$.at]===0){G($),g=G($)===1;let F=O($);re=I($,10);let q=fe!==""&&
fe!==F,L=!n?.match(/[*>]/)&&V.size>0;fe=F,N(),m=!1,f||=L?!re:q}else if(k===7)for(;J($);){let F=z($),q={epoch:O($),offset:I($,10)};if(!h||!C&&!ee(F))continue;let L=j.
get(F);C&&!L?(re--,L=V.get(F)??(ae?{...q,offset:1}:void 0)):!C&&L?.epoch!==q.epoch&&(L=void 0),L&&g&&(L.epoch===q.epoch&&L.offset<=q.offset?u+=q.offset-L.offset:
f=!0),j.size>=Io&&(j.clear(),m=!0),j.set(F,q)}else return!1;return!0},pe=async()=>{try{let C=await Qt(this.channel);if(!o.has(a))return;i=C,x(te?6:0)}catch(C){let k=U.
from(C);if(k.code===14&&o.has(a))return pe();T(k)}};o.set(a,{packet(C,k,$,F){if(!(C!==i||te&&se(k,$,F)))if($===2){let q=z(F);if(!k&&(!h||!ee(q)))return;let L=_e(
F),le=j.get(q);for(le&&j.set(q,{...le,offset:le.offset+1}),p+=L.length+_n;p>Ro&&v.length;){let Ke=v.shift();p-=Ke.payload.length+_n;let gt=v[0];u+=Ke.lagged+1,f||=
Ke.reconnected,gt&&(gt.lagged+=u,gt.reconnected||=f,u=0,f=!1)}A({topic:q,payload:L,position:le,lagged:u,reconnected:f}),u=0,f=!1}else $===4?te&&g&&h||(u+=I(F,10)):
k&&(J(F)?T(Xr(F)):N())},down(C,k){if(C===i){if(n===void 0||!h&&!Y)return T(k);if(h)if(re>0)for(let[$,F]of j)V.set($,F);else V=m?new Map:j,K=m?en.now:en.oldest,ae=
!m;j=new Map,h=!1,Y=!0,pe()}}}),x(te?6:e)})}};var qn="frisbee.1";function Hn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let s=new n(String(t),[qn,...e]);return s.binaryType="arraybuffer",s.onopen=()=>{s.protocol===qn?r.open():s.close()},
s.onmessage=({data:o})=>{o instanceof ArrayBuffer?r.data(new Uint8Array(o)):s.close()},s.onerror=()=>{},s.onclose=({code:o,reason:i})=>{r.close(`the WebSocket w\
as closed (${o}${i&&`, ${i}`})`)},{send:o=>s.send(o),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var Fo=64;var tn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of ve(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of ve(e))i===
2?n=Ne(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=Po(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>Fo)throw new Se("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",f=!1;for(let{number:E,bytes:T}of ve(e))E===1?u=Ne(T):E===2?a.push(T):E===3?c.push(T):E===4?d.push(T):E===7?f=Qr(T,7):E===8&&p.push({name:Yr(T),docs:o.
get(`${s},8,${p.length}`)??""});let v=[...r,u],b=zr(n,v),A=a.map((E,T)=>Lo(E,o.get(`${s},2,${T}`)??""));this.messages.set(b,{name:b,package:n,path:v,docs:o.get(
s)??"",fields:A,oneofs:p,isEntry:f}),c.forEach((E,T)=>this.declare(E,n,v,`${s},3,${T}`,o,i+1)),d.forEach((E,T)=>this.declareEnum(E,n,v,`${s},4,${T}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of ve(e)){if(p===1&&(a=Ne(u)),p!==2)continue;let f=0;for(let v of ve(u))v.number===2&&(f=v.low|0);i.push({name:Yr(u),number:f,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=zr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},Zr=t=>t===11||t===10||t===
14,zr=(t,e)=>[...t?[t]:[],...e].join(".");function Lo(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of ve(t))u.number===1?n=Ne(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=Ne(u.bytes).replace(/^\./,""):u.number===8?p=Qr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Ne(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new Se(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,f)=>f.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var Uo=new Uint8Array,Ne=t=>z(W(t),t.length);function*ve(t){
let e=W(t);for(;J(e);){let n=I(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(I(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:Uo,
low:o>>>0}}else if(s===2)yield{number:r,bytes:ue(e,I(e)),low:0};else if(s===1||s===5)ue(e,s===1?8:4);else throw new Se(`a field of the wire type ${s}`)}}function Yr(t){
for(let{number:e,bytes:n}of ve(t))if(e===1)return Ne(n);return""}function Qr(t,e){for(let{number:n,low:r}of ve(t))if(n===e)return r!==0;return!1}function Po(t){
let e=new Map;for(let{number:n,bytes:r}of ve(t)){if(n!==1)continue;let s="",o="",i="";for(let c of ve(r))if(c.number===1){let d=W(c.bytes),p=[];for(;J(d);)p.push(
I(d));s=p.join(",")}else c.number===3?o=Ne(c.bytes):c.number===4&&(i=Ne(c.bytes));let a=o||i;a&&e.set(s,nn(a))}return e}var nn=t=>t.replace(/^ /gm,"").trim();var Oe=t=>`f${t.number}`,ot=t=>`o${t}`,Jn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
st=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=Bo(this.schema,
r),o=s.map(c=>`${Oe(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>Zr(c.kind)),a=R(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Jn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Jn[o.kind]}${Jn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${ot(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=Do(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},Do=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Bo(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function es(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:f})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:f})),i=qe(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var Vn={POLYGLOT:0,PROTOBUF:1},$t={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},_o=R("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),qo=R("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Ho=R("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Wo]),Jo=R("fr\
pc.reflection.v1.ListRequest","etag:s"),Vo=R("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[$t]),Wo=R("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Vn,Vo]),it=qe("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Jo,reply:Ho,receives:!0,
idempotent:!0},files:{operation:65001,request:qo,reply:_o,receives:!0,idempotent:!0}});var ts=32<<20,$e=t=>`${t.service.name}/${t.name}`,rn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Hn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Mt(o,
{stayConnected:!0}),this.channel.name(it),this.topics=new Nt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let f of n.serverStreaming(
it,it.methods.list,{etag:e?.etag??""},{metadata:r})){if(f.notModified)return;o||=f.etag;for(let v of f.services){let b=s.get(v.name);b?b.methods.push(...v.methods):
s.set(v.name,v)}}let i=[],a=0;for await(let{data:f}of n.serverStreaming(it,it.methods.files,{},{metadata:r}))if(i.push(f),a+=f.length,a>ts)throw new U(qt.RESOURCE_EXHAUSTED,
`the schema has more than ${ts} bytes`);let c=new Uint8Array(a),d=0;for(let f of i)c.set(f,d),d+=f.length;let p=new tn(c),u=new st(p);return{etag:o,schema:p,services:[
...s.values()].map(f=>jo(f,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function jo(t,e){let n,r=o=>{if(t.codec!==Vn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=es(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==$t.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:nn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===$t.NO_SIDE_EFFECTS?"no side effects":o.idempotency===$t.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:nn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var sn=t=>Object.entries(qt).find(([,e])=>e===t)?.[0]??String(t);var Go=50;function on(t,e,n){let r=t.slice(-Go).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
s)},l("span",{className:"muted"},et(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},sn(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},ce(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var _=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},Q=()=>Object.create(null),jn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Gn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Je=t=>Gn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Fe(t){try{return JSON.parse(t||"{}")}catch(e){throw new _(
"",e.message)}}function Ve(t,e,n,r=""){let s=Zo(t,e,n,r);if(s)return s;if(!jn(n))throw new _(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(f=>f.jsonName===a||f.name===a),p=r?`${r}.${a}`:a;if(!d)throw new _(p,`${e} has no such field${Xo(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Ko(t,d,c,p);if(d.oneof===void 0)i[Oe(d)]=u;else{let f=ot(d.oneof);if(i[f])throw new _(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[f]={case:Oe(d),value:u}}}return i}var Xo=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Ko(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!jn(n))throw new _(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[zo(o,a,r),Wn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Wn(t,e,n,r);if(!Array.isArray(n))throw new _(r,"a list is an array");return n.map((a,c)=>Wn(t,e,a,`${r}[${c}]`))}function zo(t,e,n){
if(t.kind!==8)return At(t,e,n);if(e!=="true"&&e!=="false")throw new _(n,`${e} is not true or false`);return e==="true"}var rs=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Yo=t=>[3,4,6,16,18].includes(
t),Xn=t=>t in rs;function Wn(t,e,n,r){if(e.kind===11)return Ve(t,e.type,n,r);if(e.kind!==14)return At(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new _(r,`${s} has no value ${Tt(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Tt=t=>JSON.stringify(t).slice(0,60);function At(t,e,n=""){let{kind:r}=t,s=rs[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new _(n,`${Tt(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new _(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new _(n,`${i} is not from ${s[0]} to ${s[1]}`);return Yo(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new _(n,`${Tt(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new _(n,`${Tt(e)} is not true or false`);return e}if(typeof e!="string")throw new _(n,`${Tt(e)} is not a\
 string`);return r===12?we(e,n):e}function Zo(t,e,n,r){let s=Gn.test(e)&&t.message(e).fields[0];if(s)return{f1:At(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return Qo(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new _(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new _(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!jn(n))throw new _(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Ct(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new _(r,"a ListValue is an array");return{f1:n.map(o=>Ct(o,0))};case"google.protobuf.Value":return Ct(n,0)}}function Qo(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new _(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Ct(t,e){if(e>90)throw new _(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Ct(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,Ct(s,e+1)]))})}function Rt(t,e,n){let r=ni(t,e,n);if(r!==void 0)
return r;let s=Q();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[ot(o.oneof)],a=o.oneof===void 0?n[Oe(o)]:i?.case===Oe(o)?i.value:void 0;if(a===
void 0)continue;let c=ei(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function ei(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=Q();for(let[o,i]of n)s[String(o)]=an(t,r,i);return s}return Array.isArray(n)?n.map(s=>an(t,e,s)):an(t,e,n)}function an(t,e,n){return e.
kind===11?Rt(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Te(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?ti(n):n}function ti(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function ni(t,e,n){let r=Gn.test(e)&&t.message(e).fields[0];if(r)return an(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${ns(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${ns(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return ss(n);case"google.protobuf.ListValue":return n.f1.map(ln);case"google.protobuf.Value":return ln(n)}}function ss(t){
let e=Q();for(let[n,r]of t.f1)e[n]=ln(r);return e}function ln(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?ss(e.value):e.case==="f6"?e.value.f1.map(
ln):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var ns=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Te(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function we(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new _(e,"it is no base64")}}function at(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var We=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var je=t=>zn(JSON.stringify(t)),zn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ce=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${zn(t).replace(/'/g,"'\\''")}'`,os=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:Te(n)]);function is({method:t,
requests:e,metadata:n,timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Ce(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of os(n))i.push(`-H ${Ce(`${p}: ${u}`)}`);let a=Ce(`${s}/${$e(t)}`);if(!o)return[...i,`-d\
 ${Ce(je(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(je);return[`printf '${c.map(p=>`\\0${ri(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Ce).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ri=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function as({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Ce(a)}`,Ce($e(t))];for(let d of e)c.push(Ce(je(d)));for(let[d,p]of os(n))c.
push(`-H ${Ce(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var pn=t=>t.replace(/\W/g,"_")||"_",ls=t=>pn(t).replace(/^_(?=\d)/,"-"),cs=t=>pn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),It=t=>cs(t).map(e=>e.toLowerCase()).join("_")||"_",Ge=t=>cs(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",cn=t=>Ge(t).replace(/^./,e=>e.toLowerCase()),si=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),un=t=>si.has(It(t))?/^(self|super|crate)$/.test(It(t))?`${It(t)}_`:`r#${It(t)}`:It(t),xe=t=>zn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ds(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=pn(n.service.name.
split(".").pop()??""),c=r.map(v=>ps(e,n.request,v,0)),d=un(n.name),p=[`let client = ${a}Client::connect(${xe(new URL(i).host)}).await?;`],u=c[0]??`${Ge(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let f=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...Object.entries(s).map(([v,b])=>typeof b=="string"?`request.metadata_mut().insert(${xe(v)}, ${xe(b)})?;`:`request.metadata_m\
ut().insert_bin(${xe(v)}, &[${[...b].join(", ")}][..])?;`)];return f.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...f),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(v=>`requests.send(${v}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(v=>`    requests.send(${v}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function us({path:t,package:e}){let n=[...t.slice(0,-1).map(un),Ge(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Kn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function ps(t,e,n,r){let s=t.message(e),o=us(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let f=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(f===void 0||f===null&&u.type!=="google.protobuf.Value")continue;let v=u.oneof===void 0?void 0:s.oneofs[u.oneof],
b=oi(t,s,u,f,r+1),A=v?v.name:u.name;c.add(A);let E=[...s.path.map(un),Ge(v?.name??"")].join("::");a.push(Kn(`${un(A)}: ${v?`Some(${E}::${Ge(u.name)}(${b}))`:b},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Kn(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${Kn("}",r)}`}function oi(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,f])=>`(${o.kind===9?`${xe(u)}.to_\
owned()`:ls(u)}, ${dn(t,i,f,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>dn(t,n,d,s)).join(", ")}]`;let a=dn(t,n,r,s),c=n.kind===11&&!Je(n.type)&&
ms(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function ms(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&ms(t,s.type,n,r))??!1)}function dn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${xe(String(n))}.parse()?`:Je(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?dn(t,s,n,r):Je(e.type)?ii(e.type,n):ps(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=Ge(s.path[s.path.length-1]??""),a=Ge(o.name);return`${us(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...we(String(n))].join(", ")}]`:e.kind===9?`${xe(String(n))}.to_owned()`:e.kind===1||e.kind===2?gs(Number(n),e.kind===1?"f64":"f32"):ls(String(n))}var lt="\
frpc::prost_types::";function ii(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${lt}FieldMask { paths: vec![${n.map(r=>`${xe(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${lt}Struct { fields: ${ys(e)} }`:t===
"google.protobuf.ListValue"?`${lt}ListValue { values: ${fs(e)} }`:Yn(e)}function Yn(t){if(t===null)return`${lt}Value::from(${lt}value::Kind::NullValue(0))`;let e=typeof t==
"string"?xe(t):typeof t=="number"?gs(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?fs(t):ys(t);return`${lt}Value::from(${e})`}var fs=t=>`vec![${t.map(
Yn).join(", ")}]`,ys=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${xe(e)}.to_owned(), ${Yn(n)})`).join(", ")}])`,gs=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function hs(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=pn(n.service.name.split(".").pop()??""),c=r.map(v=>vs(e,n.request,Ve(e,n.request,v))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${Object.entries(s).map(([v,b])=>`${je(v)}: ${typeof b=="string"?je(b):bs(b)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${cn(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${je(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var bs=t=>`new Uint8Array([${[...t].join(", ")}])`;function vs(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=Oe(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${cn(i.name)}: ${ai(t,i,n[a])}`);continue}let c=n[ot(
i.oneof)];c?.case===a&&o.push(`${cn(s[i.oneof]?.name??"")}: { case: "${cn(i.name)}", value: ${Ot(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function ai(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Ot(t,r,o)}, ${Ot(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Ot(t,e,o)).join(", ")}]`:Ot(t,e,n)}function Ot(t,e,n){return n instanceof Uint8Array?bs(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?vs(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?je(n):String(n)}var ws=new WeakMap;function ct(t,e){return ws.set(t,e),t}var Ft=t=>ws.get(t)??Q();var xs=16<<20,Zn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function Qn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function er(t){let e=Z(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return ct({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=Zn({id:e});return ct({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>Qn(s,()=>void(s.value.
trim()&&At(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:Xn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!li(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!Xn(n)?Number(i):i};return ct({element:s,id:e,get:()=>s.
value.trim()?ci(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var li=t=>t===3||t===4||t===6||t===16||t===18,ci=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function Ss(t){let e=Z(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return ct(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Es(){
let t=Z(),e,n=Zn({id:t,oninput:()=>f()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(b=>l("option",{},b))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let b=i.files?.[0];if(b){if(b.size>xs){o.textContent=`${b.
name} has more than ${xs>>20} MiB`;return}e=new Uint8Array(await b.arrayBuffer()),o.textContent=`${b.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,v.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=b=>{if(b==="text")return new TextEncoder().encode(n.value);if(b==="base64")return we(n.
value.replace(/\s/g,""));let A=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(A))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
A.match(/../g)??[],E=>parseInt(E,16))},p=(b,A)=>{let E=A==="text"?at(b):void 0;r.value=s=A==="text"&&E===void 0?"base64":A,n.value=r.value==="text"?E??"":r.value===
"hex"?We(b):Te(b),f()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,f()}},f=()=>Qn(n,()=>void d(r.value)),v=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return ct({element:v,id:t,get(){let b=e??d(r.value);return b.length>0?Te(b):void 0},set(b){c(),p(
typeof b=="string"?we(b):new Uint8Array,r.value)}},"")}function Xe(t,e,n){let r=Z(),s=Zn({id:r,placeholder:e,oninput:()=>Qn(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var di=3,fn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=$s(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??Q()}set(e){this.editor.set(e)}example(){this.set(Ms(this.schema,this.name,[]))}};function Ms(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Je(e)&&s)return ks(t,s,n);let o=Q(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(b=>b.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>di);if(!p||u||d.kind===10||a.isDeprecated)continue;let f=ks(t,d,i),v=c?.fields[0];v?o[a.jsonName]=
Object.assign(Q(),{[v.kind===9?"key":v.kind===8?"true":"1"]:f}):o[a.jsonName]=a.isRepeated?[f]:f}return o}function ks(t,e,n){switch(e.kind){case 11:return Ms(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function ui(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${mn(r)}, ${mn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${mn(e)}`}var pi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],mn=t=>pi[t.kind]||(t.type.split(".").pop()??"");function dt(t,e){
return e.kind===14?Ss(t.enumeration(e.type)):e.kind===12?Es():e.kind!==11?er(e):mi(t,e.type)}function mi(t,e){switch(e){case"google.protobuf.Timestamp":return Xe(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Xe("text","1.5s");case"google.protobuf.Fiel\
dMask":return Xe("text","name,homeAddress.city");case"google.protobuf.Struct":return Xe("json",'{ "key": "value" }');case"google.protobuf.Value":return Xe("json",
"any JSON");case"google.protobuf.ListValue":return Xe("json","[1, 2]")}let n=Je(e)?t.message(e).fields[0]:void 0;if(!n)return $s(t,e);let r=dt(t,n);return{...r,
get:()=>r.get()??Ns(n)}}var Ns=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function $s(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=bi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=fi(t,i);s.append(Ts(i.name,ui(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=Q();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:Q();for(let{take:c}of r)c(a)}}}
function Ts(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function fi(t,e){let n=t.entry(e);return n?hi(t,n):e.isRepeated?gi(()=>dt(t,e)):
e.isOptional||e.kind===11?yi(()=>dt(t,e),()=>e.kind===11?Q():Ns(e)):dt(t,e)}function yi(t,e){let n=Z(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?M(o,(r??=t()).element):M(o,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Cs=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function gi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(o),e.push(i);
let a=l("div",{className:"item"},i.element,Cs(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"quiet",onclick:()=>As(
r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Ft(o)):void 0,set(o){e=[],M(n);for(let i of Array.isArray(
o)?o:[])r(i)}}}var As=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function hi(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:er({...n,kind:n.kind===8?9:n.kind}),value:dt(t,r)};
p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("div",{className:"\
item"},p.key.element,p.value.element,Cs(()=>{s=s.filter(f=>f!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"quiet",onclick:()=>As(
i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=Q();for(let{key:d,value:p}of s)c[String(d.get()??Ft(d))]=
p.get()??Ft(p);return c},set(c){if(s=[],M(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function bi(t,e,n){let r=e.fields.filter(f=>f.
oneof===n),s=Z(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.map(f=>l("option",{
value:f.jsonName},`${f.name}: ${mn(f)}`))),c=f=>{a.value=f;let v=r.find(A=>A.jsonName===f);if(!v)return void M(o);let b=i.get(f)??dt(t,v);return i.set(f,b),b.id&&
document.getElementById(b.id)?.setAttribute("aria-label",v.name),M(o,b.element,v.docs&&l("p",{className:"docs"},v.docs)),b},{name:d,docs:p}=e.oneofs[n]??{name:"\
oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Ts(d,"oneof",p,u,!1),get(){let f=i.get(a.value);return a.value&&
f?Object.assign(Q(),{[a.value]:f.get()??Ft(f)}):Q()},set(f){let v=f,b=r.find(A=>(v[A.jsonName]??v[A.name])!==void 0);c(b?.jsonName??"")?.set(b&&(v[b.jsonName]??
v[b.name]))}}}var ut=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?we(s,o):s)}return e}set(e){M(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:Te(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},"×"));return this.rows.append(o),r}},tr=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Te(n))]));var nr=1e5,vi=90;function Rs(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return M(t,n,r,s),()=>{M(n,...wi(e)),M(r,e.isOver&&e.status&&xi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),tr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
Ei(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function wi(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${sn(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},ce(t.took),o&&`, ${o}`)]}function xi({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},at(e)??We(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&tr(t.metadata))}function Si(t){let e=t.replace(/\n\s*/g," ");return e.length<=vi?e:t}function Ei(t,e){let n=e?Si(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Dt(n.slice(0,nr)),n.length>nr&&`
… ${n.length-nr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${ce(t.at)}`),l("span",{className:"grow"}),Qe(()=>n)),r)}var ki=500,Mi=16<<20,yn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new rr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=U.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Rt(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>ki||this.chars>Mi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},rr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Ni=["Form","JSON","Copy as"],Is={curl:is,frpc:as,Rust:ds,TypeScript:hs};function sr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var gn=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new ut(()=>this.
note(""));this.timeout=l("input",{type:"text",id:Z(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=kn(Ni,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new fn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called here: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),M(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=Ve(
this.catalog.schema,this.method.request,Fe(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Fe(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=sr(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Fe(this.json.value))}),this.tab=e,e==="Form"?M(this.body,this.form?.element):e==="JSON"?M(this.body,this.json):this.attempt(()=>M(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Fe(a.json)),s=n.sends&&r&&r.
length>0?r:[Fe(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=kn(Object.keys(Is),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Is[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),Qe(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new yn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Rs(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:$e(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));M(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var $i={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Ti=R("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Ci=R("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),Ai=R("frpc.introspection.v1.CloseCount","kind:s count:w"),Ri=R("frpc.introspection.v1.CodeCount","code:i count:\
w"),or=R("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[$i]),Ii=R("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Ti,Hi,or,Pi]),Oi=R("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),Fi=R("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[or]),Li=R("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),Ui=R("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Ri]),Pi=R("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Di=R("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Ui]),Os=R("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[Ai,Ci,Wi,Di]),Bi=R("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[or,Os]),_i=R("frpc.introspection.v1.ServersReply","servers:*m",()=>[Os]),qi=R("frpc.introspe\
ction.v1.ServersRequest",""),Hi=R("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Ji=R("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[Bi]),Vi=R("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Wi=R("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),hn=qe("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:qi,reply:_i,idempotent:!0},connections:{
operation:65031,request:Li,reply:Fi,idempotent:!0},connection:{operation:65032,request:Oi,reply:Ii,idempotent:!0},watch:{operation:65033,request:Vi,reply:Ji,receives:!0,
idempotent:!0}});var mt=12e4,ir=2e3,[Le,Ue,Pe,ft]=[480,120,44,16];function ar(t){let e=ye("svg",{viewBox:`0 0 ${Le} ${Ue}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=ye("text",{x:Pe+(Le-Pe)*n,y:Ue-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function lr(t,e,n){let r=ye("text",{x:Pe-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(ye("line",{x1:Pe,x2:Le,y1:e,y2:e,class:"grid"}),r)}var pt=Ue-ft-
8;function Fs(t,e){let n=ar("Calls and errors in the last two minutes"),r=mt/ir,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/ir);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/ir))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])lr(
n,Ue-ft-pt*c,String(Math.round(i*c)));let a=(Le-Pe)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(f,v,b)=>{v>0&&n.append(ye("rect",{x:Pe+p*a+.75,width:a-1.5,y:Ue-
ft-(f+v)/i*pt,height:v/i*pt,class:b}))};u(0,d,"failed"),u(d,c,"ok")}),n}function yt(t,e){return[...t.filter(({at:n})=>e.at-n<mt),e]}var Ls=(t,e,n,r)=>e.map((s,o)=>ye(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),Us=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function bn(t,e,n,r,s,o){let i=ar(`${t}, in the last two minutes`),a=Us(e,s),c=d=>Ue-ft-d/a*pt;for(let d of[0,.5,1])lr(i,c(a*d),o(a*d));return i.append(...Ls(e,
n,d=>Le-(Le-Pe)*(r-d)/mt,c)),i}function cr(t,e,n,r){let s=Us(e,1e-9),o=ye("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...Ls(e,n,i=>120-120*(r-i)/mt,i=>19-i/s*18)),o}function Ps(t,e){let n=ar("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<mt),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)lr(n,Ue-ft-pt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Le-(Le-Pe)*(e-a-c)/mt,f=Ue-ft-pt*((s[p]??0)-o)/(i-o);n.append(ye("circle",{cx:u,
cy:f,r:2.5,class:d===0?"ok":"failed"}))}),n}function Ds(t){let e=t.slice(-40),n=ye("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(ye("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var Bs=1e3,ji=256,Gi=50,vn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===hn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(hn,hn.methods.watch,{intervalMs:Bs,connections:ji},{signal:s,metadata:r});for await(let{servers:i}of o)
M(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||M(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Bs)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,Ki(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>dr([...o.values()].map(({rates:f})=>f.at(-1)?.values[u]??0)),a=dr(n.map(u=>Number(u.streams))),c=dr(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?yt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:yt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:yt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},zi(e),l("div",{className:"plots"},
pr(["Calls of all clients in a second, ",Xi("errors")," below"],bn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,_s)),pr(["\
Connections, and ",qs("streams"),p],bn("Connections and streams",d.open,["curve","curve second"],r,4,_s)),pr(["Bytes that wait to be written",p,", and ",qs("hel\
d for clients")],bn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Lt(BigInt(Math.round(u)))))),this.table(e,o,r),Hs(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Gi).map(Yi)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.
get(o);return a&&a.calls>0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),Hs(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
o,a.toFixed(a<10?1:0),c,d,ur(i?.p50Ns),ur(i?.p99Ns),ur(i?.maxNs),cr(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),cr(`Averag\
e latencies of ${o}, in the last two minutes`,u,["curve"],r)]))}},dr=t=>t.reduce((e,n)=>e+n,0),_s=t=>String(Math.round(t)),ur=(t=0n)=>ce(Number(t)/1e6),Xi=t=>l(
"span",{className:"failed"},t),qs=t=>l("span",{className:"second"},t),pr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function Ki({figures:t},e,n,r=n){let s=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(o-e.calls);return{calls:o,failed:s,spent:i,rates:yt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?yt(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function zi({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Lt(s)} of at most ${Lt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Yi=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,
queued:o,memory:i})=>[t||"unknown",ce(Number(e)),n,n>0n?ce(Number(r)):"",s,Lt(o),Lt(i)];function Hs(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function Lt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var Zi=1e3,wn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new vn(e,r);let i=new ut(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),Zi)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${et(r.since)}`:n],["connections made",String(r.connections)],["sent",Js(r.sent)],["received",Js(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];M(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();M(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Fs(s.all,c)),l("figure",{},l(
"figcaption",{},"Latency of each call; of a stream, its duration"),Ps(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,M(this.methods,s.all.length>0&&this.table()),M(this.history,on(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(ce(o)),e(ce(i)),e(ce(a)),l("td",{},Ds(c)))})))}};function Js(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var Vs=500,Ws=2e4,xn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:Z()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:Z(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:Z(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:Z(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for all \
that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>M(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new st(e.schema)},M(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=we(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Cn(this.schema.tables.of(r),Ve(this.schema.catalog.schema,r,Fe(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
Vs&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${et(Date.now())}`),l("span",{className:"grow"}),Qe(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?Dt(o):o)))}for(this.waiting=[];this.log.childElementCount>Vs;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Rt(this.schema.catalog.schema,n,An(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${We(e.subarray(0,Ws))}`}let r=e.subarray(0,Ws);return(n==="hex"?void 0:at(r))??We(r)}};var Qi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[js,mr,Gs,Ut,yr]=[he("services"),he("main"),he("state"),he("filter"),he("keys")],Ae=new rn(`${location.origin.replace(/^http/,"w\
s")}/`,()=>ea()),En=new Bt,Sn=new Map,Ks=new xn(Ae),Re,Pt="",Xs=!1,Ie,fr=0,gr=new wn(Ae,En,()=>Re,t=>Zs(t),()=>void zs(!0));async function zs(t){let e=++fr,n=t?
void 0:Re;try{let r=await Ae.catalog(n);if(e!==fr)return;if(Pt="",r){Re=r;for(let[s,o]of Sn)o.isBusy||Sn.delete(s);Ks.know(r)}}catch(r){if(e!==fr)return;Pt=r.message}
hr(),br(),Xs=await Ae.hasBroker(),he("to-topics").hidden=!Xs}function ea(){Gs.textContent=Ae.wire==="open"?"connected":Ae.wire==="lost"?"connection lost":"conne\
cting",Gs.className=`state ${Ae.wire}`,Ae.wire==="open"&&setTimeout(()=>void zs(!1))}function hr(){let t=Ut.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>$e(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Re?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),M(js,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Ut.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=$e(c),p=sr(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&M(js,l("p",{className:"empty"},Re?"No method has this name.":Pt?"No services.":"Loading the services…"))}
function br(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Ie=void 0;let e=Re?.services.flatMap(n=>n.methods).find(n=>$e(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")M(mr,Ks.element);else if(e&&Re)Ie=Sn.get(t)??new gn(Ae,Re,
e,En),Sn.set(t,Ie),M(mr,Ie.element,na(t));else{let n=t&&Re?`The server shows no method ${t}.`:"";M(mr,Pt&&ta(),n&&l("p",{className:"notice"},n),gr.element),gr.draw()}}
function ta(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Pt}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function na(t){let e=l("\
div",{}),n=()=>M(e,on(En.all.filter(r=>r.path===t),Zs,!0));return n(),Ys=n,l("section",{className:"past"},l("h2",{},"History"),e)}var Ys=()=>{};En.listen(()=>{Ys(),
gr.draw()});function Zs(t){location.hash===`#/${encodeURI(t.path)}`?Ie?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Ie?.
restore(t),{once:!0}))}function ra(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Ie?.end():Ie?.send();else if(t.key==="Escape"&&!yr.open){if(!Ie?.cancel())return}else if(t.key==="/"&&!n)Ut.focus();else if(t.key===
"?"&&!n)yr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ra(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",br);Ut.addEventListener("input",hr);he("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Ut.focus()});he("help").addEventListener("click",()=>yr.showModal());M(he("key-list"),...Qi.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));hr();br();})();
