"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return yr(r,...n),r}function yr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function M(t,...e){t.replaceChildren(),yr(t,...e)}function le(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function ue(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var Ws=0,W=()=>`e${++Ws}`;function hn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function Ke(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Rt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Ot=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function Z(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var ze=t=>new Date(t).toTimeString().slice(0,8);var js=new TextEncoder,Gs=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),gr=40,he=class extends Error{},U=t=>{throw new he(t)},B=t=>({bytes:t,at:0,depth:0,memory:0}),
ut=(t=64)=>B(new Uint8Array(t)),pe=t=>js.encode(t);function Ft(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.
set(n.subarray(0,r)))}function R(t,e){t.at===t.bytes.length&&Ft(t,1),t.bytes[t.at++]=e}function hr(t,e){R(t,e>>8),R(t,e)}function O(t,e){for(;e>127;e=Math.floor(
e/128))R(t,e|128);R(t,e)}function Q(t,e){Ft(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function Le(t,e){O(t,e.length),Q(t,e)}function Ue(t,e){let{at:n}=t,{length:r}=e,
s=r>gr?128:0;R(t,r);for(let o=0;o<r&&s<128;o++)R(t,s=e.charCodeAt(o));s>127&&(t.at=n,Le(t,pe(e)))}function ce(t,e,n){R(t,e);let{at:r}=t;n();let s=t.bytes.slice(
r,t.at);return t.at=r,Le(t,s),s.length>0}var pt=({bytes:t,at:e})=>t.subarray(0,e),D=({bytes:t,at:e})=>t.length-e,De=({bytes:t,at:e})=>t[e],j=t=>t.bytes[t.at++]??
U("it is cut off");function be(t,e){let n=j(t);n!==e&&U(`${n} stands in the place of ${e}`)}function A(t,e=5){let n=0;for(let r=1;e-- >0;r*=128){let s=j(t);if(s<
128)return n+s*r;n+=(s-128)*r}return U("a number is too long")}function de(t,e=A(t)){return e>D(t)&&U("it is cut off"),t.bytes.subarray(t.at,t.at+=e)}var Be=({bytes:t,
at:e})=>t.slice(e);function G(t,e=A(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=gr)for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=de(t,e);
try{return Gs.decode(i)}catch{U("a text is not UTF-8")}}return t.at+=e,s}var Lt=Xs();var C=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";Object.assign(this,{details:new Uint8Array,metadata:{},mayHaveRun:!0,...s,code:n})}static from(n){
return n instanceof t?n:new t(2,n instanceof Error?n.message:String(n),{cause:n})}};function Xs(){return Object.fromEntries("OK CANCELLED UNKNOWN INVALID_ARGUME\
NT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE D\
ATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var K=(t,e)=>new C(t,e,{mayHaveRun:!1}),Ut=t=>t>0&&t<=16?t:2,mt=(t,e,n)=>new C(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),
Dt=t=>mt(1,"the caller gave the call up",t),br=t=>mt(4,"no answer before the deadline",t);var Pt=100,Ks=64<<20,zs=12,wn=8,xn=56,bn=new Uint8Array(8),vr=new DataView(bn.buffer);function $(t,e,n){let r;return{name:t,fields:()=>r??=Ys(e,n?.()??[])}}function Sn(t,e){
let n=ut(256);return ht(n,t,e),pt(n)}var En=(t,e)=>bt(B(e),t,0);function ht(t,e,n){t.depth=Pt,Er(t,e,n)}function bt(t,e,n){return t.depth=Pt,t.memory=Math.max(Ks,
D(t)*zs),kr(t,e,n)??Nr(t,e)}function Ys(t,e){let n={},r=0;return[...t.matchAll(/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)\b/g)].map(s=>{let[,o,i,a,c,d,p]=s,u=p===
"m"?eo(e[r++]):p==="e"?to(e[r++]):xr[p],m=xr[d],b=m?[2,m.wire,u.wire,10]:c==="*"?[1,u.wire,10]:void 0,h=i?n[i]??=[]:void 0,T={name:i??o,of:u,isOptional:c==="?",
key:m,head:b,case:o,number:+a,all:h};return h?.push(T),T})}var gt=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Er(t,e,n){if(!t.
depth--)throw Sr(e.name,`nests deeper than ${Pt}`);R(t,8),R(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)Zs(t,s,a);else if(s===
o[0]){R(t,3);let c=a,d=o.find(p=>p.case===c?.case);if(c&&!d)throw new Error(`has no member ${c.case}`);O(t,d?d.number:0),d&&ft(t,d.of,c?.value)}}}catch(s){throw s instanceof
C?s:Sr(`${e.name}.${r}`,s.message)}t.depth++}function Zs(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=gt(e)),r){let i=n,a=n;for(let c of r)
R(t,c);if(O(t,s?i.size:a.length),s)for(let[c,d]of i)ft(t,s,c),ft(t,o,d);else for(let c of a)ft(t,o,c)}else n===void 0&&e.isOptional?R(t,0):ft(t,o,n)}function ft(t,e,n){
e.table||R(t,e.wire),e.put(t,n===void 0?e.zero():n)}function kr(t,e,n){if(De(t)===0)return void t.at++;be(t,8),j(t),t.depth--||U(`${e.name} nests deeper than ${Pt}`);
let r=e.fields();kn(t,xn+wn*r.length);let s={},o="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(s[a]=void 0),n>0&&!D(t))n--,c||(s[a]=gt(i));else if(!c)
s[a]=Qs(t,i);else if(p&&De(t)===3){t.at++,o+=` ${a} `;let u=A(t),m=c.find(b=>b.number===u);m?s[a]={case:m.case,value:vn(t,m.of)}:u&&U(`${e.name}.${a} has no mem\
ber ${u}`)}else if(!o.includes(` ${a} `)){let u=_t(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(s[a]={case:i.case,value:u})}}return t.depth++,
s}function Qs(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&De(t)===0)return t.at++,gt(e);if(!n)return _t(t,s);for(let a of n)be(t,a);let o=A(t),i=gt(e);for(;o-- >
0;)kn(t,r?xn:wn),r?i.set(_t(t,r),vn(t,s)):i.push(vn(t,s));return i}function _t(t,{wire:e,table:n,take:r}){return n||be(t,e),r(t)}var vn=(t,e)=>_t(t,e)??Nr(t,e.table);
function Nr(t,e){let n={},r=e.fields();kn(t,xn+wn*r.length);for(let s of r)n[s.name]=s.all?void 0:gt(s);return n}function kn(t,e){(t.memory-=e)<0&&U("it takes t\
oo much memory")}var ve=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),eo=t=>ve(3,()=>{},(e,n)=>n?Er(e,t,n):R(e,0),e=>kr(e,t,0),t);function to(t){let e=Object.
values(t);return ve(10,()=>e[0],(n,r)=>{let s=e.indexOf(r),o=r+2147483648;yt(s>=0||r===(r|0)&&r<0&&o>=e.length,r),O(n,s<0?o:s)},n=>{let r=A(n)>>>0,s=r-2147483648;
return r>=e.length&&(s>=0||e.includes(s))&&U(`an enum has the index ${r}`),e[r]??s})}var Bt=(t,e)=>ve(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(s),i=t?
o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return O(n,i);yt((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)R(n,Number(
a&127n)|128);O(n,Number(a))},n=>{let{at:r}=n,s=A(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)o|=BigInt(n.
bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||U("an integer is beyond 2^53"),Number(s)):BigInt(s)}),wr=(t,e)=>ve(
t,()=>0,(n,r)=>{vr[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)R(n,bn[s])},n=>{for(let r=0;r<e;r++)bn[r]=j(n);return vr[e>4?"getFloat64":"getFloat32"](
0)}),xr={b:ve(7,()=>!1,(t,e)=>R(t,+e),t=>{let e=j(t);return e>1&&U(`a bool is ${e}`),e>0}),i:ve(12,()=>0,(t,e)=>{yt(e===(e|0),e),O(t,(e<<1^e>>31)>>>0)},t=>{let e=A(
t);return e>>>1^-(e&1)}),u:ve(10,()=>0,(t,e)=>{yt(e===e>>>0,e),O(t,e)},t=>A(t)>>>0),l:Bt(!0,!1),w:Bt(!1,!1),L:Bt(!0,!0),W:Bt(!1,!0),f:wr(14,4),d:wr(15,8),s:ve(5,
()=>"",(t,e)=>{yt(typeof e=="string",e),R(t,10),Ue(t,e)},t=>(be(t,10),G(t))),y:ve(4,()=>new Uint8Array,(t,e)=>{R(t,10),Le(t,e)},t=>(be(t,10),de(t).slice()))},Sr=(t,e)=>K(
3,`${t} ${e}`);function yt(t,e){if(!t)throw new Error(`cannot be ${String(e)}`)}var Mn=16,Mr=65536,Tr=256,no=61440,ro={metadata:{}},Nn=t=>t.endsWith("-bin"),$r=(t,e)=>Nn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${Nn(
t)?"":e}`),Tn=t=>typeof t=="string"?pe(t):t;function $n(t,{isBackward:e,timeout:n,metadata:r={},status:s}){let{at:o}=t;ce(t,Mn,()=>{e&&ce(t,4,()=>{}),n!==void 0&&
ce(t,1,()=>O(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!$r(c,d))throw K(3,`metadat\
a breaks the rules: ${c}`);if(a+=c.length+d.length+8,p>=Tr||a>no)throw K(8,"too much metadata");ce(t,2,()=>{Ue(t,c),Q(t,Tn(d))})}),s){let{code:c,details:d,mayHaveRun:p}=s;
ce(t,3,()=>{O(t,c),t.at-o+d.length+32<=Mr&&Q(t,d)}),p||ce(t,5,()=>{})}})||(t.at=o)}function Ht(t){if(De(t)!==Mn)return ro;t.at++;let e=B(de(t));D(e)>Mr&&U("a pr\
efix is too long");let n=Object.create(null),r={metadata:n},s=0;for(;D(e);){let o=j(e),i=B(de(e));if(o===1)r.timeout=A(i,10)/1e3;else if(o===2){let a=G(i),c=Nn(
a)?Be(i):G(i,D(i));(!$r(a,c)||++s>Tr)&&U("metadata breaks the rules"),n[a]=c}else o===3?(r.code=Ut(A(i,10)),r.details=Be(i)):o===5&&(r.isRefused=!0)}return r}function Ar(t){
let e=1;for(;t[e]>127;)e++;return t[0]===Mn&&t[e+1]===4&&t[e+2]===0}function qt(t,{metadata:e,code:n,details:r,isRefused:s}){if(De(t)===6)return t.at++,be(t,5),
be(t,10),new C(n??2,G(t),{metadata:e,mayHaveRun:!s,...r&&{details:r}})}function Cr(t,e,n){$n(t,{isBackward:n,status:e,metadata:e.metadata}),Q(t,[6,5,10]),Ue(t,e.
message)}var _e=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)});function Ir(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw K(9,`incompatibl\
e layouts of ${t.name}`);return 1}var Rr=({added:t=[0,0]},e,n)=>e*t[n];function An(t,e){let n=s=>s.match(/../g)?.forEach(o=>R(t,parseInt(o,16)));Ue(t,e.name),n(
e.fingerprint),O(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let s of[...e.operations].sort((o,i)=>o-i))O(t,s-r),r=s}function Or(t){let e=()=>{let r="";
for(;r.length<16;)r+=j(t).toString(16).padStart(2,"0");return r},n={service:G(t),fingerprint:e(),compatible:[],operations:[]};for(let r=A(t);r>0;r--)n.compatible.
push(e());for(let r=0;D(t);)n.operations.push(r+=A(t));return n}var Cn=5<<20,oo=1024,io=65536,Ze=10,Pe=16384,ao=Pe/2,lo=256,Jt=262144,co=1e5,uo=64<<20,po=65536,mo=2e3,fo=5,yo=1e4,Fr="the server is going away",go=2147483647,Vt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),go));function Lr(t,e,n,r,s){let o=ut(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,m=0,b=0,h=0,T=32767,E=[0,Cn,1/0,Pe,0],k=!1,q=!1,
P,_=Ze,ee=0,J=!1,H=0,te=!1,ne=!1,z=0,oe,ie=()=>{o.at&&(te=!1,ne=!0,k||gn.send(pt(o)),o.at=H=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),gn.buffered()>
uo&&Fe("the server does not take what is sent"))},y=()=>{o.at!==H?(H=o.at,queueMicrotask(y)):(J=!1,ie())},f=(g,v,S,F)=>{let{at:Ge}=o;try{Ft(o,Ze),o.at+=Ze,S?.(o,
F);let se=o.at,Xe=se-Ge-Ze,fr=Math.max(E[1],oo);if(Xe>fr)throw K(8,`the message has ${Xe} bytes, and the server accepts ${fr}`);o.at=Ge;for(let Vs of[15,g,v,Xe>>>
16,Xe])hr(o,Vs);o.at=se}catch(se){throw o.at=Ge,se}o.at>po?ie():J||(J=!0,H=0,queueMicrotask(y))},w=(g,{code:v,message:S})=>f(g,7,F=>{O(F,v),Q(F,pe(S.slice(0,256)))}),
x=(g,v)=>{f(g,5,O,0),w(g,v)},N=g=>{if(!k){if(z=0,P){if(Q(P,g),P.at<_)return;g=pt(P),P=void 0}try{let v=0,S=F=>g[v+F]<<8|g[v+F+1];for(;!k&&!(g.length<(_=v+Ze));v=
_){S(0)!==15&&U("a header without its magic");let F=S(6)*65536+S(8);if(F>Cn&&U(`a packet of ${F} bytes`),g.length<(_+=F))break;I(S(2),S(4),g.subarray(v+Ze,_))}v<
g.length&&(_-=v,Q(P=ut(),g.subarray(v)))}catch(v){Fe(`the server broke the protocol: ${v.message}`)}}},I=(g,v,S)=>{let F=B(S),Ge=i.get(g);if(v>=10)if(V.isUp||U(
"a packet before HELLO"),Ar(S)){if(Te)return Te.packet(g,v,S,!1)}else{let se=d[g%Pe];if(se?.id===g&&se.operation===v)return ge(g),se.isGivenUp?u--:e.replied(se,
S),Y();if(v>=65280&&s.length)return s.forEach(Xe=>Xe.packet(V,g,v,S))}else if(v<2){S.length&&U("a PING or PONG with a body"),v===1?V.isUp||Fe("the server is a p\
lain peer"):te||(te=!0,f(0,1));return}else{if(v===3&&!V.isUp)return re(F);if(v===4)return ae();if(v===6)return Te?.cancel(g,A(F));if(v===8)U("an answer to no ha\
nd-off");else{if(Ge&&v!==3&&v<8)return Ge.packet(v,S);if(v===2){let se=g-T&32767;if(g>=32768&&se&&se<=16384)return T=g,Te?Te.packet(g,2,S,!0):x(g,K(12,"this end\
 serves nothing"))}}}++ee>co&&Fe("too many packets that belong to nothing")},re=g=>{for((D(g)>io||G(g,4)!=="fris"||!j(g))&&U("it sent no HELLO");D(g);){let v=j(
g),S=B(de(g));if(v in E)E[v]=A(S);else if(v===32||v===33)try{let F=Or(S);(v===32?a:c).set(F.service,F)}catch{}}E[3]=Math.min(E[3],Pe),V.isUp=!0,clearTimeout(mr),
e.room(V)},ge=g=>{d[g%Pe]=void 0,p--===E[3]&&e.room(V)},Oe=(g,v,S)=>{i.set(v,g),g.begin(V,v,E[4],S)},Y=()=>{q&&p===u&&!i.size&&!Te?.progress.size&&queueMicrotask(
()=>Fe(Fr))},ae=()=>{q||(q=!0,e.left(V,Fr),Y())},Fe=g=>{k||(ie(),gn.close(),pr(g))},pr=g=>{if(k)return;k=!0,clearInterval(oe),clearTimeout(mr),e.left(V,g),V.isUp=
!1;let v=new C(14,`the connection was lost: ${g}`);for(let S of d)S&&!S.isGivenUp&&e.lost(S,v);for(let S of i.values())S.lost(v);Te?.down(v);for(let S of s)S.down(
V,v)},V={isUp:!1,write:f,reset:w,refuse:x,fits(g){let v=a.get(g.name);if(v)return v.fingerprint===g.fingerprint||n.includes(g)?Ir(g,v):void 0;for(let S of a.values())
if(S.operations.some(F=>g.operations.includes(F)))throw K(12,`the server has ${S.service} in the place of ${g.name}`);return 0},call(g,v){if(p>=E[3])return!1;do
m=m+1&65535;while(d[m%Pe]);let S=g.id=m;d[S%Pe]=g,p++;try{f(S,g.operation,v,g)}catch(F){throw ge(S),F}return!0},cancel(g){k||(g.isGivenUp=!0,f(g.id,6,O,g.operation),
++u>=ao&&ae(),Y())},open(g,v,S){if(!E[2])throw K(12,"the server does not accept streams");if(b>=Math.min(E[2],28672))return!1;do h=h%32767+1;while(i.has(h));return b++,
Oe(g,h,v),f(h,2,S),!0},accept:Oe,over(g){i.delete(g),g<32768&&(b--,e.room(V)),Y()},leave:ae,closeIfIdle:Y},Te=r?.on(V,c),mr=Vt(yo,()=>Fe("no HELLO in time")),gn=t(
{open(){f(0,3,g=>{Q(g,pe("fris"));let v=Te?lo:0;[Cn,v,v,Jt].forEach((S,F)=>ce(g,F+1,()=>O(g,S)));for(let S of r?.services??[])ce(g,32,()=>An(g,S));for(let S of n)
ce(g,33,()=>An(g,S))}),f(1,0),ie(),oe=setInterval(()=>{if(++z>fo)return Fe("the server is silent");(z>1||!ne)&&f(0,0),ne=!1;let g=performance.now();for(let v of d)
v&&v.until<=g&&!v.isGivenUp&&e.look(v)},mo)},data:N,close:pr});return V}function Wt(t,e){let n=[],r=!1,s=()=>{},o=c=>{r||=c,s()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>s=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,o(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),s()},end:o}}var In=64,ho=4,bo=4096,Rn=(t,e)=>t instanceof he?new C(13,`not a valid ${e.name}: ${t.message}`):C.from(t);function Ur(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
m=!0,b=!1,h=!1,T=()=>{},E,k=()=>!u&&!m,{messages:q,items:P,put:_,end:ee}=Wt(f=>{let w=f.length+In;d-=w,p+=w,m&&p*ho>=Jt&&(o?.write(i,5,O,p),p=0);try{let x=B(f),
N=Ht(x);if(x.at&&(s?.(J.metadata=N.metadata),!D(x)))return;let I=qt(x,N);if(I)throw I;return bt(x,e,a)}catch(x){throw Rn(x,e)}},()=>n?z(!0):ie()),J=Object.assign(
q,{metadata:{}}),H=()=>{k()&&(T(),E?.(),o?.over(i),o=E=void 0,r())},te=()=>{u&&(u=!1,o?.write(i,7),H())},ne=f=>{u=m=!1,ee(f),H()},z=(f,w=Dt(!0))=>{k()||o?.reset(
i,w),P.length=0,ne(f)},oe=f=>z(f,f),ie=()=>{P.length=0,b=!0},y=f=>{if(!o||!u)return;let w=f instanceof C;o.write(i,2,x=>{let{at:N}=x;w?Cr(x,f,!1):ht(x,t,f),c-=x.
at-N+In}),w&&te()};return{messages:J,begin(f,w,x,N){o=f,i=w,c=x,a=N},packet(f,w){if(f===2)return!m||b?void 0:d+p>=Jt?oe(new C(8,"the peer sent more than it had \
credit for")):(d+=w.length+In,_(new Uint8Array(w)));let x=B(w);if(f===5){let N=A(x,10);h||=!N,(c+=N)>0&&T()}else if(w.length){let N=Ut(A(x));ne(new C(N,new TextDecoder().
decode(Be(x).subarray(0,bo)),{mayHaveRun:!h}))}else m=!1,ee(!0),H()},send:y,async pump(f){try{let w=Symbol.asyncIterator in f?f[Symbol.asyncIterator]():f[Symbol.
iterator]();for(E=()=>w.return?.();;){for(;c<=0&&!k();)await new Promise(I=>T=I);if(k())return;let{done:x,value:N}=await w.next();if(k())return;if(x)break;y(N)}
E=void 0,te()}catch(w){let x=C.from(w);n?z(x):y(x)}},finish:te,discard:ie,fail:oe,lost:ne}}var vo=3e4,wo=5e3,xo=20,Dr=2e3,Br=10,vt=class{constructor(e,{timeout:n,patience:r=wo,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=Br,p=0,u,m=!1,b="",h=new Set,
T=new Set,E=[],k=()=>{a||u||m||!(h.size||i)||(p=performance.now(),a=Lr(e,q,[...T],o,E))},q={room:y=>queueMicrotask(()=>{for(let f of h){if(a!==y||!P(f,y))return;
h.delete(f)}}),left(y,f){a===y&&(a=void 0,y.isUp&&performance.now()-p>=Dr?c=0:(b=f,clearTimeout(u),u=Vt(Math.random()*Math.min(xo*2**Math.min(c++,16),Dr),()=>{u=
void 0,k()})),k())},replied(y,f){let w=y,{method:{reply:x},options:{onMetadata:N}}=w;J(w);try{let I=B(f),re=Ht(I),ge=qt(I,re);if(ge)throw ge;I.at&&N?.(re.metadata),
w.resolve(bt(I,x,w.missing)),d<Br&&(d+=.1)}catch(I){w.reject(Rn(I,x))}},look:y=>ee(y),lost(y,f){let w=y;if(w.link=void 0,!w.method.idempotent||d<1)return H(w,f);
d--,_(w)}},P=(y,f)=>{let{service:w,method:x}=y;try{let N=w?f.fits(w):0;return N!==void 0?(y.missing=Rr(x,N,1),y.start(y,f)&&(y.isSent=!0)):(T.add(w),c=0,f.leave(),
!1)}catch(N){return H(y,C.from(N)),!0}},_=y=>{if(!(a?.isUp&&P(y,a))){if(m)return H(y,_r());y.patient=performance.now()+r,h.add(y),ee(y),k()}},ee=y=>{let{until:f,
isSent:w,patient:x}=y,N=performance.now();clearTimeout(y.timer),N>=f?H(y,br(w)):N>=x&&h.has(y)&&!a?.isUp?H(y,mt(14,`there is no connection to the server${b&&`; ${b}`}`,
w)):y.timer=Vt((N<x?Math.min(f,x):f)-N,()=>ee(y))},J=y=>{h.delete(y),clearTimeout(y.timer),y.options.signal?.removeEventListener("abort",y.abort)},H=(y,f)=>{J(y),
y.link?.cancel(y),y.reject(f)},te=(y,{told:f,until:w,options:{metadata:x}})=>{(f!==void 0||s||x)&&$n(y,{timeout:f&&w-performance.now(),metadata:{...s,...x}})},ne=(y,f)=>{
te(y,f),ht(y,f.method.request,f.request)},z=(y,f)=>{let w=f.call(y,ne);return w&&(y.link=f),w},oe=(y,f,w,x,N,I,re,ge,Oe=1/0)=>{let{signal:Y}=x,ae={id:0,operation:f.
operation,until:performance.now()+(N??Oe),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:y,method:f,request:w,options:x,told:N,start:I,
resolve:re,reject:ge,abort:Y&&(()=>H(ae,Dt(ae.isSent)))};return Y?.aborted?ae.abort?.():(Y?.addEventListener("abort",ae.abort),N!==void 0&&ee(ae),(N===void 0||N>
0)&&_(ae)),ae},ie=(y,f,w,x={})=>{let N,I=Ur(f.request,f.reply,!0,()=>N&&J(N),x.onMetadata);return N=oe(y,f,w,x,x.timeout,(re,ge)=>{let Oe=ge.open(I,re.missing,Y=>{
te(Y,re),R(Y,9),O(Y,re.operation)});return Oe&&I.pump(w),Oe},()=>{},I.fail),I};this.unary=(y,f,w,x={})=>new Promise((N,I)=>void oe(y,f,w,x,x.timeout??n,z,N,I,vo)),
this.serverStreaming=(y,f,w,x)=>ie(y,f,[w],x).messages,this.twoWay=(y,f,w,x)=>ie(y,f,w,x).messages,this.clientStreaming=async(y,f,w,x)=>{let{messages:N}=ie(y,f,
w,x),{done:I,value:re}=await N.next();if(I)throw new C(13,"there is no reply");return N.return?.(),re},this.name=y=>void T.add(y),this.mount=y=>void E.push(y),this.
connected=()=>new Promise((y,f)=>{oe(void 0,{},void 0,{},void 0,(w,x)=>(J(w),y(x),!0),y,f)}),this.close=()=>{m=!0,clearTimeout(u);for(let y of h)H(y,_r());a?.leave()},
i&&queueMicrotask(k)}},_r=()=>mt(9,"the channel is closed",!1);var jt=65280,So=16<<20,On=64,wt=class{constructor(e){this.channel=e;this.asked=new Map;this.last=0;let{asked:n}=this;e.mount({packet(r,s,o,i){for(let[a,c]of n)(!s||
s===a)&&c.packet(r,s,o-jt,B(i))},down(r,s){for(let o of n.values())o.down(r,s)}})}subscribe(e,{group:n=""}={}){return this.ask(0,e,n)}async publish(e,n){(await this.
connected()).write(0,jt+2,r=>{Le(r,pe(e)),Q(r,Tn(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){let e;do e=await this.channel.connected();while(!e.
isUp);return e}async ask(e,n,r=""){let{asked:s}=this,o=await this.connected(),i=this.last=this.last%65535+1;return new Promise((a,c)=>{let d=0,p=0,{items:u,messages:m,
put:b,end:h}=Wt(({topic:k,payload:q})=>{let P=p;return d-=q.length+On,p=0,{topic:k,payload:q,lagged:P}},()=>{s.delete(i)&&n!==void 0&&o.write(i,jt+1)}),T=k=>{s.
delete(i),c(k),h(k)},E=r?[]:n?.split(".")??[];s.set(i,{packet(k,q,P,_){if(k===o)if(P===2){let ee=G(_),J=ee.split("."),te=(E[E.length-1]===">"?J.length>=E.length:
J.length===E.length)&&E.every((z,oe)=>z===">"||z==="*"||z===J[oe]);if(!q&&!te)return;let ne=Be(_);for(d+=ne.length+On;d>So&&u.length;)d-=u.shift().payload.length+
On,p++;b({topic:ee,payload:ne})}else P===4?p+=A(_,10):q&&(D(_)?T(K([8,12,7][j(_)-3]??3,G(_,D(_)))):a(m))},down(k,q){k===o&&T(q)}}),o.write(i,jt+e,k=>{n!==void 0&&
Le(k,pe(n)),Q(k,pe(r))})})}};var Fn="frisbee.1";function Ln(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{let s=new n(String(t),[Fn,...e]);return s.binaryType="arraybuf\
fer",s.onopen=()=>{s.protocol===Fn?r.open():s.close()},s.onmessage=({data:o})=>{o instanceof ArrayBuffer?r.data(new Uint8Array(o)):s.close()},s.onerror=()=>{},s.
onclose=({code:o,reason:i})=>{r.close(`the WebSocket was closed (${o}${i&&`, ${i}`})`)},{send:o=>s.send(o),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var Eo=64;var Gt=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of me(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of me(e))i===
2?n=we(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=Mo(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>Eo)throw new he("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",m=!1;for(let{number:E,bytes:k}of me(e))E===1?u=we(k):E===2?a.push(k):E===3?c.push(k):E===4?d.push(k):E===7?m=Vr(k,7):E===8&&p.push({name:qr(k),docs:o.
get(`${s},8,${p.length}`)??""});let b=[...r,u],h=Hr(n,b),T=a.map((E,k)=>ko(E,o.get(`${s},2,${k}`)??""));this.messages.set(h,{name:h,package:n,path:b,docs:o.get(
s)??"",fields:T,oneofs:p,isEntry:m}),c.forEach((E,k)=>this.declare(E,n,b,`${s},3,${k}`,o,i+1)),d.forEach((E,k)=>this.declareEnum(E,n,b,`${s},4,${k}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of me(e)){if(p===1&&(a=we(u)),p!==2)continue;let m=0;for(let b of me(u))b.number===2&&(m=b.low|0);i.push({name:qr(u),number:m,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=Hr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},Jr=t=>t===11||t===10||t===
14,Hr=(t,e)=>[...t?[t]:[],...e].join(".");function ko(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of me(t))u.number===1?n=we(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=we(u.bytes).replace(/^\./,""):u.number===8?p=Vr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=we(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new he(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,m)=>m.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var No=new Uint8Array,we=t=>G(B(t),t.length);function*me(t){
let e=B(t);for(;D(e);){let n=A(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(A(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:No,
low:o>>>0}}else if(s===2)yield{number:r,bytes:de(e,A(e)),low:0};else if(s===1||s===5)de(e,s===1?8:4);else throw new he(`a field of the wire type ${s}`)}}function qr(t){
for(let{number:e,bytes:n}of me(t))if(e===1)return we(n);return""}function Vr(t,e){for(let{number:n,low:r}of me(t))if(n===e)return r!==0;return!1}function Mo(t){
let e=new Map;for(let{number:n,bytes:r}of me(t)){if(n!==1)continue;let s="",o="",i="";for(let c of me(r))if(c.number===1){let d=B(c.bytes),p=[];for(;D(d);)p.push(
A(d));s=p.join(",")}else c.number===3?o=we(c.bytes):c.number===4&&(i=we(c.bytes));let a=o||i;a&&e.set(s,Xt(a))}return e}var Xt=t=>t.replace(/^ /gm,"").trim();var $e=t=>`f${t.number}`,et=t=>`o${t}`,Un={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
Qe=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=$o(this.schema,
r),o=s.map(c=>`${$e(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>Jr(c.kind)),a=$(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Un[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is no entry of a map`);return`%${Un[o.kind]}${Un[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${et(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=To(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},To=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function $o(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function Wr(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:m})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:m})),i=_e(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var Dn={POLYGLOT:0,PROTOBUF:1},xt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Ao=$("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Co=$("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Io=$("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Fo]),Ro=$("fr\
pc.reflection.v1.ListRequest","etag:s"),Oo=$("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[xt]),Fo=$("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Dn,Oo]),tt=_e("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Ro,reply:Io,receives:!0,
idempotent:!0},files:{operation:65001,request:Co,reply:Ao,receives:!0,idempotent:!0}});var jr=32<<20,xe=t=>`${t.service.name}/${t.name}`,Kt=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Ln(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new vt(o,
{stayConnected:!0}),this.channel.name(tt),this.topics=new wt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let m of n.serverStreaming(
tt,tt.methods.list,{etag:e?.etag??""},{metadata:r})){if(m.notModified)return;o||=m.etag;for(let b of m.services){let h=s.get(b.name);h?h.methods.push(...b.methods):
s.set(b.name,b)}}let i=[],a=0;for await(let{data:m}of n.serverStreaming(tt,tt.methods.files,{},{metadata:r}))if(i.push(m),a+=m.length,a>jr)throw new C(Lt.RESOURCE_EXHAUSTED,
`the schema has more than ${jr} bytes`);let c=new Uint8Array(a),d=0;for(let m of i)c.set(m,d),d+=m.length;let p=new Gt(c),u=new Qe(p);return{etag:o,schema:p,services:[
...s.values()].map(m=>Lo(m,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Lo(t,e){let n,r=o=>{if(t.codec!==Dn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=Wr(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==xt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:Xt(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===xt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===xt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:Xt(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var zt=t=>Object.entries(Lt).find(([,e])=>e===t)?.[0]??String(t);var Uo=50;function Yt(t,e,n){let r=t.slice(-Uo).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
s)},l("span",{className:"muted"},ze(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},zt(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},Z(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var L=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},X=()=>Object.create(null),_n=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Pn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
He=t=>Pn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Ae(t){try{return JSON.parse(t||"{}")}catch(e){throw new L(
"",e.message)}}function qe(t,e,n,r=""){let s=Ho(t,e,n,r);if(s)return s;if(!_n(n))throw new L(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(m=>m.jsonName===a||m.name===a),p=r?`${r}.${a}`:a;if(!d)throw new L(p,`${e} has no such field${Do(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Bo(t,d,c,p);if(d.oneof===void 0)i[$e(d)]=u;else{let m=et(d.oneof);if(i[m])throw new L(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[m]={case:$e(d),value:u}}}return i}var Do=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Bo(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!_n(n))throw new L(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[_o(o,a,r),Bn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Bn(t,e,n,r);if(!Array.isArray(n))throw new L(r,"a list is an array");return n.map((a,c)=>Bn(t,e,a,`${r}[${c}]`))}function _o(t,e,n){
if(t.kind!==8)return kt(t,e,n);if(e!=="true"&&e!=="false")throw new L(n,`${e} is not true or false`);return e==="true"}var Xr=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Po=t=>[3,4,6,16,18].includes(
t),Hn=t=>t in Xr;function Bn(t,e,n,r){if(e.kind===11)return qe(t,e.type,n,r);if(e.kind!==14)return kt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new L(r,`${s} has no value ${St(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var St=t=>JSON.stringify(t).slice(0,60);function kt(t,e,n=""){let{kind:r}=t,s=Xr[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new L(n,`${St(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new L(n,"an integer of this size is writte\
n as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new L(n,`${i} is not from ${s[0]} to ${s[1]}`);return Po(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new L(n,`${St(e)} is no number`);return Number(
e)}if(r===8){if(typeof e!="boolean")throw new L(n,`${St(e)} is not true or false`);return e}if(typeof e!="string")throw new L(n,`${St(e)} is no text`);return r===
12?fe(e,n):e}function Ho(t,e,n,r){let s=Pn.test(e)&&t.message(e).fields[0];if(s)return{f1:kt(s,n,r)};switch(e){case"google.protobuf.Timestamp":return qo(n,r);case"\
google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new L(r,'a duration is written as "1.5s"');let[,i,a="",
c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new L(r,'a mask is written\
 as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.protobuf.Struct":if(!_n(
n))throw new L(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Et(i,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(n))throw new L(
r,"a ListValue is an array");return{f1:n.map(o=>Et(o,0))};case"google.protobuf.Value":return Et(n,0)}}function qo(t,e){let n=typeof t=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))throw new L(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Et(t,e){if(e>90)throw new L("","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?
n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Et(r,e+1))}):n(5,{f1:new Map(Object.entries(
t).map(([r,s])=>[r,Et(s,e+1)]))})}function Nt(t,e,n){let r=Wo(t,e,n);if(r!==void 0)return r;let s=X();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:
n[et(o.oneof)],a=o.oneof===void 0?n[$e(o)]:i?.case===$e(o)?i.value:void 0;if(a===void 0)continue;let c=Jo(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(s[o.jsonName]=c)}return s}function Jo(t,e,n){let r=t.entry(e)?.fields[1];if(r&&n instanceof Map){let s=X();for(let[o,i]of n)s[String(o)]=Zt(t,r,i);
return s}return Array.isArray(n)?n.map(s=>Zt(t,e,s)):Zt(t,e,n)}function Zt(t,e,n){return e.kind===11?Nt(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(
({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Se(n):typeof n=="bigint"||typeof n=="number"&&!Number.isFinite(n)?String(n):e.kind===2?Vo(n):n}function Vo(t){
for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}function Wo(t,e,n){let r=Pn.test(e)&&t.message(e).fields[0];if(r)return Zt(
t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:
`${o.toISOString().slice(0,19)}${Gr(n.f2)}Z`}case"google.protobuf.Duration":{let[s,o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Gr(Math.abs(o))}s`}case"\
google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).join(",");case"google.protobuf.Struct":return Kr(n);case"google.pro\
tobuf.ListValue":return n.f1.map(Qt);case"google.protobuf.Value":return Qt(n)}}function Kr(t){let e=X();for(let[n,r]of t.f1)e[n]=Qt(r);return e}function Qt(t){let e=t.
o0;return!e||e.case==="f1"?null:e.case==="f5"?Kr(e.value):e.case==="f6"?e.value.f1.map(Qt):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var Gr=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function Se(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.
fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function fe(t,e=""){try{return Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(
0))}catch{throw new L(e,"it is no base64")}}function nt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var Je=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var Ve=t=>Jn(JSON.stringify(t)),Jn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ee=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Jn(t).replace(/'/g,"'\\''")}'`,zr=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:Se(n)]);function Yr({method:t,
requests:e,metadata:n,timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Ee(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of zr(n))i.push(`-H ${Ee(`${p}: ${u}`)}`);let a=Ee(`${s}/${xe(t)}`);if(!o)return[...i,`-d\
 ${Ee(Ve(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(Ve);return[`printf '${c.map(p=>`\\0${jo(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Ee).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var jo=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function Zr({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Ee(a)}`,Ee(xe(t))];for(let d of e)c.push(Ee(Ve(d)));for(let[d,p]of zr(n))c.
push(`-H ${Ee(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var rn=t=>t.replace(/\W/g,"_")||"_",Qr=t=>rn(t).replace(/^_(?=\d)/,"-"),es=t=>rn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Mt=t=>es(t).map(e=>e.toLowerCase()).join("_")||"_",We=t=>es(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",en=t=>We(t).replace(/^./,e=>e.toLowerCase()),Go=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),nn=t=>Go.has(Mt(t))?/^(self|super|crate)$/.test(Mt(t))?`${Mt(t)}_`:`r#${Mt(t)}`:Mt(t),ye=t=>Jn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ts(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=rn(n.service.name.
split(".").pop()??""),c=r.map(b=>rs(e,n.request,b,0)),d=nn(n.name),p=[`let client = ${a}Client::connect(${ye(new URL(i).host)}).await?;`],u=c[0]??`${We(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let m=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...Object.entries(s).map(([b,h])=>typeof h=="string"?`request.metadata_mut().insert(${ye(b)}, ${ye(h)})?;`:`request.metadata_m\
ut().insert_bin(${ye(b)}, &[${[...h].join(", ")}][..])?;`)];return m.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...m),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(b=>`requests.send(${b}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(b=>`    requests.send(${b}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function ns({path:t,package:e}){let n=[...t.slice(0,-1).map(nn),We(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var qn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function rs(t,e,n,r){let s=t.message(e),o=ns(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let m=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(m===void 0||m===null&&u.type!=="google.protobuf.Value")continue;let b=u.oneof===void 0?void 0:s.oneofs[u.oneof],
h=Xo(t,s,u,m,r+1),T=b?b.name:u.name;c.add(T);let E=[...s.path.map(nn),We(b?.name??"")].join("::");a.push(qn(`${nn(T)}: ${b?`Some(${E}::${We(u.name)}(${h}))`:h},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(qn(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${qn("}",r)}`}function Xo(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,m])=>`(${o.kind===9?`${ye(u)}.to_\
owned()`:Qr(u)}, ${tn(t,i,m,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>tn(t,n,d,s)).join(", ")}]`;let a=tn(t,n,r,s),c=n.kind===11&&!He(n.type)&&
ss(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function ss(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&ss(t,s.type,n,r))??!1)}function tn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${ye(String(n))}.parse()?`:He(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?tn(t,s,n,r):He(e.type)?Ko(e.type,n):rs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=We(s.path[s.path.length-1]??""),a=We(o.name);return`${ns(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...fe(String(n))].join(", ")}]`:e.kind===9?`${ye(String(n))}.to_owned()`:e.kind===1||e.kind===2?as(Number(n),e.kind===1?"f64":"f32"):Qr(String(n))}var rt="\
frpc::prost_types::";function Ko(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${rt}FieldMask { paths: vec![${n.map(r=>`${ye(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${rt}Struct { fields: ${is(e)} }`:t===
"google.protobuf.ListValue"?`${rt}ListValue { values: ${os(e)} }`:Vn(e)}function Vn(t){if(t===null)return`${rt}Value::from(${rt}value::Kind::NullValue(0))`;let e=typeof t==
"string"?ye(t):typeof t=="number"?as(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?os(t):is(t);return`${rt}Value::from(${e})`}var os=t=>`vec![${t.map(
Vn).join(", ")}]`,is=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${ye(e)}.to_owned(), ${Vn(n)})`).join(", ")}])`,as=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function ls(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=rn(n.service.name.split(".").pop()??""),c=r.map(b=>ds(e,n.request,qe(e,n.request,b))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${Object.entries(s).map(([b,h])=>`${Ve(b)}: ${typeof h=="string"?Ve(h):cs(h)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${en(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${Ve(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var cs=t=>`new Uint8Array([${[...t].join(", ")}])`;function ds(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=$e(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${en(i.name)}: ${zo(t,i,n[a])}`);continue}let c=n[et(
i.oneof)];c?.case===a&&o.push(`${en(s[i.oneof]?.name??"")}: { case: "${en(i.name)}", value: ${Tt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function zo(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Tt(t,r,o)}, ${Tt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Tt(t,e,o)).join(", ")}]`:Tt(t,e,n)}function Tt(t,e,n){return n instanceof Uint8Array?cs(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?ds(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ve(n):String(n)}var us=new WeakMap;function st(t,e){return us.set(t,e),t}var $t=t=>us.get(t)??X();var ps=16<<20,Wn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function jn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function Gn(t){let e=W(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return st({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=Wn({id:e});return st({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>jn(s,()=>void(s.value.
trim()&&kt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:Hn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!Yo(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!Hn(n)?Number(i):i};return st({element:s,id:e,get:()=>s.
value.trim()?Zo(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var Yo=t=>t===3||t===4||t===6||t===16||t===18,Zo=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function ms(t){let e=W(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return st(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function fs(){
let t=W(),e,n=Wn({id:t,oninput:()=>m()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=i.files?.[0];if(h){if(h.size>ps){o.textContent=`${h.
name} has more than ${ps>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),o.textContent=`${h.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,b.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(n.value);if(h==="base64")return fe(n.
value.replace(/\s/g,""));let T=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(T))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(T.match(/../g)??[],E=>parseInt(E,16))},p=(h,T)=>{let E=T==="text"?nt(h):void 0;r.value=s=T==="text"&&E===void 0?"base64":T,n.value=r.value==="text"?E??"":r.
value==="hex"?Je(h):Se(h),m()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,m()}},m=()=>jn(n,()=>void d(r.value)),b=l("div",{className:"bytes"},n,r,l("button",{type:"\
button",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return st({element:b,id:t,get(){let h=e??d(r.value);return h.length>0?Se(h):void 0},set(h){c(),
p(typeof h=="string"?fe(h):new Uint8Array,r.value)}},"")}function je(t,e,n){let r=W(),s=Wn({id:r,placeholder:e,oninput:()=>jn(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var Qo=3,on=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=bs(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??X()}set(e){this.editor.set(e)}example(){this.set(gs(this.schema,this.name,[]))}};function gs(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(He(e)&&s)return ys(t,s,n);let o=X(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>Qo);if(!p||u||d.kind===10||a.isDeprecated)continue;let m=ys(t,d,i),b=c?.fields[0];b?o[a.jsonName]=
Object.assign(X(),{[b.kind===9?"key":b.kind===8?"true":"1"]:m}):o[a.jsonName]=a.isRepeated?[m]:m}return o}function ys(t,e,n){switch(e.kind){case 11:return gs(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function ei(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${sn(r)}, ${sn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${sn(e)}`}var ti=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],sn=t=>ti[t.kind]||(t.type.split(".").pop()??"");function ot(t,e){
return e.kind===14?ms(t.enumeration(e.type)):e.kind===12?fs():e.kind!==11?Gn(e):ni(t,e.type)}function ni(t,e){switch(e){case"google.protobuf.Timestamp":return je(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return je("text","1.5s");case"google.protobuf.Fiel\
dMask":return je("text","name,homeAddress.city");case"google.protobuf.Struct":return je("json",'{ "key": "value" }');case"google.protobuf.Value":return je("json",
"any JSON");case"google.protobuf.ListValue":return je("json","[1, 2]")}let n=He(e)?t.message(e).fields[0]:void 0;if(!n)return bs(t,e);let r=ot(t,n);return{...r,
get:()=>r.get()??hs(n)}}var hs=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function bs(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=ai(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=ri(t,i);s.append(vs(i.name,ei(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=X();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:X();for(let{take:c}of r)c(a)}}}
function vs(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function ri(t,e){let n=t.entry(e);return n?ii(t,n):e.isRepeated?oi(()=>ot(t,e)):
e.isOptional||e.kind===11?si(()=>ot(t,e),()=>e.kind===11?X():hs(e)):ot(t,e)}function si(t,e){let n=W(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?M(o,(r??=t()).element):M(o,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var ws=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function oi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(o),e.push(i);
let a=l("div",{className:"item"},i.element,ws(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"quiet",onclick:()=>xs(
r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??$t(o)):void 0,set(o){e=[],M(n);for(let i of Array.isArray(
o)?o:[])r(i)}}}var xs=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function ii(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is no entry of a map`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:Gn({...n,kind:n.kind===8?9:n.kind}),value:ot(t,
r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("div",
{className:"item"},p.key.element,p.value.element,ws(()=>{s=s.filter(m=>m!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"qui\
et",onclick:()=>xs(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=X();for(let{key:d,value:p}of s)c[String(
d.get()??$t(d))]=p.get()??$t(p);return c},set(c){if(s=[],M(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function ai(t,e,n){let r=e.
fields.filter(m=>m.oneof===n),s=W(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(m=>l("option",{value:m.jsonName},`${m.name}: ${sn(m)}`))),c=m=>{a.value=m;let b=r.find(T=>T.jsonName===m);if(!b)return void M(o);let h=i.get(m)??ot(t,b);return i.
set(m,h),h.id&&document.getElementById(h.id)?.setAttribute("aria-label",b.name),M(o,h.element,b.docs&&l("p",{className:"docs"},b.docs)),h},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:vs(d,"oneof",p,u,!1),get(){let m=i.get(a.value);return a.
value&&m?Object.assign(X(),{[a.value]:m.get()??$t(m)}):X()},set(m){let b=m,h=r.find(T=>(b[T.jsonName]??b[T.name])!==void 0);c(h?.jsonName??"")?.set(h&&(b[h.jsonName]??
b[h.name]))}}}var it=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?fe(s,o):s)}return e}set(e){M(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:Se(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},"×"));return this.rows.append(o),r}},Xn=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Se(n))]));var Kn=1e5,li=90;function Ss(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return M(t,n,r,s),()=>{M(n,...ci(e)),M(r,e.isOver&&e.status&&di(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),Xn(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
pi(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function ci(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${zt(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},Z(t.took),o&&`, ${o}`)]}function di({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block f\
ailure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byte\
s`),e.length>0&&l("pre",{className:"code"},nt(e)??Je(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&Xn(t.metadata))}function ui(t){let e=t.replace(/\n\s*/g," ");return e.length<=li?e:t}function pi(t,e){let n=e?ui(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Rt(n.slice(0,Kn)),n.length>Kn&&`
… ${n.length-Kn} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${Z(t.at)}`),l("span",{className:"grow"}),Ke(()=>n)),r)}var mi=500,fi=16<<20,an=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new zn;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=C.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Nt(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>mi||this.chars>fi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},zn=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var yi=["Form","JSON","Copy as"],Es={curl:Yr,frpc:Zr,Rust:ts,TypeScript:ls};function Yn({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var ln=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new it(()=>this.
note(""));this.timeout=l("input",{type:"text",id:W(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=hn(yi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new on(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called here: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),M(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=qe(
this.catalog.schema,this.method.request,Ae(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Ae(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=Yn(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
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
length>0?r:[Ae(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=hn(Object.keys(Es),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Es[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),Ke(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new an(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Ss(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:xe(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));M(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var gi={UNKNOWN:0,PLAIN:1,EXTENDED:2,FOREIGN:3},hi=$("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),bi=$("frpc.introspection.v\
1.Close","kind:s reason:s peer:s ageMs:w"),vi=$("frpc.introspection.v1.CloseCount","kind:s count:w"),wi=$("frpc.introspection.v1.CodeCount","code:i count:w"),Zn=$(
"frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",()=>[gi]),
xi=$("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[hi,Ii,Zn,Mi]),Si=$("frpc.introspection.v1.ConnectionReques\
t","server:s number:w"),Ei=$("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[Zn]),ki=$("frpc.introspection.v1.ConnectionsRequest","server:\
s after:w limit:u"),Ni=$("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[wi]),Mi=$("frpc.introspection.v1.Hello","version:\
u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Ti=$("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Ni]),ks=$("frpc.introspection.v1.Se\
rver","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[vi,bi,Fi,Ti]),$i=$("frpc.introsp\
ection.v1.ServerConnections","connections:*m server:m",()=>[Zn,ks]),Ai=$("frpc.introspection.v1.ServersReply","servers:*m",()=>[ks]),Ci=$("frpc.introspection.v1\
.ServersRequest",""),Ii=$("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Ri=$("frpc.introspection.v1.WatchReply",
"servers:*m",()=>[$i]),Oi=$("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Fi=$("frpc.introspection.v1.Worker","tasks:w ready:w polls:w thre\
adsGivenUp:w"),cn=_e("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Ci,reply:Ai,idempotent:!0},connections:{operation:65031,
request:ki,reply:Ei,idempotent:!0},connection:{operation:65032,request:Si,reply:xi,idempotent:!0},watch:{operation:65033,request:Oi,reply:Ri,receives:!0,idempotent:!0}});var lt=12e4,Qn=2e3,[Ce,Ie,Re,ct]=[480,120,44,16];function er(t){let e=le("svg",{viewBox:`0 0 ${Ce} ${Ie}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=le("text",{x:Re+(Ce-Re)*n,y:Ie-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function tr(t,e,n){let r=le("text",{x:Re-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(le("line",{x1:Re,x2:Ce,y1:e,y2:e,class:"grid"}),r)}var at=Ie-ct-
8;function Ns(t,e){let n=er("Calls and errors in the last two minutes"),r=lt/Qn,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/Qn);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/Qn))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])tr(
n,Ie-ct-at*c,String(Math.round(i*c)));let a=(Ce-Re)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(m,b,h)=>{b>0&&n.append(le("rect",{x:Re+p*a+.75,width:a-1.5,y:Ie-
ct-(m+b)/i*at,height:b/i*at,class:h}))};u(0,d,"failed"),u(d,c,"ok")}),n}function dt(t,e){return[...t.filter(({at:n})=>e.at-n<lt),e]}var Ms=(t,e,n,r)=>e.map((s,o)=>le(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),Ts=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function dn(t,e,n,r,s,o){let i=er(`${t}, in the last two minutes`),a=Ts(e,s),c=d=>Ie-ct-d/a*at;for(let d of[0,.5,1])tr(i,c(a*d),o(a*d));return i.append(...Ms(e,
n,d=>Ce-(Ce-Re)*(r-d)/lt,c)),i}function nr(t,e,n,r){let s=Ts(e,1e-9),o=le("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...Ms(e,n,i=>120-120*(r-i)/lt,i=>19-i/s*18)),o}function $s(t,e){let n=er("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<lt),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)tr(n,Ie-ct-at*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Ce-(Ce-Re)*(e-a-c)/lt,m=Ie-ct-at*((s[p]??0)-o)/(i-o);n.append(le("circle",{cx:u,
cy:m,r:2.5,class:d===0?"ok":"failed"}))}),n}function As(t){let e=t.slice(-40),n=le("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(le("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var Cs=1e3,Li=256,Ui=50,un=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===cn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(cn,cn.methods.watch,{intervalMs:Cs,connections:Li},{signal:s,metadata:r});for await(let{servers:i}of o)
M(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||M(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Cs)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,Bi(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>rr([...o.values()].map(({rates:m})=>m.at(-1)?.values[u]??0)),a=rr(n.map(u=>Number(u.streams))),c=rr(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?dt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:dt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:dt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},_i(e),l("div",{className:"plots"},
or(["Calls of all clients in a second, ",Di("errors")," below"],dn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Is)),or(["\
Connections, and ",Rs("streams"),p],dn("Connections and streams",d.open,["curve","curve second"],r,4,Is)),or(["Bytes that wait to be written",p,", and ",Rs("hel\
d for clients")],dn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>At(BigInt(Math.round(u)))))),this.table(e,o,r),Os(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Ui).map(Pi)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.
get(o);return a&&a.calls>0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),Os(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
o,a.toFixed(a<10?1:0),c,d,sr(i?.p50Ns),sr(i?.p99Ns),sr(i?.maxNs),nr(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),nr(`Averag\
e latencies of ${o}, in the last two minutes`,u,["curve"],r)]))}},rr=t=>t.reduce((e,n)=>e+n,0),Is=t=>String(Math.round(t)),sr=(t=0n)=>Z(Number(t)/1e6),Di=t=>l("\
span",{className:"failed"},t),Rs=t=>l("span",{className:"second"},t),or=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function Bi({figures:t},e,n,r=n){let s=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(o-e.calls);return{calls:o,failed:s,spent:i,rates:dt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?dt(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function _i({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${At(s)} of at most ${At(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Pi=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,
queued:o,memory:i})=>[t||"unknown",Z(Number(e)),n,n>0n?Z(Number(r)):"",s,At(o),At(i)];function Os(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",
{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"count":
""},r instanceof Node?r:String(r))))))))}function At(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:
`${(e/1e9).toFixed(1)} GB`}var Hi=1e3,pn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new un(e,r);let i=new it(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Ask for the schema again"))),setInterval(()=>this.draw(),Hi)}draw(){
let e=this.element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce(
(p,u)=>p+u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${ze(r.since)}`:n],["connections made",String(r.connections)],["sent",Fs(r.sent)],["rece\
ived",Fs(r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];M(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));
let c=Date.now();M(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Ns(s.all,c)),l("fi\
gure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),$s(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;
d!==this.drawnOf&&(this.drawnOf=d,M(this.methods,s.all.length>0&&this.table()),M(this.history,Yt(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},
n);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&
r<6?"count":""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("\
tr",{},l("td",{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(Z(o)),e(Z(i)),e(Z(a)),l("td",{},As(c)))})))}};function Fs(t){return t<
1e4?`${t} B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var Ls=500,Us=2e4,mn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:W()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:W(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:W(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:W(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"What the broker of this server publishes. A pattern has * for one part, and > for a\
ll that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>M(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new Qe(e.schema)},M(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=fe(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Sn(this.schema.tables.of(r),qe(this.schema.catalog.schema,r,Ae(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
Ls&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${ze(Date.now())}`),l("span",{className:"grow"}),Ke(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?Rt(o):o)))}for(this.waiting=[];this.log.childElementCount>Ls;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Nt(this.schema.catalog.schema,n,En(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${Je(e.subarray(0,Us))}`}let r=e.subarray(0,Us);return(n==="hex"?void 0:nt(r))??Je(r)}};var qi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Ds,ir,Bs,Ct,lr]=[ue("services"),ue("main"),ue("state"),ue("filter"),ue("keys")],ke=new Kt(`${location.origin.replace(/^http/,"w\
s")}/`,()=>Ji()),yn=new Ot,fn=new Map,Ps=new mn(ke),Ne,It="",_s=!1,Me,ar=0,cr=new pn(ke,yn,()=>Ne,t=>Js(t),()=>void Hs(!0));async function Hs(t){let e=++ar,n=t?
void 0:Ne;try{let r=await ke.catalog(n);if(e!==ar)return;if(It="",r){Ne=r;for(let[s,o]of fn)o.isBusy||fn.delete(s);Ps.know(r)}}catch(r){if(e!==ar)return;It=r.message}
dr(),ur(),_s=await ke.hasBroker(),ue("to-topics").hidden=!_s}function Ji(){Bs.textContent=ke.wire==="open"?"connected":ke.wire==="lost"?"connection lost":"conne\
cting",Bs.className=`state ${ke.wire}`,ke.wire==="open"&&setTimeout(()=>void Hs(!1))}function dr(){let t=Ct.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>xe(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Ne?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),M(Ds,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Ct.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=xe(c),p=Yn(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&M(Ds,l("p",{className:"empty"},Ne?"No method has this name.":It?"No services.":"Asking the server…"))}
function ur(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Me=void 0;let e=Ne?.services.flatMap(n=>n.methods).find(n=>xe(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")M(ir,Ps.element);else if(e&&Ne)Me=fn.get(t)??new ln(ke,Ne,
e,yn),fn.set(t,Me),M(ir,Me.element,Wi(t));else{let n=t&&Ne?`The server shows no method ${t}.`:"";M(ir,It&&Vi(),n&&l("p",{className:"notice"},n),cr.element),cr.draw()}}
function Vi(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${It}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware asks for metadata, such as a token, give it below and ask again."))}function Wi(t){let e=l("d\
iv",{}),n=()=>M(e,Yt(yn.all.filter(r=>r.path===t),Js,!0));return n(),qs=n,l("section",{className:"past"},l("h2",{},"History"),e)}var qs=()=>{};yn.listen(()=>{qs(),
cr.draw()});function Js(t){location.hash===`#/${encodeURI(t.path)}`?Me?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Me?.
restore(t),{once:!0}))}function ji(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Me?.end():Me?.send();else if(t.key==="Escape"&&!lr.open){if(!Me?.cancel())return}else if(t.key==="/"&&!n)Ct.focus();else if(t.key===
"?"&&!n)lr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ji(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",ur);Ct.addEventListener("input",dr);ue("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Ct.focus()});ue("help").addEventListener("click",()=>lr.showModal());M(ue("key-list"),...qi.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));dr();ur();})();
