"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return yr(r,...n),r}function yr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function M(t,...e){t.replaceChildren(),yr(t,...e)}function ce(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function ue(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var Ws=0,Y=()=>`e${++Ws}`;function bn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function We(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function It(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Rt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function re(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var je=t=>new Date(t).toTimeString().slice(0,
8);var js=new TextEncoder,Gs=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),gr=40,he=class extends Error{},F=t=>{throw new he(t)},P=t=>({bytes:t,at:0,depth:0,memory:0}),
ct=(t=64)=>P(new Uint8Array(t)),pe=t=>js.encode(t);function Ot(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.
set(n.subarray(0,r)))}function U(t,e){t.at===t.bytes.length&&Ot(t,1),t.bytes[t.at++]=e}function hr(t,e){U(t,e>>8),U(t,e)}function B(t,e){for(;e>127;e=Math.floor(
e/128))U(t,e|128);U(t,e)}function j(t,e){Ot(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function Fe(t,e){B(t,e.length),j(t,e)}function Le(t,e){let{at:n}=t,{length:r}=e,
s=r>gr?128:0;U(t,r);for(let o=0;o<r&&s<128;o++)U(t,s=e.charCodeAt(o));s>127&&(t.at=n,Fe(t,pe(e)))}function de(t,e,n){U(t,e);let{at:r}=t;n();let s=t.bytes.slice(
r,t.at);return t.at=r,Fe(t,s),s.length>0}var dt=({bytes:t,at:e})=>t.subarray(0,e),_=({bytes:t,at:e})=>t.length-e,Ge=({bytes:t,at:e})=>t[e],V=t=>t.bytes[t.at++]??
F("it is cut off");function C(t,e=5){let n=0;for(let r=1;e-- >0;r*=128){let s=V(t);if(s<128)return n+s*r;n+=(s-128)*r}return F("a number is too long")}function ae(t,e=C(
t)){return e>_(t)&&F("it is cut off"),t.bytes.subarray(t.at,t.at+=e)}var Ue=({bytes:t,at:e})=>t.slice(e);function Z(t,e=C(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=
gr)for(let a;o<e&&(a=n[r+o])<128;o++)s+=String.fromCharCode(a);let i=ae(t,e);if(o<e)try{return Gs.decode(i)}catch{F("a text is not UTF-8")}return s}var Ft=Xs();var O=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";Object.assign(this,{details:new Uint8Array,metadata:{},mayHaveRun:!0,...s,code:n})}static from(n){
return n instanceof t?n:new t(2,n instanceof Error?n.message:String(n),{cause:n})}};function Xs(){return Object.fromEntries("OK CANCELLED UNKNOWN INVALID_ARGUME\
NT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE D\
ATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var te=(t,e)=>new O(t,e,{mayHaveRun:!1}),Lt=t=>t>0&&t<=16?t:2,ut=(t,e,n)=>new O(t,n?e:`not sent: ${e}`,{
mayHaveRun:n}),Ut=t=>ut(1,"the caller gave the call up",t),br=t=>ut(4,"no answer before the deadline",t);var Pt=100,Ks=64<<20,zs=12,xn=8,Sn=56,vn=new Uint8Array(8),vr=new DataView(vn.buffer);function A(t,e,n){let r;return{name:t,fields:()=>r??=Ys(e,n?.()??[])}}function En(t,e){
let n=ct(256);return yt(n,t,e),dt(n)}var kn=(t,e)=>gt(P(e),t,0);function yt(t,e,n){t.depth=Pt,Er(t,e,n)}function gt(t,e,n){return t.depth=Pt,t.memory=Math.max(Ks,
_(t)*zs),kr(t,e,n)??Nr(t,e)}function Ys(t,e){let n={},r=0;return[...t.matchAll(/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)\b/g)].map(s=>{let[,o,i,a,c,d,p]=s,u=p===
"m"?eo(e[r++]):p==="e"?to(e[r++]):xr[p],m=xr[d],g=m?[2,m.wire,u.wire,10]:c==="*"?[1,u.wire,10]:void 0,y=i?n[i]??=[]:void 0,T={name:i??o,of:u,isOptional:c==="?",
key:m,head:g,case:o,number:+a,all:y};return y?.push(T),T})}var ft=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Er(t,e,n){if(!t.
depth--)throw Sr(e.name,`nests deeper than ${Pt}`);U(t,8),U(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)Zs(t,s,a);else if(s===
o[0]){U(t,3);let c=a,d=o.find(p=>p.case===c?.case);if(c&&!d)throw new Error(`has no member ${c.case}`);B(t,d?d.number:0),d&&pt(t,d.of,c?.value)}}}catch(s){throw s instanceof
O?s:Sr(`${e.name}.${r}`,s.message)}t.depth++}function Zs(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=ft(e)),r){let i=n;j(t,r),B(t,s?i.size:
i.length);for(let a of i)s?(pt(t,s,a[0]),pt(t,o,a[1])):pt(t,o,a)}else n===void 0&&e.isOptional?U(t,0):pt(t,o,n)}function pt(t,{wire:e,table:n,zero:r,put:s},o){n||
U(t,e),s(t,o===void 0?r():o)}function kr(t,e,n){let r=V(t);if(r===0)return;r!==8&&F(`${e.name}: byte ${r} begins no message`),V(t),t.depth--||F(`messages nest d\
eeper than ${Pt}`);let s=e.fields();Nn(t,Sn+xn*s.length);let o={},i="";for(let a of s){let{name:c,all:d,of:p}=a,u=d&&d[0]===a;if(u&&(o[c]=void 0),n>0&&!_(t))n--,
d||(o[c]=ft(a));else if(!d)o[c]=Qs(t,a);else if(u&&Ge(t)===3){t.at++,i+=` ${c} `;let m=C(t),g=d.find(y=>y.number===m);g?o[c]={case:g.case,value:wn(t,g.of)}:m&&F(
`${e.name}.${c} has no member ${m}`)}else if(!i.includes(` ${c} `)){let m=Bt(t,p);(m instanceof Uint8Array?m.length:!Object.is(m,p.zero()))&&(o[c]={case:a.case,
value:m})}}return t.depth++,o}function Qs(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&Ge(t)===0)return t.at++,ft(e);if(!n)return Bt(t,s);n.forEach(a=>_t(
t,a));let o=C(t),i=ft(e);for(;o-- >0;)Nn(t,r?Sn:xn),r?i.set(Bt(t,r),wn(t,s)):i.push(wn(t,s));return i}function Bt(t,{wire:e,table:n,take:r}){return n||_t(t,e),r(
t)}var wn=(t,e)=>Bt(t,e)??Nr(t,e.table);function Nr(t,e){let n={},r=e.fields();Nn(t,Sn+xn*r.length);for(let s of r)n[s.name]=s.all?void 0:ft(s);return n}function Nn(t,e){
(t.memory-=e)<0&&F("it takes too much memory")}function _t(t,e){let n=V(t);n!==e&&F(`kind ${n} stands in the place of ${e}`)}var be=(t,e,n,r,s)=>({wire:t,zero:e,
put:n,take:r,table:s}),eo=t=>be(3,()=>{},(e,n)=>n?Er(e,t,n):U(e,0),e=>kr(e,t,0),t);function to(t){let e=Object.values(t);return be(10,()=>e[0],(n,r)=>{let s=e.indexOf(
r),o=r+2147483648;mt(s>=0||r===(r|0)&&r<0&&o>=e.length,r),B(n,s<0?o:s)},n=>{let r=C(n)>>>0,s=r-2147483648;return r>=e.length&&(s>=0||e.includes(s))&&F(`an enum \
has the index ${r}`),e[r]??s})}var Dt=(t,e)=>be(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return B(
n,i);mt((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)U(n,Number(a&127n)|128);B(n,Number(a))},n=>{let{at:r}=n,s=C(n,10);
if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&
1n):o}return e?(Number.isSafeInteger(Number(s))||F("an integer is beyond 2^53"),Number(s)):BigInt(s)}),wr=(t,e)=>be(t,()=>0,(n,r)=>{vr[e>4?"setFloat64":"setFloa\
t32"](0,r),j(n,vn.subarray(0,e))},n=>(vn.set(ae(n,e)),vr[e>4?"getFloat64":"getFloat32"](0))),xr={b:be(7,()=>!1,(t,e)=>U(t,+e),t=>{let e=V(t);return e>1&&F(`a bo\
ol is ${e}`),e>0}),i:be(12,()=>0,(t,e)=>{mt(e===(e|0),e),B(t,(e<<1^e>>31)>>>0)},t=>{let e=C(t);return e>>>1^-(e&1)}),u:be(10,()=>0,(t,e)=>{mt(e===e>>>0,e),B(t,e)},
t=>C(t)>>>0),l:Dt(!0,!1),w:Dt(!1,!1),L:Dt(!0,!0),W:Dt(!1,!0),f:wr(14,4),d:wr(15,8),s:be(5,()=>"",(t,e)=>{mt(typeof e=="string",e),U(t,10),Le(t,e)},t=>(_t(t,10),
Z(t))),y:be(4,()=>new Uint8Array,(t,e)=>{U(t,10),Fe(t,e)},t=>(_t(t,10),ae(t).slice()))},Sr=(t,e)=>te(3,`${t} ${e}`);function mt(t,e){if(!t)throw new Error(`cann\
ot be ${String(e)}`)}var $n=16,Mr=65536,$r=256,no=61440,ro={metadata:{}},Mn=t=>t.endsWith("-bin"),Tr=(t,e)=>Mn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${Mn(
t)?"":e}`),Tn=t=>typeof t=="string"?pe(t):t;function An(t,{isBackward:e,timeout:n,metadata:r={},status:s}){let{at:o}=t;de(t,$n,()=>{e&&de(t,4,()=>{}),n!==void 0&&
de(t,1,()=>B(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Tr(c,d))throw te(3,`metada\
ta cannot have this entry: ${c}`);if(a+=c.length+d.length+8,p>=$r||a>no)throw te(8,"too much metadata");de(t,2,()=>{Le(t,c),j(t,Tn(d))})}),s){let{code:c,details:d,
mayHaveRun:p}=s;de(t,3,()=>{B(t,c),t.at-o+d.length+32<=Mr&&j(t,d)}),p||de(t,5,()=>{})}})||(t.at=o)}function Ht(t){if(Ge(t)!==$n)return ro;t.at++;let e=P(ae(t));
_(e)>Mr&&F("a prefix is too long");let n=Object.create(null),r={metadata:n},s=0;for(;_(e);){let o=V(e),i=P(ae(e));if(o===1)r.timeout=C(i,10)/1e3;else if(o===2){
let a=Z(i),c=Mn(a)?Ue(i):Z(i,_(i));(!Tr(a,c)||++s>$r)&&F("metadata breaks the rules"),n[a]=c}else o===3?(r.code=Lt(C(i,10)),r.details=Ue(i)):o===5&&(r.isRefused=
!0)}return r}function Ar(t){let e=1;for(;t[e]>127;)e++;return t[0]===$n&&t[e+1]===4&&t[e+2]===0}function qt(t,{metadata:e,code:n,details:r,isRefused:s}){if(Ge(t)===
6)return t.at++,(V(t)!==5||V(t)!==10)&&F("an error has no text"),new O(n??2,Z(t),{metadata:e,mayHaveRun:!s,...r&&{details:r}})}function Cr(t,e,n){An(t,{isBackward:n,
status:e,metadata:e.metadata}),j(t,[6,5,10]),Le(t,e.message)}var De=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)});function Ir(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw te(9,`incompatib\
le layouts of ${t.name}`);return 1}var Rr=({added:t=[0,0]},e,n)=>e*t[n];function Cn(t,e){let n=s=>s.match(/../g)?.forEach(o=>U(t,parseInt(o,16)));Le(t,e.name),n(
e.fingerprint),B(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let s of[...e.operations].sort((o,i)=>o-i))B(t,s-r),r=s}function Or(t){let e=()=>{let r="";
for(;r.length<16;)r+=V(t).toString(16).padStart(2,"0");return r},n={service:Z(t),fingerprint:e(),compatible:[],operations:[]};for(let r=C(t);r>0;r--)n.compatible.
push(e());for(let r=0;_(t);)n.operations.push(r+=C(t));return n}var In=5<<20,oo=1024,io=65536,Ke=10,Be=16384,ao=Be/2,lo=256,Jt=262144,co=1e5,uo=64<<20,po=65536,mo=2e3,fo=5,yo=1e4,Fr="the server is going away",go=2147483647,Vt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),go));function Lr(t,e,n,r,s){let o=ct(16384),i=new Map,a=[],c=[],d=[],p=0,u=0,m=0,g=0,y=0,T=32767,S=[0,In,1/0,Be,0],k=!1,G=!1,q,H=Ke,se=0,
X=!1,J=0,oe=!1,ee=!1,K=0,h,w=()=>{o.at&&(oe=!1,ee=!0,k||hn.send(dt(o)),o.at=J=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),hn.buffered()>uo&&Oe("the \
server does not take what is sent"))},$=()=>{o.at!==J?(J=o.at,queueMicrotask($)):(X=!1,w())},v=(f,b,x)=>{let{at:I}=o;try{Ot(o,Ke),o.at+=Ke,x?.(o);let ge=o.at,ne=ge-
I-Ke,Ct=Math.max(S[1],oo);if(ne>Ct)throw te(8,`the message has ${ne} bytes, and the server accepts ${Ct}`);o.at=I;for(let Vs of[15,f,b,ne>>>16,ne])hr(o,Vs);o.at=
ge}catch(ge){throw o.at=I,ge}o.at>po?w():X||(X=!0,J=0,queueMicrotask($))},E=(f,b,x)=>v(f,b,I=>B(I,x)),N=(f,{code:b,message:x})=>v(f,7,I=>{B(I,b),j(I,pe(x.slice(
0,256)))}),R=(f,b)=>{E(f,5,0),N(f,b)},W=f=>{if(!k){if(K=0,q){if(j(q,f),q.at<H)return;f=dt(q),q=void 0}try{let b=0,x=I=>f[b+I]<<8|f[b+I+1];for(;!k&&!(f.length<(H=
b+Ke));b=H){x(0)!==15&&F("a header without its magic");let I=x(6)*65536+x(8);if(I>In&&F(`a packet of ${I} bytes`),f.length<(H+=I))break;le(x(2),x(4),f.subarray(
b+Ke,H))}b<f.length&&(H-=b,j(q=ct(),f.subarray(b)))}catch(b){Oe(`the server broke the protocol: ${b.message}`)}}},le=(f,b,x)=>{let I=P(x),ge=i.get(f);if(b>=10)if(z.
isUp||F("a packet before HELLO"),Ar(x)){if($e)return $e.packet(f,b,x,!1)}else{let ne=d[f%Be];if(ne?.id===f&&ne.operation===b)return ie(f),ne.isGivenUp?u--:ne.reply?.(
ne,x),lt();if(b>=65280&&s.length)return s.forEach(Ct=>Ct.packet(z,f,b,x))}else if(b<2){x.length&&F("a PING or PONG with a body"),b===1?z.isUp||Oe("the server is\
 a plain peer"):oe||(oe=!0,v(0,1));return}else{if(b===3&&!z.isUp)return D(I);if(b===4)return gn();if(b===6)return $e?.cancel(f,C(I));if(b===8)F("an answer to no\
 hand-off");else{if(ge&&b!==3&&b<8)return ge.packet(b,x);if(b===2){let ne=f-T&32767;if(f>=32768&&ne&&ne<=16384)return T=f,$e?$e.packet(f,2,x,!0):R(f,te(12,"this\
 end serves nothing"))}}}++se>co&&Oe("too many packets that belong to nothing")},D=f=>{for((_(f)>io||Z(f,4)!=="fris"||!V(f))&&F("it sent no HELLO");_(f);){let b=V(
f),x=P(ae(f));if(b in S)S[b]=C(x);else if(b===32||b===33)try{(b===32?a:c).push(Or(x))}catch{}}S[3]=Math.min(S[3],Be),z.isUp=!0,clearTimeout(fr),e.room(z)},ie=f=>{
d[f%Be]=void 0,p--===S[3]&&e.room(z)},Me=(f,b,x)=>{i.set(b,f),f.begin(z,b,S[4],x)},lt=()=>{G&&p===u&&!i.size&&!$e?.progress.size&&queueMicrotask(()=>Oe(Fr))},gn=()=>{
G||(G=!0,e.left(z,Fr),lt())},Oe=f=>{k||(w(),hn.close(),mr(f))},mr=f=>{if(k)return;k=!0,clearInterval(h),clearTimeout(fr),e.left(z,f),z.isUp=!1;let b=new O(14,`t\
he connection was lost: ${f}`);for(let x of d)x&&!x.isGivenUp&&e.lost(x,b);for(let x of i.values())x.lost(b);$e?.down(b);for(let x of s)x.down(z,b)},z={isUp:!1,
write:v,number:E,reset:N,refuse:R,fits(f){let b=a.find(I=>I.service===f.name);if(b)return b.fingerprint===f.fingerprint||n.includes(f)?Ir(f,b):void 0;let x=a.find(
I=>I.operations.some(ge=>f.operations.includes(ge)));if(x)throw te(12,`the server has ${x.service} in the place of ${f.name}`);return 0},call(f,b){if(p>=S[3])return!1;
do m=m+1&65535;while(d[m%Be]);let x=f.id=m;d[x%Be]=f,p++;try{v(x,f.operation,b)}catch(I){throw ie(x),I}return!0},cancel(f){k||(f.isGivenUp=!0,E(f.id,6,f.operation),
++u>=ao&&gn(),lt())},open(f,b,x){if(!S[2])throw te(12,"the server does not accept streams");if(g>=Math.min(S[2],28672))return!1;do y=y%32767+1;while(i.has(y));return g++,
Me(f,y,b),v(y,2,x),!0},accept:Me,over(f){i.delete(f),f<32768&&(g--,e.room(z)),lt()},leave:gn,closeIfIdle:lt},$e=r?.on(z,c),fr=Vt(yo,()=>Oe("no HELLO in time")),
hn=t({open(){v(0,3,f=>{j(f,pe("fris"));let b=$e?lo:0;[In,b,b,Jt].forEach((x,I)=>de(f,I+1,()=>B(f,x)));for(let x of r?.services??[])de(f,32,()=>Cn(f,x));for(let x of n)
de(f,33,()=>Cn(f,x))}),v(1,0),w(),h=setInterval(()=>{if(++K>fo)return Oe("the server is silent");(K>1||!ee)&&v(0,0),ee=!1;let f=performance.now();for(let b of d)
b&&b.until<=f&&!b.isGivenUp&&e.look(b)},mo)},data:W,close:mr});return z}function Wt(t,e){let n=[],r=!1,s=()=>{},o=c=>{r||=c,s()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>s=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,o(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),s()},end:o}}var Rn=64,ho=4,bo=4096,On=(t,e)=>t instanceof he?new O(13,`not a valid ${e.name}: ${t.message}`):O.from(t);function Ur(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
m=!0,g=!1,y=!1,T=()=>{},S,k=()=>!u&&!m,{messages:G,items:q,put:H,end:se}=Wt(v=>{let E=v.length+Rn;d-=E,p+=E,m&&p*ho>=Jt&&(o?.number(i,5,p),p=0);try{let N=P(v),R=Ht(
N);if(N.at&&(s?.(X.metadata=R.metadata),!_(N)))return;let W=qt(N,R);if(W)throw W;return gt(N,e,a)}catch(N){throw On(N,e)}},()=>n?K(!0):w()),X=Object.assign(G,{metadata:{}}),
J=()=>{k()&&(T(),S?.(),o?.over(i),o=S=void 0,r())},oe=()=>{u&&(u=!1,o?.write(i,7),J())},ee=v=>{u=m=!1,se(v),J()},K=(v,E=Ut(!0))=>{k()||o?.reset(i,E),q.length=0,
ee(v)},h=v=>K(v,v),w=()=>{q.length=0,g=!0},$=v=>{if(!o||!u)return;let E=v instanceof O;o.write(i,2,N=>{let{at:R}=N;E?Cr(N,v,!1):yt(N,t,v),c-=N.at-R+Rn}),E&&oe()};
return{messages:X,begin(v,E,N,R){o=v,i=E,c=N,a=R},packet(v,E){if(v===2)return!m||g?void 0:d+p>=Jt?h(new O(8,"the peer sent more than it had credit for")):(d+=E.
length+Rn,H(new Uint8Array(E)));let N=P(E);if(v===5){let R=C(N,10);y||=!R,(c+=R)>0&&T()}else if(E.length){let R=Lt(C(N));ee(new O(R,new TextDecoder().decode(Ue(
N).subarray(0,bo)),{mayHaveRun:!y}))}else m=!1,se(!0),J()},send:$,async pump(v){try{let E=Symbol.asyncIterator in v?v[Symbol.asyncIterator]():v[Symbol.iterator]();
for(S=()=>E.return?.();;){for(;c<=0&&!k();)await new Promise(W=>T=W);if(k())return;let{done:N,value:R}=await E.next();if(k())return;if(N)break;$(R)}S=void 0,oe()}catch(E){
let N=O.from(E);n?K(N):$(N)}},finish:oe,discard:w,fail:h,lost:ee}}var vo=3e4,wo=5e3,xo=20,Dr=2e3,Br=10,ht=class{constructor(e,{timeout:n,patience:r=wo,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=Br,p=0,u,m=!1,g="",y=new Set,
T=new Set,S=[],k=()=>{a||u||m||!(y.size||i)||(p=performance.now(),a=Lr(e,G,[...T],o,S))},G={room:h=>queueMicrotask(()=>{for(let w of y){if(a!==h||!q(w,h))return;
y.delete(w)}}),left(h,w){a===h&&(a=void 0,h.isUp&&performance.now()-p>=Dr?c=0:(g=w,clearTimeout(u),u=Vt(Math.random()*Math.min(xo*2**Math.min(c++,16),Dr),()=>{u=
void 0,k()})),k())},look:h=>se(h),lost(h,w){let $=h;if($.link=void 0,!$.method.idempotent||d<1)return J($,w);d--,H($)}},q=(h,w)=>{let{service:$,method:v}=h;try{
let E=$?w.fits($):0;return E!==void 0?h.start(h,w,Rr(v,E,1))&&(h.isSent=!0):(T.add($),c=0,w.leave(),!1)}catch(E){return J(h,O.from(E)),!0}},H=h=>{if(!(a?.isUp&&
q(h,a))){if(m)return J(h,_r());h.patient=performance.now()+r,y.add(h),se(h),k()}},se=h=>{let{until:w,isSent:$,patient:v}=h,E=performance.now();clearTimeout(h.timer),
E>=w?J(h,br($)):E>=v&&y.has(h)&&!a?.isUp?J(h,ut(14,`there is no connection to the server${g&&`; ${g}`}`,$)):h.timer=Vt((E<v?Math.min(w,v):w)-E,()=>se(h))},X=h=>{
y.delete(h),clearTimeout(h.timer),h.options.signal?.removeEventListener("abort",h.abort)},J=(h,w)=>{X(h),h.link?.cancel(h),h.reject(w)},oe=(h,{told:w,until:$,options:{
metadata:v}})=>{(w!==void 0||s||v)&&An(h,{timeout:w&&$-performance.now(),metadata:{...s,...v}})},ee=(h,w,$,v,E,N,R=1/0,W)=>{let{signal:le}=$,D={id:0,operation:w.
operation,until:performance.now()+(v??R),isGivenUp:!1,isSent:!1,patient:1/0,timer:void 0,link:void 0,service:h,method:w,options:$,told:v,start:E,reply:W,reject:N,
abort:()=>J(D,Ut(D.isSent))};return le?.aborted?D.abort():(le?.addEventListener("abort",D.abort),v!==void 0&&se(D),(v===void 0||v>0)&&H(D)),D},K=(h,w,$,v={})=>{
let E,N=Ur(w.request,w.reply,!0,()=>E&&X(E),v.onMetadata);return E=ee(h,w,v,v.timeout,(R,W,le)=>{let D=W.open(N,le,ie=>{oe(ie,R),U(ie,9),B(ie,w.operation)});return D&&
N.pump($),D},N.fail),N};this.unary=(h,w,$,v={})=>new Promise((E,N)=>{let R=0;ee(h,w,v,v.timeout??n,(W,le,D)=>{let ie=le.call(W,Me=>{oe(Me,W),yt(Me,w.request,$)});
return ie&&(W.link=le),R=D,ie},N,vo,(W,le)=>{X(W);try{let D=P(le),ie=Ht(D),Me=qt(D,ie);if(Me)throw Me;D.at&&v.onMetadata?.(ie.metadata),E(gt(D,w.reply,R)),d<Br&&
(d+=.1)}catch(D){N(On(D,w.reply))}})}),this.serverStreaming=(h,w,$,v)=>K(h,w,[$],v).messages,this.twoWay=(h,w,$,v)=>K(h,w,$,v).messages,this.clientStreaming=async(h,w,$,v)=>{
let{messages:E}=K(h,w,$,v),{done:N,value:R}=await E.next();if(N)throw new O(13,"there is no reply");return E.return?.(),R},this.name=h=>void T.add(h),this.mount=
h=>void S.push(h),this.connected=()=>new Promise((h,w)=>{ee(void 0,{operation:0},{},void 0,($,v)=>(X($),h(v),!0),w)}),this.close=()=>{m=!0,clearTimeout(u);for(let h of y)
J(h,_r());a?.leave()},i&&queueMicrotask(k)}},_r=()=>ut(9,"the channel is closed",!1);var jt=65280,So=16<<20,Fn=64,bt=class{constructor(e){this.channel=e;this.asked=new Map;this.last=0;let{asked:n}=this;e.mount({packet(r,s,o,i){for(let[a,c]of n)(!s||
s===a)&&c.packet(r,s,o-jt,P(i))},down(r,s){for(let o of n.values())o.down(r,s)}})}subscribe(e,{group:n=""}={}){return this.ask(0,e,n)}async publish(e,n){(await this.
connected()).write(0,jt+2,r=>{Fe(r,pe(e)),j(r,Tn(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){let e;do e=await this.channel.connected();while(!e.
isUp);return e}async ask(e,n,r=""){let{asked:s}=this,o=await this.connected(),i=this.last=this.last%65535+1;return new Promise((a,c)=>{let d=0,p=0,{items:u,messages:m,
put:g,end:y}=Wt(({topic:k,payload:G})=>{let q=p;return d-=G.length+Fn,p=0,{topic:k,payload:G,lagged:q}},()=>{s.delete(i)&&n!==void 0&&o.write(i,jt+1)}),T=k=>{s.
delete(i),c(k),y(k)},S=r?[]:n?.split(".")??[];s.set(i,{packet(k,G,q,H){if(k===o)if(q===2){let se=Z(H),X=se.split("."),oe=(S[S.length-1]===">"?X.length>=S.length:
X.length===S.length)&&S.every((K,h)=>K===">"||K==="*"||K===X[h]);if(!G&&!oe)return;let ee=Ue(H);for(d+=ee.length+Fn;d>So&&u.length;)d-=u.shift().payload.length+
Fn,p++;g({topic:se,payload:ee})}else q===4?p+=C(H,10):G&&(_(H)?T(te([8,12,7][V(H)-3]??3,Z(H,_(H)))):a(m))},down(k,G){k===o&&T(G)}}),o.write(i,jt+e,k=>{n!==void 0&&
Fe(k,pe(n)),j(k,pe(r))})})}};var Ln="frisbee.1";function Un(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{let s=new n(String(t),[Ln,...e]);return s.binaryType="arraybuf\
fer",s.onopen=()=>{s.protocol===Ln?r.open():s.close()},s.onmessage=({data:o})=>{o instanceof ArrayBuffer?r.data(new Uint8Array(o)):s.close()},s.onerror=()=>{},s.
onclose=({code:o,reason:i})=>{r.close(`the WebSocket was closed (${o}${i&&`, ${i}`})`)},{send:o=>s.send(o),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var Eo=64;var Gt=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of me(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of me(e))i===
2?n=ve(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=Mo(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>Eo)throw new he("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",m=!1;for(let{number:S,bytes:k}of me(e))S===1?u=ve(k):S===2?a.push(k):S===3?c.push(k):S===4?d.push(k):S===7?m=Vr(k,7):S===8&&p.push({name:qr(k),docs:o.
get(`${s},8,${p.length}`)??""});let g=[...r,u],y=Hr(n,g),T=a.map((S,k)=>ko(S,o.get(`${s},2,${k}`)??""));this.messages.set(y,{name:y,package:n,path:g,docs:o.get(
s)??"",fields:T,oneofs:p,isEntry:m}),c.forEach((S,k)=>this.declare(S,n,g,`${s},3,${k}`,o,i+1)),d.forEach((S,k)=>this.declareEnum(S,n,g,`${s},4,${k}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of me(e)){if(p===1&&(a=ve(u)),p!==2)continue;let m=0;for(let g of me(u))g.number===2&&(m=g.low|0);i.push({name:qr(u),number:m,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=Hr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},Jr=t=>t===11||t===10||t===
14,Hr=(t,e)=>[...t?[t]:[],...e].join(".");function ko(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of me(t))u.number===1?n=ve(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=ve(u.bytes).replace(/^\./,""):u.number===8?p=Vr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=ve(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new he(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,m)=>m.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var No=new Uint8Array,ve=t=>Z(P(t),t.length);function*me(t){
let e=P(t);for(;_(e);){let n=C(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(C(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:No,
low:o>>>0}}else if(s===2)yield{number:r,bytes:ae(e,C(e)),low:0};else if(s===1||s===5)ae(e,s===1?8:4);else throw new he(`a field of the wire type ${s}`)}}function qr(t){
for(let{number:e,bytes:n}of me(t))if(e===1)return ve(n);return""}function Vr(t,e){for(let{number:n,low:r}of me(t))if(n===e)return r!==0;return!1}function Mo(t){
let e=new Map;for(let{number:n,bytes:r}of me(t)){if(n!==1)continue;let s="",o="",i="";for(let c of me(r))if(c.number===1){let d=P(c.bytes),p=[];for(;_(d);)p.push(
C(d));s=p.join(",")}else c.number===3?o=ve(c.bytes):c.number===4&&(i=ve(c.bytes));let a=o||i;a&&e.set(s,Xt(a))}return e}var Xt=t=>t.replace(/^ /gm,"").trim();var Te=t=>`f${t.number}`,Ye=t=>`o${t}`,Dn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
ze=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=To(this.schema,
r),o=s.map(c=>`${Te(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>Jr(c.kind)),a=A(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Dn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is no entry of a map`);return`%${Dn[o.kind]}${Dn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${Ye(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=$o(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},$o=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function To(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function Wr(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:m})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:m})),i=De(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var Bn={POLYGLOT:0,PROTOBUF:1},vt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Ao=A("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Co=A("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Io=A("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Fo]),Ro=A("fr\
pc.reflection.v1.ListRequest","etag:s"),Oo=A("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[vt]),Fo=A("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Bn,Oo]),Ze=De("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Ro,reply:Io,receives:!0,
idempotent:!0},files:{operation:65001,request:Co,reply:Ao,receives:!0,idempotent:!0}});var jr=32<<20,we=t=>`${t.service.name}/${t.name}`,Kt=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Un(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new ht(o,
{stayConnected:!0}),this.channel.name(Ze),this.topics=new bt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let m of n.serverStreaming(
Ze,Ze.methods.list,{etag:e?.etag??""},{metadata:r})){if(m.notModified)return;o||=m.etag;for(let g of m.services){let y=s.get(g.name);y?y.methods.push(...g.methods):
s.set(g.name,g)}}let i=[],a=0;for await(let{data:m}of n.serverStreaming(Ze,Ze.methods.files,{},{metadata:r}))if(i.push(m),a+=m.length,a>jr)throw new O(Ft.RESOURCE_EXHAUSTED,
`the schema has more than ${jr} bytes`);let c=new Uint8Array(a),d=0;for(let m of i)c.set(m,d),d+=m.length;let p=new Gt(c),u=new ze(p);return{etag:o,schema:p,services:[
...s.values()].map(m=>Lo(m,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Lo(t,e){let n,r=o=>{if(t.codec!==Bn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=Wr(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==vt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:Xt(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===vt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===vt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:Xt(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var zt=t=>Object.entries(Ft).find(([,e])=>e===t)?.[0]??String(t);var Uo=50;function Yt(t,e,n){let r=t.slice(-Uo).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
s)},l("span",{className:"muted"},je(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},zt(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},re(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var L=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},Q=()=>Object.create(null),Pn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Hn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
_e=t=>Hn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Ae(t){try{return JSON.parse(t||"{}")}catch(e){throw new L(
"",e.message)}}function Pe(t,e,n,r=""){let s=Ho(t,e,n,r);if(s)return s;if(!Pn(n))throw new L(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(m=>m.jsonName===a||m.name===a),p=r?`${r}.${a}`:a;if(!d)throw new L(p,`${e} has no such field${Do(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Bo(t,d,c,p);if(d.oneof===void 0)i[Te(d)]=u;else{let m=Ye(d.oneof);if(i[m])throw new L(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[m]={case:Te(d),value:u}}}return i}var Do=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Bo(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!Pn(n))throw new L(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[_o(o,a,r),_n(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return _n(t,e,n,r);if(!Array.isArray(n))throw new L(r,"a list is an array");return n.map((a,c)=>_n(t,e,a,`${r}[${c}]`))}function _o(t,e,n){
if(t.kind!==8)return St(t,e,n);if(e!=="true"&&e!=="false")throw new L(n,`${e} is not true or false`);return e==="true"}var Xr=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Po=t=>[3,4,6,16,18].includes(
t),qn=t=>t in Xr;function _n(t,e,n,r){if(e.kind===11)return Pe(t,e.type,n,r);if(e.kind!==14)return St(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new L(r,`${s} has no value ${wt(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var wt=t=>JSON.stringify(t).slice(0,60);function St(t,e,n=""){let{kind:r}=t,s=Xr[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new L(n,`${wt(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new L(n,"an integer of this size is writte\
n as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new L(n,`${i} is not from ${s[0]} to ${s[1]}`);return Po(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new L(n,`${wt(e)} is no number`);return Number(
e)}if(r===8){if(typeof e!="boolean")throw new L(n,`${wt(e)} is not true or false`);return e}if(typeof e!="string")throw new L(n,`${wt(e)} is no text`);return r===
12?fe(e,n):e}function Ho(t,e,n,r){let s=Hn.test(e)&&t.message(e).fields[0];if(s)return{f1:St(s,n,r)};switch(e){case"google.protobuf.Timestamp":return qo(n,r);case"\
google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new L(r,'a duration is written as "1.5s"');let[,i,a="",
c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new L(r,'a mask is written\
 as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.protobuf.Struct":if(!Pn(
n))throw new L(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,xt(i,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(n))throw new L(
r,"a ListValue is an array");return{f1:n.map(o=>xt(o,0))};case"google.protobuf.Value":return xt(n,0)}}function qo(t,e){let n=typeof t=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))throw new L(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function xt(t,e){if(e>90)throw new L("","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?
n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(4,t):Array.isArray(t)?n(6,{f1:t.map(r=>xt(r,e+1))}):n(5,{f1:new Map(Object.entries(
t).map(([r,s])=>[r,xt(s,e+1)]))})}function Et(t,e,n){let r=Wo(t,e,n);if(r!==void 0)return r;let s=Q();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:
n[Ye(o.oneof)],a=o.oneof===void 0?n[Te(o)]:i?.case===Te(o)?i.value:void 0;if(a===void 0)continue;let c=Jo(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(s[o.jsonName]=c)}return s}function Jo(t,e,n){let r=t.entry(e)?.fields[1];if(r&&n instanceof Map){let s=Q();for(let[o,i]of n)s[String(o)]=Zt(t,r,i);
return s}return Array.isArray(n)?n.map(s=>Zt(t,e,s)):Zt(t,e,n)}function Zt(t,e,n){return e.kind===11?Et(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(
({number:r})=>r===n)?.name??n:n instanceof Uint8Array?xe(n):typeof n=="bigint"||typeof n=="number"&&!Number.isFinite(n)?String(n):e.kind===2?Vo(n):n}function Vo(t){
for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}function Wo(t,e,n){let r=Hn.test(e)&&t.message(e).fields[0];if(r)return Zt(
t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:
`${o.toISOString().slice(0,19)}${Gr(n.f2)}Z`}case"google.protobuf.Duration":{let[s,o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Gr(Math.abs(o))}s`}case"\
google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).join(",");case"google.protobuf.Struct":return Kr(n);case"google.pro\
tobuf.ListValue":return n.f1.map(Qt);case"google.protobuf.Value":return Qt(n)}}function Kr(t){let e=Q();for(let[n,r]of t.f1)e[n]=Qt(r);return e}function Qt(t){let e=t.
o0;return!e||e.case==="f1"?null:e.case==="f5"?Kr(e.value):e.case==="f6"?e.value.f1.map(Qt):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var Gr=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function xe(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.
fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function fe(t,e=""){try{return Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(
0))}catch{throw new L(e,"it is no base64")}}function Qe(t){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var He=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var qe=t=>Vn(JSON.stringify(t)),Vn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Se=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Vn(t).replace(/'/g,"'\\''")}'`,zr=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:xe(n)]);function Yr({method:t,
requests:e,metadata:n,timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Se(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of zr(n))i.push(`-H ${Se(`${p}: ${u}`)}`);let a=Se(`${s}/${we(t)}`);if(!o)return[...i,`-d\
 ${Se(qe(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(qe);return[`printf '${c.map(p=>`\\0${jo(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Se).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var jo=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function Zr({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Se(a)}`,Se(we(t))];for(let d of e)c.push(Se(qe(d)));for(let[d,p]of zr(n))c.
push(`-H ${Se(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var rn=t=>t.replace(/\W/g,"_")||"_",Qr=t=>rn(t).replace(/^_(?=\d)/,"-"),es=t=>rn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),kt=t=>es(t).map(e=>e.toLowerCase()).join("_")||"_",Je=t=>es(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",en=t=>Je(t).replace(/^./,e=>e.toLowerCase()),Go=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),nn=t=>Go.has(kt(t))?/^(self|super|crate)$/.test(kt(t))?`${kt(t)}_`:`r#${kt(t)}`:kt(t),ye=t=>Vn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ts(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=rn(n.service.name.
split(".").pop()??""),c=r.map(g=>rs(e,n.request,g,0)),d=nn(n.name),p=[`let client = ${a}Client::connect(${ye(new URL(i).host)}).await?;`],u=c[0]??`${Je(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let m=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...Object.entries(s).map(([g,y])=>typeof y=="string"?`request.metadata_mut().insert(${ye(g)}, ${ye(y)})?;`:`request.metadata_m\
ut().insert_bin(${ye(g)}, &[${[...y].join(", ")}][..])?;`)];return m.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...m),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(g=>`requests.send(${g}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(g=>`    requests.send(${g}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function ns({path:t,package:e}){let n=[...t.slice(0,-1).map(nn),Je(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Jn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function rs(t,e,n,r){let s=t.message(e),o=ns(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let m=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(m===void 0||m===null&&u.type!=="google.protobuf.Value")continue;let g=u.oneof===void 0?void 0:s.oneofs[u.oneof],
y=Xo(t,s,u,m,r+1),T=g?g.name:u.name;c.add(T);let S=[...s.path.map(nn),Je(g?.name??"")].join("::");a.push(Jn(`${nn(T)}: ${g?`Some(${S}::${Je(u.name)}(${y}))`:y},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Jn(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${Jn("}",r)}`}function Xo(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,m])=>`(${o.kind===9?`${ye(u)}.to_\
owned()`:Qr(u)}, ${tn(t,i,m,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>tn(t,n,d,s)).join(", ")}]`;let a=tn(t,n,r,s),c=n.kind===11&&!_e(n.type)&&
ss(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function ss(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&ss(t,s.type,n,r))??!1)}function tn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${ye(String(n))}.parse()?`:_e(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?tn(t,s,n,r):_e(e.type)?Ko(e.type,n):rs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=Je(s.path[s.path.length-1]??""),a=Je(o.name);return`${ns(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...fe(String(n))].join(", ")}]`:e.kind===9?`${ye(String(n))}.to_owned()`:e.kind===1||e.kind===2?as(Number(n),e.kind===1?"f64":"f32"):Qr(String(n))}var et="\
frpc::prost_types::";function Ko(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${et}FieldMask { paths: vec![${n.map(r=>`${ye(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${et}Struct { fields: ${is(e)} }`:t===
"google.protobuf.ListValue"?`${et}ListValue { values: ${os(e)} }`:Wn(e)}function Wn(t){if(t===null)return`${et}Value::from(${et}value::Kind::NullValue(0))`;let e=typeof t==
"string"?ye(t):typeof t=="number"?as(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?os(t):is(t);return`${et}Value::from(${e})`}var os=t=>`vec![${t.map(
Wn).join(", ")}]`,is=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${ye(e)}.to_owned(), ${Wn(n)})`).join(", ")}])`,as=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function ls(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=rn(n.service.name.split(".").pop()??""),c=r.map(g=>ds(e,n.request,Pe(e,n.request,g))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${Object.entries(s).map(([g,y])=>`${qe(g)}: ${typeof y=="string"?qe(y):cs(y)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${en(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${qe(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var cs=t=>`new Uint8Array([${[...t].join(", ")}])`;function ds(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=Te(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${en(i.name)}: ${zo(t,i,n[a])}`);continue}let c=n[Ye(
i.oneof)];c?.case===a&&o.push(`${en(s[i.oneof]?.name??"")}: { case: "${en(i.name)}", value: ${Nt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function zo(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Nt(t,r,o)}, ${Nt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Nt(t,e,o)).join(", ")}]`:Nt(t,e,n)}function Nt(t,e,n){return n instanceof Uint8Array?cs(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?ds(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?qe(n):String(n)}var us=new WeakMap;function tt(t,e){return us.set(t,e),t}var Mt=t=>us.get(t)??Q();var ps=16<<20,jn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function Gn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function Xn(t){let e=Y(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return tt({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=jn({id:e});return tt({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>Gn(s,()=>void(s.value.
trim()&&St(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:qn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!Yo(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!qn(n)?Number(i):i};return tt({element:s,id:e,get:()=>s.
value.trim()?Zo(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var Yo=t=>t===3||t===4||t===6||t===16||t===18,Zo=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function ms(t){let e=Y(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return tt(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function fs(){
let t=Y(),e,n=jn({id:t,oninput:()=>m()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(y=>l("option",{},y))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let y=i.files?.[0];if(y){if(y.size>ps){o.textContent=`${y.
name} has more than ${ps>>20} MiB`;return}e=new Uint8Array(await y.arrayBuffer()),o.textContent=`${y.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,g.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=y=>{if(y==="text")return new TextEncoder().encode(n.value);if(y==="base64")return fe(n.
value.replace(/\s/g,""));let T=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(T))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(T.match(/../g)??[],S=>parseInt(S,16))},p=(y,T)=>{let S=T==="text"?Qe(y):void 0;r.value=s=T==="text"&&S===void 0?"base64":T,n.value=r.value==="text"?S??"":r.
value==="hex"?He(y):xe(y),m()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,m()}},m=()=>Gn(n,()=>void d(r.value)),g=l("div",{className:"bytes"},n,r,l("button",{type:"\
button",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return tt({element:g,id:t,get(){let y=e??d(r.value);return y.length>0?xe(y):void 0},set(y){c(),
p(typeof y=="string"?fe(y):new Uint8Array,r.value)}},"")}function Ve(t,e,n){let r=Y(),s=jn({id:r,placeholder:e,oninput:()=>Gn(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var Qo=3,on=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=bs(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??Q()}set(e){this.editor.set(e)}example(){this.set(gs(this.schema,this.name,[]))}};function gs(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(_e(e)&&s)return ys(t,s,n);let o=Q(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(y=>y.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>Qo);if(!p||u||d.kind===10||a.isDeprecated)continue;let m=ys(t,d,i),g=c?.fields[0];g?o[a.jsonName]=
Object.assign(Q(),{[g.kind===9?"key":g.kind===8?"true":"1"]:m}):o[a.jsonName]=a.isRepeated?[m]:m}return o}function ys(t,e,n){switch(e.kind){case 11:return gs(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function ei(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${sn(r)}, ${sn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${sn(e)}`}var ti=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],sn=t=>ti[t.kind]||(t.type.split(".").pop()??"");function nt(t,e){
return e.kind===14?ms(t.enumeration(e.type)):e.kind===12?fs():e.kind!==11?Xn(e):ni(t,e.type)}function ni(t,e){switch(e){case"google.protobuf.Timestamp":return Ve(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Ve("text","1.5s");case"google.protobuf.Fiel\
dMask":return Ve("text","name,homeAddress.city");case"google.protobuf.Struct":return Ve("json",'{ "key": "value" }');case"google.protobuf.Value":return Ve("json",
"any JSON");case"google.protobuf.ListValue":return Ve("json","[1, 2]")}let n=_e(e)?t.message(e).fields[0]:void 0;if(!n)return bs(t,e);let r=nt(t,n);return{...r,
get:()=>r.get()??hs(n)}}var hs=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function bs(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=ai(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=ri(t,i);s.append(vs(i.name,ei(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=Q();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:Q();for(let{take:c}of r)c(a)}}}
function vs(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function ri(t,e){let n=t.entry(e);return n?ii(t,n):e.isRepeated?oi(()=>nt(t,e)):
e.isOptional||e.kind===11?si(()=>nt(t,e),()=>e.kind===11?Q():hs(e)):nt(t,e)}function si(t,e){let n=Y(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?M(o,(r??=t()).element):M(o,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var ws=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function oi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(o),e.push(i);
let a=l("div",{className:"item"},i.element,ws(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"quiet",onclick:()=>xs(
r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Mt(o)):void 0,set(o){e=[],M(n);for(let i of Array.isArray(
o)?o:[])r(i)}}}var xs=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function ii(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is no entry of a map`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:Xn({...n,kind:n.kind===8?9:n.kind}),value:nt(t,
r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("div",
{className:"item"},p.key.element,p.value.element,ws(()=>{s=s.filter(m=>m!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"qui\
et",onclick:()=>xs(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=Q();for(let{key:d,value:p}of s)c[String(
d.get()??Mt(d))]=p.get()??Mt(p);return c},set(c){if(s=[],M(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function ai(t,e,n){let r=e.
fields.filter(m=>m.oneof===n),s=Y(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(m=>l("option",{value:m.jsonName},`${m.name}: ${sn(m)}`))),c=m=>{a.value=m;let g=r.find(T=>T.jsonName===m);if(!g)return void M(o);let y=i.get(m)??nt(t,g);return i.
set(m,y),y.id&&document.getElementById(y.id)?.setAttribute("aria-label",g.name),M(o,y.element,g.docs&&l("p",{className:"docs"},g.docs)),y},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:vs(d,"oneof",p,u,!1),get(){let m=i.get(a.value);return a.
value&&m?Object.assign(Q(),{[a.value]:m.get()??Mt(m)}):Q()},set(m){let g=m,y=r.find(T=>(g[T.jsonName]??g[T.name])!==void 0);c(y?.jsonName??"")?.set(y&&(g[y.jsonName]??
g[y.name]))}}}var rt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?fe(s,o):s)}return e}set(e){M(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:xe(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},"×"));return this.rows.append(o),r}},Kn=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:xe(n))]));var zn=1e5,li=90;function Ss(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return M(t,n,r,s),()=>{M(n,...ci(e)),M(r,e.isOver&&e.status&&di(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),Kn(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
pi(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function ci(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${zt(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},re(t.took),o&&`, ${o}`)]}function di({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},Qe(e)??He(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&Kn(t.metadata))}function ui(t){let e=t.replace(/\n\s*/g," ");return e.length<=li?e:t}function pi(t,e){let n=e?ui(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},It(n.slice(0,zn)),n.length>zn&&`
… ${n.length-zn} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${re(t.at)}`),l("span",{className:"grow"}),We(()=>n)),r)}var mi=500,fi=16<<20,an=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new Yn;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=O.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Et(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>mi||this.chars>fi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},Yn=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var yi=["Form","JSON","Copy as"],Es={curl:Yr,frpc:Zr,Rust:ts,TypeScript:ls};function Zn({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var ln=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new rt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:Y(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=bn(yi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new on(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called here: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),M(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=Pe(
this.catalog.schema,this.method.request,Ae(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Ae(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=Zn(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Ae(this.json.value))}),this.tab=e,e==="Form"?M(this.body,this.form?.element):e==="JSON"?M(this.body,this.json):this.attempt(()=>M(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Ae(a.json)),s=n.sends&&r&&r.
length>0?r:[Ae(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=bn(Object.keys(Es),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Es[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),We(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new an(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Ss(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:we(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));M(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var gi={UNKNOWN:0,PLAIN:1,EXTENDED:2,FOREIGN:3},hi=A("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),bi=A("frpc.introspection.v\
1.Close","kind:s reason:s peer:s ageMs:w"),vi=A("frpc.introspection.v1.CloseCount","kind:s count:w"),wi=A("frpc.introspection.v1.CodeCount","code:i count:w"),Qn=A(
"frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",()=>[gi]),
xi=A("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[hi,Ii,Qn,Mi]),Si=A("frpc.introspection.v1.ConnectionReques\
t","server:s number:w"),Ei=A("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[Qn]),ki=A("frpc.introspection.v1.ConnectionsRequest","server:\
s after:w limit:u"),Ni=A("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[wi]),Mi=A("frpc.introspection.v1.Hello","version:\
u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),$i=A("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Ni]),ks=A("frpc.introspection.v1.Se\
rver","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[vi,bi,Fi,$i]),Ti=A("frpc.introsp\
ection.v1.ServerConnections","connections:*m server:m",()=>[Qn,ks]),Ai=A("frpc.introspection.v1.ServersReply","servers:*m",()=>[ks]),Ci=A("frpc.introspection.v1\
.ServersRequest",""),Ii=A("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Ri=A("frpc.introspection.v1.WatchReply",
"servers:*m",()=>[Ti]),Oi=A("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Fi=A("frpc.introspection.v1.Worker","tasks:w ready:w polls:w thre\
adsGivenUp:w"),cn=De("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Ci,reply:Ai,idempotent:!0},connections:{operation:65031,
request:ki,reply:Ei,idempotent:!0},connection:{operation:65032,request:Si,reply:xi,idempotent:!0},watch:{operation:65033,request:Oi,reply:Ri,receives:!0,idempotent:!0}});var ot=12e4,er=2e3,[Ce,Ie,Re,it]=[480,120,44,16];function tr(t){let e=ce("svg",{viewBox:`0 0 ${Ce} ${Ie}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=ce("text",{x:Re+(Ce-Re)*n,y:Ie-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function nr(t,e,n){let r=ce("text",{x:Re-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(ce("line",{x1:Re,x2:Ce,y1:e,y2:e,class:"grid"}),r)}var st=Ie-it-
8;function Ns(t,e){let n=tr("Calls and errors in the last two minutes"),r=ot/er,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/er);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/er))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])nr(
n,Ie-it-st*c,String(Math.round(i*c)));let a=(Ce-Re)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(m,g,y)=>{g>0&&n.append(ce("rect",{x:Re+p*a+.75,width:a-1.5,y:Ie-
it-(m+g)/i*st,height:g/i*st,class:y}))};u(0,d,"failed"),u(d,c,"ok")}),n}function at(t,e){return[...t.filter(({at:n})=>e.at-n<ot),e]}var Ms=(t,e,n,r)=>e.map((s,o)=>ce(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),$s=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function dn(t,e,n,r,s,o){let i=tr(`${t}, in the last two minutes`),a=$s(e,s),c=d=>Ie-it-d/a*st;for(let d of[0,.5,1])nr(i,c(a*d),o(a*d));return i.append(...Ms(e,
n,d=>Ce-(Ce-Re)*(r-d)/ot,c)),i}function rr(t,e,n,r){let s=$s(e,1e-9),o=ce("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...Ms(e,n,i=>120-120*(r-i)/ot,i=>19-i/s*18)),o}function Ts(t,e){let n=tr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<ot),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)nr(n,Ie-it-st*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Ce-(Ce-Re)*(e-a-c)/ot,m=Ie-it-st*((s[p]??0)-o)/(i-o);n.append(ce("circle",{cx:u,
cy:m,r:2.5,class:d===0?"ok":"failed"}))}),n}function As(t){let e=t.slice(-40),n=ce("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(ce("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var Cs=1e3,Li=256,Ui=50,un=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===cn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(cn,cn.methods.watch,{intervalMs:Cs,connections:Li},{signal:s,metadata:r});for await(let{servers:i}of o)
M(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||M(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Cs)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,Bi(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>sr([...o.values()].map(({rates:m})=>m.at(-1)?.values[u]??0)),a=sr(n.map(u=>Number(u.streams))),c=sr(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?at(s.rates,{at:r,values:[i(0),i(1)]}):[],open:at(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:at(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},_i(e),l("div",{className:"plots"},
ir(["Calls of all clients in a second, ",Di("errors")," below"],dn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Is)),ir(["\
Connections, and ",Rs("streams"),p],dn("Connections and streams",d.open,["curve","curve second"],r,4,Is)),ir(["Bytes that wait to be written",p,", and ",Rs("hel\
d for clients")],dn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>$t(BigInt(Math.round(u)))))),this.table(e,o,r),Os(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Ui).map(Pi)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.
get(o);return a&&a.calls>0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),Os(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
o,a.toFixed(a<10?1:0),c,d,or(i?.p50Ns),or(i?.p99Ns),or(i?.maxNs),rr(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),rr(`Averag\
e latencies of ${o}, in the last two minutes`,u,["curve"],r)]))}},sr=t=>t.reduce((e,n)=>e+n,0),Is=t=>String(Math.round(t)),or=(t=0n)=>re(Number(t)/1e6),Di=t=>l(
"span",{className:"failed"},t),Rs=t=>l("span",{className:"second"},t),ir=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function Bi({figures:t},e,n,r=n){let s=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(o-e.calls);return{calls:o,failed:s,spent:i,rates:at(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?at(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function _i({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${$t(s)} of at most ${$t(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Pi=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,
queued:o,memory:i})=>[t||"unknown",re(Number(e)),n,n>0n?re(Number(r)):"",s,$t(o),$t(i)];function Os(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function $t(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var Hi=1e3,pn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new un(e,r);let i=new rt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Ask for the schema again"))),setInterval(()=>this.draw(),Hi)}draw(){
let e=this.element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce(
(p,u)=>p+u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${je(r.since)}`:n],["connections made",String(r.connections)],["sent",Fs(r.sent)],["rece\
ived",Fs(r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];M(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));
let c=Date.now();M(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Ns(s.all,c)),l("fi\
gure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),Ts(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;
d!==this.drawnOf&&(this.drawnOf=d,M(this.methods,s.all.length>0&&this.table()),M(this.history,Yt(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},
n);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&
r<6?"count":""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("\
tr",{},l("td",{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(re(o)),e(re(i)),e(re(a)),l("td",{},As(c)))})))}};function Fs(t){return t<
1e4?`${t} B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var Ls=500,Us=2e4,mn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:Y()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:Y(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:Y(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:Y(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"What the broker of this server publishes. A pattern has * for one part, and > for a\
ll that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>M(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new ze(e.schema)},M(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=fe(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=En(this.schema.tables.of(r),Pe(this.schema.catalog.schema,r,Ae(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
Ls&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${je(Date.now())}`),l("span",{className:"grow"}),We(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?It(o):o)))}for(this.waiting=[];this.log.childElementCount>Ls;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Et(this.schema.catalog.schema,n,kn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${He(e.subarray(0,Us))}`}let r=e.subarray(0,Us);return(n==="hex"?void 0:Qe(r))??He(r)}};var qi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Ds,ar,Bs,Tt,cr]=[ue("services"),ue("main"),ue("state"),ue("filter"),ue("keys")],Ee=new Kt(`${location.origin.replace(/^http/,"w\
s")}/`,()=>Ji()),yn=new Rt,fn=new Map,Ps=new mn(Ee),ke,At="",_s=!1,Ne,lr=0,dr=new pn(Ee,yn,()=>ke,t=>Js(t),()=>void Hs(!0));async function Hs(t){let e=++lr,n=t?
void 0:ke;try{let r=await Ee.catalog(n);if(e!==lr)return;if(At="",r){ke=r;for(let[s,o]of fn)o.isBusy||fn.delete(s);Ps.know(r)}}catch(r){if(e!==lr)return;At=r.message}
ur(),pr(),_s=await Ee.hasBroker(),ue("to-topics").hidden=!_s}function Ji(){Bs.textContent=Ee.wire==="open"?"connected":Ee.wire==="lost"?"connection lost":"conne\
cting",Bs.className=`state ${Ee.wire}`,Ee.wire==="open"&&setTimeout(()=>void Hs(!1))}function ur(){let t=Tt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>we(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(ke?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),M(Ds,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Tt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=we(c),p=Zn(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&M(Ds,l("p",{className:"empty"},ke?"No method has this name.":At?"No services.":"Asking the server…"))}
function pr(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Ne=void 0;let e=ke?.services.flatMap(n=>n.methods).find(n=>we(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")M(ar,Ps.element);else if(e&&ke)Ne=fn.get(t)??new ln(Ee,ke,
e,yn),fn.set(t,Ne),M(ar,Ne.element,Wi(t));else{let n=t&&ke?`The server shows no method ${t}.`:"";M(ar,At&&Vi(),n&&l("p",{className:"notice"},n),dr.element),dr.draw()}}
function Vi(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${At}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware asks for metadata, such as a token, give it below and ask again."))}function Wi(t){let e=l("d\
iv",{}),n=()=>M(e,Yt(yn.all.filter(r=>r.path===t),Js,!0));return n(),qs=n,l("section",{className:"past"},l("h2",{},"History"),e)}var qs=()=>{};yn.listen(()=>{qs(),
dr.draw()});function Js(t){location.hash===`#/${encodeURI(t.path)}`?Ne?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Ne?.
restore(t),{once:!0}))}function ji(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Ne?.end():Ne?.send();else if(t.key==="Escape"&&!cr.open){if(!Ne?.cancel())return}else if(t.key==="/"&&!n)Tt.focus();else if(t.key===
"?"&&!n)cr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ji(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",pr);Tt.addEventListener("input",ur);ue("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Tt.focus()});ue("help").addEventListener("click",()=>cr.showModal());M(ue("key-list"),...qi.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));ur();pr();})();
