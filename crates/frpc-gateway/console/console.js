"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[o,s]of Object.entries(e))s!==void 0&&(o.startsWith("on")?r.addEventListener(o.slice(2),s):o.includes(
"-")||o==="role"||o==="list"?r.setAttribute(o,String(s)):r[o]=s);return br(r,...n),r}function br(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function M(t,...e){t.replaceChildren(),br(t,...e)}function le(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
o,s]of Object.entries(e))r.setAttribute(o,String(s));return r.append(...n),r}function ue(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var zo=0,W=()=>`e${++zo}`;function hn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>o(i)},i)),o=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:o}}function Ke(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Ot(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let o of t.matchAll(n)){let[s,i,a]=o;
e.append(t.slice(r,o.index)),r=o.index+s.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??s),a??"")}return e.
append(t.slice(r)),e}var Ft=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let o=this.all.filter(a=>a.path===
e),s=o.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>s[Math.min(s.length-1,Math.floor(s.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:o}})}};
function Z(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var ze=t=>new Date(t).toTimeString().slice(0,8);var Yo=new TextEncoder,Zo=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),vr=40,he=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
U=t=>{throw new he(t)},B=t=>({bytes:t,at:0,depth:0,memory:0}),pt=(t=64)=>B(new Uint8Array(t)),pe=t=>Yo.encode(t);function Lt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&
(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function R(t,e){t.at===t.bytes.length&&Lt(t,1),t.bytes[t.at++]=e}function wr(t,e){
R(t,e>>8),R(t,e)}function O(t,e){for(;e>127;e=Math.floor(e/128))R(t,e|128);R(t,e)}function Q(t,e){Lt(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function Le(t,e){
O(t,e.length),Q(t,e)}function Ue(t,e){let{at:n}=t,{length:r}=e,o=r>vr?128:0;R(t,r);for(let s=0;s<r&&o<128;s++)R(t,o=e.charCodeAt(s));o>127&&(t.at=n,Le(t,pe(e)))}
function ce(t,e,n){R(t,e);let{at:r}=t;n();let o=t.bytes.slice(r,t.at);return t.at=r,Le(t,o),o.length>0}var mt=({bytes:t,at:e})=>t.subarray(0,e),D=({bytes:t,at:e})=>t.
length-e,De=({bytes:t,at:e})=>t[e],j=t=>t.bytes[t.at++]??U("it is cut off");function be(t,e){let n=j(t);n!==e&&U(`${n} stands in the place of ${e}`)}function C(t,e=5){
let n=0;for(let r=1;e-- >0;r*=128){let o=j(t);if(o<128)return n+o*r;n+=(o-128)*r}return U("a number is too long")}function de(t,e=C(t)){return e>D(t)&&U("it is \
cut off"),t.bytes.subarray(t.at,t.at+=e)}var Be=({bytes:t,at:e})=>t.slice(e);function G(t,e=C(t)){let{bytes:n,at:r}=t,o="",s=0;if(e<=vr)for(let i;s<e&&(i=n[r+s])<
128;s++)o+=String.fromCharCode(i);if(s<e){let i=de(t,e);try{return Zo.decode(i)}catch{U("a text is not UTF-8")}}return t.at+=e,o}var Ut=Qo();var I=class t extends Error{constructor(n,r,o){super(r,o);this.name="Status";let{details:s=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=o??{};Object.assign(this,
{details:s,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,bn(n),{cause:n})}};function Qo(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var bn=t=>t instanceof Error?t.message:String(t),K=(t,e)=>new I(t,e,{mayHaveRun:!1}),
Dt=t=>t>0&&t<=16?t:2,ft=(t,e,n)=>new I(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),Bt=t=>ft(1,"the caller gave the call up",t),xr=(t,e="")=>ft(4,`no answer before th\
e deadline${e}`,t);var Ht=100,es=64<<20,ts=12,xn=8,Sn=56,vn=new Uint8Array(8),Sr=new DataView(vn.buffer);function $(t,e,n){let r;return{name:t,fields:()=>r??=ns(e,n?.()??[])}}function En(t,e){
let n=pt(256);return bt(n,t,e),mt(n)}var kn=(t,e)=>vt(B(e),t,0);function bt(t,e,n){t.depth=Ht,Mr(t,e,n)}function vt(t,e,n){return t.depth=Ht,t.memory=Math.max(es,
D(t)*ts),Tr(t,e,n)??$r(t,e)}function ns(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(o=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(o);
if(!s)throw new Error(`invalid table entry: ${o}`);let[,i,a,c,d,p]=s,u=p==="m"?ss(e[r++]):p==="e"?is(e[r++]):kr[p],m=kr[d[1]??""],b=m?[2,m.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,h=a?n.get(a):void 0;a&&!h&&n.set(a,h=[]);let T={name:a??i,of:u,isOptional:d==="?",key:m,head:b,case:i,number:+c,all:h};return h?.push(T),
T})}var ht=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Mr(t,e,n){if(!t.depth--)throw Nr(e.name,`nests deeper than ${Ht}`);R(t,
8),R(t,0);let r="";try{for(let o of e.fields()){let{all:s,name:i}=o,a=n[r=i];if(!s)rs(t,o,a);else if(o===s[0]){R(t,3);let c=a,d=s.find(p=>p.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);O(t,d?d.number:0),d&&yt(t,d.of,c?.value)}}}catch(o){throw o instanceof I?o:Nr(`${e.name}.${r}`,o.message)}t.depth++}
function rs(t,e,n){let{head:r,key:o,of:s}=e;if(n===void 0&&(r||e.isOptional)&&(n=ht(e)),r){let i=n,a=n;for(let c of r)R(t,c);if(O(t,o?i.size:a.length),o)for(let[
c,d]of i)yt(t,o,c),yt(t,s,d);else for(let c of a)yt(t,s,c)}else n===void 0&&e.isOptional?R(t,0):yt(t,s,n)}function yt(t,e,n){e.table||R(t,e.wire),e.put(t,n===void 0?
e.zero():n)}function Tr(t,e,n){if(De(t)===0)return void t.at++;be(t,8),j(t),t.depth--||U(`${e.name} nests deeper than ${Ht}`);let r=e.fields();Nn(t,Sn+xn*r.length);
let o={},s="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(o[a]=void 0),n>0&&!D(t))n--,c||(o[a]=ht(i));else if(!c)o[a]=os(t,i);else if(p&&De(t)===
3){t.at++,s+=` ${a} `;let u=C(t),m=c.find(b=>b.number===u);m?o[a]={case:m.case,value:wn(t,m.of)}:u&&U(`${e.name}.${a} has no member ${u}`)}else if(!s.includes(`\
 ${a} `)){let u=Pt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(o[a]={case:i.case,value:u})}}return t.depth++,o}function os(t,e){let{head:n,
key:r,of:o}=e;if((r||e.isOptional)&&De(t)===0)return t.at++,ht(e);if(!n)return Pt(t,o);for(let a of n)be(t,a);let s=C(t),i=ht(e);for(;s-- >0;)Nn(t,r?Sn:xn),r?i.
set(Pt(t,r),wn(t,o)):i.push(wn(t,o));return i}function Pt(t,{wire:e,table:n,take:r}){return n||be(t,e),r(t)}var wn=(t,e)=>Pt(t,e)??$r(t,e.table);function $r(t,e){
let n={},r=e.fields();Nn(t,Sn+xn*r.length);for(let o of r)n[o.name]=o.all?void 0:ht(o);return n}function Nn(t,e){(t.memory-=e)<0&&U("it takes too much memory")}
var ve=(t,e,n,r,o)=>({wire:t,zero:e,put:n,take:r,table:o}),ss=t=>ve(3,()=>{},(e,n)=>n?Mr(e,t,n):R(e,0),e=>Tr(e,t,0),t);function is(t){let e=Object.values(t);return ve(
10,()=>e[0],(n,r)=>{let o=e.indexOf(r),s=r+2147483648;gt(o>=0||r===(r|0)&&r<0&&s>=e.length,r),O(n,o<0?s:o)},n=>{let r=C(n)>>>0,o=r-2147483648;return r>=e.length&&
(o>=0||e.includes(o))&&U(`an enum has the index ${r}`),e[r]??o})}var _t=(t,e)=>ve(t?13:11,()=>e?0:0n,(n,r)=>{let o=BigInt(r),s=Number(o),i=t?s<0?-2*s-1:2*s:s;if(Number.
isSafeInteger(i)&&i>=0)return O(n,i);gt((t?BigInt.asIntN:BigInt.asUintN)(64,o)===o,r);let a=t?o<<1n^o>>63n:o;for(;a>>53n;a>>=7n)R(n,Number(a&127n)|128);O(n,Number(
a))},n=>{let{at:r}=n,o=C(n,10);if(o<=Number.MAX_SAFE_INTEGER)t&&(o=o%2?(o+1)/-2:o/2);else{let s=0n;for(let i=0n;r<n.at;i+=7n)s|=BigInt(n.bytes[r++]&127)<<i;s=BigInt.
asUintN(64,s),o=t?s>>1n^-(s&1n):s}return e?(Number.isSafeInteger(Number(o))||U("an integer is beyond 2^53"),Number(o)):BigInt(o)}),Er=(t,e)=>ve(t,()=>0,(n,r)=>{
Sr[e>4?"setFloat64":"setFloat32"](0,r);for(let o=0;o<e;o++)R(n,vn[o])},n=>{for(let r=0;r<e;r++)vn[r]=j(n);return Sr[e>4?"getFloat64":"getFloat32"](0)}),kr={b:ve(
7,()=>!1,(t,e)=>R(t,+e),t=>{let e=j(t);return e>1&&U(`a bool is ${e}`),e>0}),i:ve(12,()=>0,(t,e)=>{gt(e===(e|0),e),O(t,(e<<1^e>>31)>>>0)},t=>{let e=C(t);return e>>>
1^-(e&1)}),u:ve(10,()=>0,(t,e)=>{gt(e===e>>>0,e),O(t,e)},t=>C(t)>>>0),l:_t(!0,!1),w:_t(!1,!1),L:_t(!0,!0),W:_t(!1,!0),f:Er(14,4),d:Er(15,8),s:ve(5,()=>"",(t,e)=>{
gt(typeof e=="string",e),R(t,10),Ue(t,e)},t=>(be(t,10),G(t))),y:ve(4,()=>new Uint8Array,(t,e)=>{R(t,10),Le(t,e)},t=>(be(t,10),de(t).slice()))},Nr=(t,e)=>K(3,`${t}\
 ${e}`);function gt(t,e){if(!t)throw new Error(`cannot be ${String(e)}`)}var Tn=16,Ar=65536,Cr=256,as=61440,ls={metadata:{}},Mn=t=>t.endsWith("-bin"),Ir=(t,e)=>Mn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${Mn(
t)?"":e}`),$n=t=>typeof t=="string"?pe(t):t;function An(t,{isBackward:e,timeout:n,metadata:r={},status:o}){let{at:s}=t;ce(t,Tn,()=>{e&&ce(t,4,()=>{}),n!==void 0&&
ce(t,1,()=>O(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Ir(c,d))throw K(3,`metadat\
a breaks the rules: ${c}`);if(a+=c.length+d.length+8,p>=Cr||a>as)throw K(8,"too much metadata");ce(t,2,()=>{Ue(t,c),Q(t,$n(d))})}),o){let{code:c,details:d,mayHaveRun:p}=o;
ce(t,3,()=>{O(t,c),t.at-s+d.length+32<=Ar&&Q(t,d)}),p||ce(t,5,()=>{})}})||(t.at=s)}function qt(t){if(De(t)!==Tn)return ls;t.at++;let e=B(de(t));D(e)>Ar&&U("a pr\
efix is too long");let n=Object.create(null),r={metadata:n},o=0;for(;D(e);){let s=j(e),i=B(de(e));if(s===1)r.timeout=C(i,10)/1e3;else if(s===2){let a=G(i),c=Mn(
a)?Be(i):G(i,D(i));(!Ir(a,c)||++o>Cr)&&U("metadata breaks the rules"),n[a]=c}else s===3?(r.code=Dt(C(i,10)),r.details=Be(i)):s===5&&(r.isRefused=!0)}return r}function Rr(t){
let e=1;for(;t[e]>127;)e++;return t[0]===Tn&&t[e+1]===4&&t[e+2]===0}function Jt(t,{metadata:e,code:n,details:r,isRefused:o}){if(De(t)===6)return t.at++,be(t,5),
be(t,10),new I(n??2,G(t),{metadata:e,mayHaveRun:!o,...r&&{details:r}})}function Or(t,e,n){An(t,{isBackward:n,status:e,metadata:e.metadata}),Q(t,[6,5,10]),Ue(t,e.
message)}var _e=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:o})=>o)});function Fr(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw K(9,`incompatibl\
e layouts of ${t.name}`);return 1}var Lr=({added:t=[0,0]},e,n)=>e*t[n];function Cn(t,e){let n=o=>o.match(/../g)?.forEach(s=>R(t,parseInt(s,16)));Ue(t,e.name),n(
e.fingerprint),O(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let o of[...e.operations].sort((s,i)=>s-i))O(t,o-r),r=o}function Ur(t){let e=()=>{let r="";
for(;r.length<16;)r+=j(t).toString(16).padStart(2,"0");return r},n={service:G(t),fingerprint:e(),compatible:[],operations:[]};for(let r=C(t);r>0;r--)n.compatible.
push(e());for(let r=0;D(t);)n.operations.push(r+=C(t));return n}var In=5<<20,ds=1024,us=65536,Ze=10,Pe=16384,ps=Pe/2,ms=256,Vt=262144,fs=1e5,ys=64<<20,gs=65536,hs=2e3,bs=5,vs=1e4,Dr="the server is going away",ws=2147483647,Wt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),ws));function Br(t,e,n,r,o){let s=pt(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,m=0,b=0,h=0,T=32767,E=[0,In,1/0,Pe,0],k=!1,q=!1,
P,_=Ze,ee=0,J=!1,H=0,te=!1,ne=!1,z=0,se,ie=()=>{s.at&&(te=!1,ne=!0,k||ut?.send(mt(s)),s.at=H=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),(ut?.buffered()??
0)>ys&&Fe("the server does not read: too many unsent bytes"))},g=()=>{s.at!==H?(H=s.at,queueMicrotask(g)):(J=!1,ie())},y=(f,v,S,F)=>{let{at:Ge}=s;try{Lt(s,Ze),s.at+=Ze,S?.(
s,F);let oe=s.at,Xe=oe-Ge-Ze,hr=Math.max(E[1],ds);if(Xe>hr)throw K(8,`the message has ${Xe} bytes, and the server accepts ${hr}`);s.at=Ge;for(let Ko of[15,f,v,Xe>>>
16,Xe])wr(s,Ko);s.at=oe}catch(oe){throw s.at=Ge,oe}s.at>gs?ie():J||(J=!0,H=0,queueMicrotask(g))},w=(f,{code:v,message:S})=>y(f,7,F=>{O(F,v),Q(F,pe(S.slice(0,256)))}),
x=(f,v)=>{y(f,5,O,0),w(f,v)},N=f=>{if(!k){if(z=0,P){if(Q(P,f),P.at<_)return;f=mt(P),P=void 0}try{let v=0,S=F=>f[v+F]<<8|f[v+F+1];for(;!k&&!(f.length<(_=v+Ze));v=
_){S(0)!==15&&U("a header without its magic");let F=S(6)*65536+S(8);if(F>In&&U(`a packet of ${F} bytes`),f.length<(_+=F))break;A(S(2),S(4),f.subarray(v+Ze,_))}v<
f.length&&(_-=v,Q(P=pt(),f.subarray(v)))}catch(v){Fe(`the server broke the protocol: ${v.message}`)}}},A=(f,v,S)=>{let F=B(S),Ge=i.get(f);if(v>=10)if(V.isUp||U(
"a packet before HELLO"),Rr(S)){if(Te)return Te.packet(f,v,S,!1)}else{let oe=d[f%Pe];if(oe?.id===f&&oe.operation===v)return ge(f),oe.isGivenUp?u--:e.replied(oe,
S),Y();if(v>=65280&&o.length)return o.forEach(Xe=>Xe.packet(V,f,v,S))}else if(v<2){S.length&&U("a PING or PONG with a body"),v===1?V.isUp||Fe("the server is a p\
lain peer"):te||(te=!0,y(0,1));return}else{if(v===3&&!V.isUp)return re(F);if(v===4)return ae();if(v===6)return Te?.cancel(f,C(F));if(v===8)U("an answer to no ha\
nd-off");else{if(Ge&&v!==3&&v<8)return Ge.packet(v,S);if(v===2){let oe=f-T&32767;if(f>=32768&&oe&&oe<=16384)return T=f,Te?Te.packet(f,2,S,!0):x(f,K(12,"this end\
 serves nothing"))}}}++ee>fs&&Fe("too many packets that belong to nothing")},re=f=>{for((D(f)>us||G(f,4)!=="fris"||!j(f))&&U("it sent no HELLO");D(f);){let v=j(
f),S=B(de(f));if(v in E)E[v]=C(S);else if(v===32||v===33)try{let F=Ur(S);(v===32?a:c).set(F.service,F)}catch{}}E[3]=Math.min(E[3],Pe),V.isUp=!0,clearTimeout(fr),
e.room(V)},ge=f=>{d[f%Pe]=void 0,p--===E[3]&&e.room(V)},Oe=(f,v,S)=>{i.set(v,f),f.begin(V,v,E[4],S)},Y=()=>{q&&p===u&&!i.size&&!Te?.progress.size&&queueMicrotask(
()=>Fe(Dr))},ae=()=>{q||(q=!0,e.left(V,Dr),Y())},Fe=f=>{k||(ie(),ut?.close(),mr(f))},mr=f=>{if(k)return;k=!0,clearInterval(se),clearTimeout(fr),e.left(V,f),V.isUp=
!1;let v=new I(14,`the connection was lost: ${f}`);for(let S of d)S&&!S.isGivenUp&&e.lost(S,v);for(let S of i.values())S.lost(v);Te?.down(v);for(let S of o)S.down(
V,v)},V={isUp:!1,write:y,reset:w,refuse:x,fits(f){let v=a.get(f.name);if(v)return v.fingerprint===f.fingerprint||n.includes(f)?Fr(f,v):void 0;for(let S of a.values())
if(S.operations.some(F=>f.operations.includes(F)))throw K(12,`the server has ${S.service} in the place of ${f.name}`);return 0},call(f,v){if(p>=E[3])return!1;do
m=m+1&65535;while(d[m%Pe]);let S=f.id=m;d[S%Pe]=f,p++;try{y(S,f.operation,v,f)}catch(F){throw ge(S),F}return!0},cancel(f){k||(f.isGivenUp=!0,y(f.id,6,O,f.operation),
++u>=ps&&ae(),Y())},open(f,v,S){if(!E[2])throw K(12,"the server does not accept streams");if(b>=Math.min(E[2],28672))return!1;do h=h%32767+1;while(i.has(h));return b++,
Oe(f,h,v),y(h,2,S),!0},accept:Oe,over(f){i.delete(f),f<32768&&(b--,e.room(V)),Y()},leave:ae,closeIfIdle:Y},Te=r?.on(V,c),fr=Wt(vs,()=>Fe("no HELLO in time")),Xo=()=>{
y(0,3,f=>{Q(f,pe("fris"));let v=Te?ms:0;[In,v,v,Vt].forEach((S,F)=>ce(f,F+1,()=>O(f,S)));for(let S of r?.services??[])ce(f,32,()=>Cn(f,S));for(let S of n)ce(f,
33,()=>Cn(f,S))}),y(1,0),ie(),se=setInterval(()=>{if(++z>bs)return Fe("the server is silent");(z>1||!ne)&&y(0,0),ne=!1;let f=performance.now();for(let v of d)v&&
v.until<=f&&!v.isGivenUp&&e.look(v)},hs)},ut,yr=f=>ut?f():queueMicrotask(f),gr=f=>yr(()=>mr(f));try{ut=t({open:()=>yr(Xo),data:N,close:gr})}catch(f){gr(bn(f))}return V}function jt(t,e){let n=[],r=!1,o=()=>{},s=c=>{r||=c,o()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>o=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,s(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),o()},end:s}}var Rn=64,xs=4,Ss=4096,On=(t,e)=>t instanceof he?new I(13,`not a valid ${e.name}: ${t.message}`):I.from(t);function _r(t,e,n,r,o){let s,i=0,a=0,c=0,d=0,p=0,u=!0,
m=!0,b=!1,h=!1,T=()=>{},E,k=()=>!u&&!m,{messages:q,items:P,put:_,end:ee}=jt(y=>{let w=y.length+Rn;d-=w,p+=w,m&&p*xs>=Vt&&(s?.write(i,5,O,p),p=0);try{let x=B(y),
N=qt(x);if(x.at&&(o?.(J.metadata=N.metadata),!D(x)))return;let A=Jt(x,N);if(A)throw A;return vt(x,e,a)}catch(x){throw On(x,e)}},()=>n?z(!0):ie()),J=Object.assign(
q,{metadata:{}}),H=()=>{k()&&(T(),E?.(),s?.over(i),s=E=void 0,r())},te=()=>{u&&(u=!1,s?.write(i,7),H())},ne=y=>{u=m=!1,ee(y),H()},z=(y,w=Bt(!0))=>{k()||s?.reset(
i,w),P.length=0,ne(y)},se=y=>z(y,y),ie=()=>{P.length=0,b=!0},g=y=>{if(!s||!u)return;let w=y instanceof I;s.write(i,2,x=>{let{at:N}=x;w?Or(x,y,!1):bt(x,t,y),c-=x.
at-N+Rn}),w&&te()};return{messages:J,begin(y,w,x,N){s=y,i=w,c=x,a=N},packet(y,w){if(y===2)return!m||b?void 0:d+p>=Vt?se(new I(8,"the peer sent more than it had \
credit for")):(d+=w.length+Rn,_(new Uint8Array(w)));let x=B(w);if(y===5){let N=C(x,10);h||=!N,(c+=N)>0&&T()}else if(w.length){let N=Dt(C(x));ne(new I(N,new TextDecoder().
decode(Be(x).subarray(0,Ss)),{mayHaveRun:!h}))}else m=!1,ee(!0),H()},send:g,async pump(y){try{let w=Symbol.asyncIterator in y?y[Symbol.asyncIterator]():y[Symbol.
iterator]();for(E=async()=>{try{await w.return?.()}catch{}};;){for(;c<=0&&!k();)await new Promise(A=>T=A);if(k())return;let{done:x,value:N}=await w.next();if(k())
return;if(x)break;g(N)}E=void 0,te()}catch(w){let x=I.from(w);n?z(x):g(x)}},finish:te,discard:ie,fail:se,lost:ne}}var Es=3e4,ks=5e3,Ns=20,Pr=2e3,Hr=10,wt=class{constructor(e,{timeout:n,patience:r=ks,metadata:o,serve:s,stayConnected:i}={}){let a,c=0,d=Hr,p=0,u,m=!1,b="",h=new Set,
T=new Set,E=[],k=()=>{a||u||m||!(h.size||i)||(p=performance.now(),a=Br(e,q,[...T],s,E))},q={room:g=>queueMicrotask(()=>{for(let y of h){if(a!==g||!P(y,g))return;
h.delete(y)}}),left(g,y){a===g&&(a=void 0,g.isUp&&performance.now()-p>=Pr?c=0:(b=y,clearTimeout(u),u=Wt(Math.random()*Math.min(Ns*2**Math.min(c++,16),Pr),()=>{u=
void 0,k()})),k())},replied(g,y){let w=g,{method:{reply:x},options:{onMetadata:N}}=w;J(w);try{let A=B(y),re=qt(A),ge=Jt(A,re);if(ge)throw ge;A.at&&N?.(re.metadata),
w.resolve(vt(A,x,w.missing)),d<Hr&&(d+=.1)}catch(A){w.reject(On(A,x))}},look:g=>ee(g),lost(g,y){let w=g;if(w.link=void 0,!w.method.idempotent||d<1)return H(w,y);
d--,_(w)}},P=(g,y)=>{let{service:w,method:x}=g;try{let N=w?y.fits(w):0;return N!==void 0?(g.missing=Lr(x,N,1),g.start(g,y)&&(g.isSent=!0)):(T.add(w),c=0,y.leave(),
!1)}catch(N){return H(g,I.from(N)),!0}},_=g=>{if(!(a?.isUp&&P(g,a))){if(m)return H(g,qr());g.patient=performance.now()+r,h.add(g),ee(g),k()}},ee=g=>{let{until:y,
isSent:w,patient:x}=g,N=performance.now(),A=h.has(g)&&!a?.isUp&&`no connection to the server${b&&`: ${b}`}`;clearTimeout(g.timer),N>=y?H(g,xr(w,A?`; ${A}`:"")):
N>=x&&A?H(g,ft(14,A,w)):g.timer=Wt((N<x?Math.min(y,x):y)-N,()=>ee(g))},J=g=>{h.delete(g),clearTimeout(g.timer),g.options.signal?.removeEventListener("abort",g.abort)},
H=(g,y)=>{J(g),g.link?.cancel(g),g.reject(y)},te=(g,{told:y,until:w,options:{metadata:x}})=>{(y!==void 0||o||x)&&An(g,{timeout:y&&w-performance.now(),metadata:{
...o,...x}})},ne=(g,y)=>{te(g,y),bt(g,y.method.request,y.request)},z=(g,y)=>{let w=y.call(g,ne);return w&&(g.link=y),w},se=(g,y,w,x,N,A,re,ge,Oe=1/0)=>{let{signal:Y}=x,
ae={id:0,operation:y.operation,until:performance.now()+(N??Oe),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:g,method:y,request:w,
options:x,told:N,start:A,resolve:re,reject:ge,abort:Y&&(()=>H(ae,Bt(ae.isSent)))};return Y?.aborted?ae.abort?.():(Y?.addEventListener("abort",ae.abort),N!==void 0&&
ee(ae),(N===void 0||N>0)&&_(ae)),ae},ie=(g,y,w,x={})=>{let N,A=_r(y.request,y.reply,!0,()=>N&&J(N),x.onMetadata);return N=se(g,y,w,x,x.timeout,(re,ge)=>{let Oe=ge.
open(A,re.missing,Y=>{te(Y,re),R(Y,9),O(Y,re.operation)});return Oe&&A.pump(w),Oe},()=>{},A.fail),A};this.unary=(g,y,w,x={})=>new Promise((N,A)=>void se(g,y,w,x,
x.timeout??n,z,N,A,Es)),this.serverStreaming=(g,y,w,x)=>ie(g,y,[w],x).messages,this.twoWay=(g,y,w,x)=>ie(g,y,w,x).messages,this.clientStreaming=async(g,y,w,x)=>{
let{messages:N}=ie(g,y,w,x),{done:A,value:re}=await N.next();if(A)throw new I(13,"there is no reply");return N.return?.(),re},this.name=g=>void T.add(g),this.mount=
g=>void E.push(g),this.connected=()=>new Promise((g,y)=>{se(void 0,{},void 0,{},void 0,(w,x)=>(J(w),g(x),!0),g,y)}),this.close=()=>{m=!0,clearTimeout(u);for(let g of h)
H(g,qr());a?.leave()},i&&queueMicrotask(k)}},qr=()=>ft(9,"the channel is closed",!1);var Gt=65280,Ms=16<<20,Fn=64,xt=class{constructor(e){this.channel=e;this.asked=new Map;this.last=0;let{asked:n}=this;e.mount({packet(r,o,s,i){for(let[a,c]of n)(!o||
o===a)&&c.packet(r,o,s-Gt,B(i))},down(r,o){for(let s of n.values())s.down(r,o)}})}subscribe(e,{group:n=""}={}){return this.ask(0,e,n)}async publish(e,n){(await this.
connected()).write(0,Gt+2,r=>{Le(r,pe(e)),Q(r,$n(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){let e;do e=await this.channel.connected();while(!e.
isUp);return e}async ask(e,n,r=""){let{asked:o}=this,s=await this.connected(),i=this.last=this.last%65535+1;return new Promise((a,c)=>{let d=0,p=0,{items:u,messages:m,
put:b,end:h}=jt(({topic:k,payload:q})=>{let P=p;return d-=q.length+Fn,p=0,{topic:k,payload:q,lagged:P}},()=>{o.delete(i)&&n!==void 0&&s.write(i,Gt+1)}),T=k=>{o.
delete(i),c(k),h(k)},E=r?[]:n?.split(".")??[];o.set(i,{packet(k,q,P,_){if(k===s)if(P===2){let ee=G(_),J=ee.split("."),te=(E[E.length-1]===">"?J.length>=E.length:
J.length===E.length)&&E.every((z,se)=>z===">"||z==="*"||z===J[se]);if(!q&&!te)return;let ne=Be(_);for(d+=ne.length+Fn;d>Ms&&u.length;)d-=u.shift().payload.length+
Fn,p++;b({topic:ee,payload:ne})}else P===4?p+=C(_,10):q&&(D(_)?T(K([8,12,7][j(_)-3]??3,G(_,D(_)))):a(m))},down(k,q){k===s&&T(q)}}),s.write(i,Gt+e,k=>{n!==void 0&&
Le(k,pe(n)),Q(k,pe(r))})})}};var Ln="frisbee.1";function Un(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let o=new n(String(t),[Ln,...e]);return o.binaryType="arraybuffer",o.onopen=()=>{o.protocol===Ln?r.open():o.close()},
o.onmessage=({data:s})=>{s instanceof ArrayBuffer?r.data(new Uint8Array(s)):o.close()},o.onerror=()=>{},o.onclose=({code:s,reason:i})=>{r.close(`the WebSocket w\
as closed (${s}${i&&`, ${i}`})`)},{send:s=>o.send(s),close:()=>o.close(),buffered:()=>o.bufferedAmount}}}var Ts=64;var Xt=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of me(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],o=new Map;for(let{number:i,bytes:a}of me(e))i===
2?n=we(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(o=Cs(a));let s={4:0,5:0};for(let{number:i,bytes:a}of r){let c=s[i]??0;s[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,o,0):this.declareEnum(a,n,[],d,o)}}declare(e,n,r,o,s,i){if(i>Ts)throw new he("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",m=!1;for(let{number:E,bytes:k}of me(e))E===1?u=we(k):E===2?a.push(k):E===3?c.push(k):E===4?d.push(k):E===7?m=Gr(k,7):E===8&&p.push({name:Wr(k),docs:s.
get(`${o},8,${p.length}`)??""});let b=[...r,u],h=Vr(n,b),T=a.map((E,k)=>$s(E,s.get(`${o},2,${k}`)??""));this.messages.set(h,{name:h,package:n,path:b,docs:s.get(
o)??"",fields:T,oneofs:p,isEntry:m}),c.forEach((E,k)=>this.declare(E,n,b,`${o},3,${k}`,s,i+1)),d.forEach((E,k)=>this.declareEnum(E,n,b,`${o},4,${k}`,s))}declareEnum(e,n,r,o,s){
let i=[],a="";for(let{number:p,bytes:u}of me(e)){if(p===1&&(a=we(u)),p!==2)continue;let m=0;for(let b of me(u))b.number===2&&(m=b.low|0);i.push({name:Wr(u),number:m,
docs:s.get(`${o},2,${i.length}`)??""})}let c=[...r,a],d=Vr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:s.get(o)??"",values:i})}},jr=t=>t===11||t===10||t===
14,Vr=(t,e)=>[...t?[t]:[],...e].join(".");function $s(t,e){let n="",r="",o="",[s,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of me(t))u.number===1?n=we(u.bytes):u.number===
3?s=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?o=we(u.bytes).replace(/^\./,""):u.number===8?p=Gr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=we(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new he(`a field of the kind ${a}`);return{name:n,number:s,kind:a,type:o,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,m)=>m.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var As=new Uint8Array,we=t=>G(B(t),t.length);function*me(t){
let e=B(t);for(;D(e);){let n=C(e),r=n>>>3,o=n&7;if(o===0){let s=0,i=0;for(let a of t.subarray(e.at,(C(e,10),e.at)))i<32&&(s|=(a&127)<<i),i+=7;yield{number:r,bytes:As,
low:s>>>0}}else if(o===2)yield{number:r,bytes:de(e,C(e)),low:0};else if(o===1||o===5)de(e,o===1?8:4);else throw new he(`a field of the wire type ${o}`)}}function Wr(t){
for(let{number:e,bytes:n}of me(t))if(e===1)return we(n);return""}function Gr(t,e){for(let{number:n,low:r}of me(t))if(n===e)return r!==0;return!1}function Cs(t){
let e=new Map;for(let{number:n,bytes:r}of me(t)){if(n!==1)continue;let o="",s="",i="";for(let c of me(r))if(c.number===1){let d=B(c.bytes),p=[];for(;D(d);)p.push(
C(d));o=p.join(",")}else c.number===3?s=we(c.bytes):c.number===4&&(i=we(c.bytes));let a=s||i;a&&e.set(o,Kt(a))}return e}var Kt=t=>t.replace(/^ /gm,"").trim();var $e=t=>`f${t.number}`,et=t=>`o${t}`,Dn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
Qe=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),o=Rs(this.schema,
r),s=o.map(c=>`${$e(c)}:${this.spec(r,c)}`).join(" "),i=o.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>jr(c.kind)),a=$(e,s,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),o=Dn[n.kind];if(r){let[s,i]=r.fields;if(!s||!i)throw new Error(
`${r.name} is no entry of a map`);return`%${Dn[s.kind]}${Dn[i.kind]}`}if(n.isRepeated)return`*${o}`;if(n.oneof!==void 0){let s=e.fields.filter(i=>i.oneof===n.oneof);
return`${et(n.oneof)}/${s.indexOf(n)+1}/${o}`}return n.isOptional&&o!=="m"?`?${o}`:o}choice(e){let n=this.enums.get(e);return n||(n=Is(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},Is=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Rs(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(o=>n(o)===r))}function Xr(t,e,n,r,o){let s=o.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:m})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:m})),i=_e(e,n,r,Object.fromEntries(s.map((a,c)=>[`m${c}`,a])));return s.
map(a=>({service:i,method:a}))}var Bn={POLYGLOT:0,PROTOBUF:1},St={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Os=$("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Fs=$("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Ls=$("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Bs]),Us=$("fr\
pc.reflection.v1.ListRequest","etag:s"),Ds=$("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[St]),Bs=$("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Bn,Ds]),tt=_e("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Us,reply:Ls,receives:!0,
idempotent:!0},files:{operation:65001,request:Fs,reply:Os,receives:!0,idempotent:!0}});var Kr=32<<20,xe=t=>`${t.service.name}/${t.name}`,zt=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Un(e),o=i=>{this.wire=i,n()},s=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),o("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{o("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new wt(s,
{stayConnected:!0}),this.channel.name(tt),this.topics=new xt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,o=new Map,s="";for await(let m of n.serverStreaming(
tt,tt.methods.list,{etag:e?.etag??""},{metadata:r})){if(m.notModified)return;s||=m.etag;for(let b of m.services){let h=o.get(b.name);h?h.methods.push(...b.methods):
o.set(b.name,b)}}let i=[],a=0;for await(let{data:m}of n.serverStreaming(tt,tt.methods.files,{},{metadata:r}))if(i.push(m),a+=m.length,a>Kr)throw new I(Ut.RESOURCE_EXHAUSTED,
`the schema has more than ${Kr} bytes`);let c=new Uint8Array(a),d=0;for(let m of i)c.set(m,d),d+=m.length;let p=new Xt(c),u=new Qe(p);return{etag:s,schema:p,services:[
...o.values()].map(m=>_s(m,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function _s(t,e){let n,r=s=>{if(t.codec!==Bn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=Xr(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==St.UNKNOWN}))),n[s]},o={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:Kt(t.docs),isDeprecated:t.isDeprecated,methods:[]};return o.methods=
t.methods.map((s,i)=>({service:o,name:s.name,operation:s.operation,request:s.request,response:s.response,sends:s.requestStreams,receives:s.responseStreams,idempotency:s.
idempotency===St.NO_SIDE_EFFECTS?"no side effects":s.idempotency===St.IDEMPOTENT?"idempotent":"",formats:s.formats,docs:Kt(s.docs),isDeprecated:s.isDeprecated,callable:()=>r(
i)})),o}var Yt=t=>Object.entries(Ut).find(([,e])=>e===t)?.[0]??String(t);var Ps=50;function Zt(t,e,n){let r=t.slice(-Ps).reverse().map(o=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
o)},l("span",{className:"muted"},ze(o.beganAt)),l("span",{className:o.code===0?"badge ok":"badge failed"},Yt(o.code)),!n&&l("span",{className:"path"},o.path),l(
"span",{className:"muted shortened"},(o.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},Z(o.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var L=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},X=()=>Object.create(null),Pn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Hn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
He=t=>Hn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Ae(t){try{return JSON.parse(t||"{}")}catch(e){throw new L(
"",e.message)}}function qe(t,e,n,r=""){let o=Ws(t,e,n,r);if(o)return o;if(!Pn(n))throw new L(r,`${e} is an object`);let s=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=s.fields.find(m=>m.jsonName===a||m.name===a),p=r?`${r}.${a}`:a;if(!d)throw new L(p,`${e} has no such field${Hs(s)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=qs(t,d,c,p);if(d.oneof===void 0)i[$e(d)]=u;else{let m=et(d.oneof);if(i[m])throw new L(p,`${s.oneofs[d.oneof]?.name} has two \
members`);i[m]={case:$e(d),value:u}}}return i}var Hs=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function qs(t,e,n,r){let o=t.
entry(e),[s,i]=o?.fields??[];if(s&&i){if(!Pn(n))throw new L(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[Js(s,a,r),_n(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return _n(t,e,n,r);if(!Array.isArray(n))throw new L(r,"a list is an array");return n.map((a,c)=>_n(t,e,a,`${r}[${c}]`))}function Js(t,e,n){
if(t.kind!==8)return Nt(t,e,n);if(e!=="true"&&e!=="false")throw new L(n,`${e} is not true or false`);return e==="true"}var Yr=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Vs=t=>[3,4,6,16,18].includes(
t),qn=t=>t in Yr;function _n(t,e,n,r){if(e.kind===11)return qe(t,e.type,n,r);if(e.kind!==14)return Nt(e,n,r);let{name:o,values:s}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=s.find(a=>a.name===n);if(!i)throw new L(r,`${o} has no value ${Et(n)}; it has: ${s.map(a=>a.name).join(", ")}`);return i.
number}var Et=t=>JSON.stringify(t).slice(0,60);function Nt(t,e,n=""){let{kind:r}=t,o=Yr[r];if(o){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new L(n,`${Et(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new L(n,"an integer of this size is writte\
n as text, in quotes");let i=BigInt(e);if(i<o[0]||i>o[1])throw new L(n,`${i} is not from ${o[0]} to ${o[1]}`);return Vs(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new L(n,`${Et(e)} is no number`);return Number(
e)}if(r===8){if(typeof e!="boolean")throw new L(n,`${Et(e)} is not true or false`);return e}if(typeof e!="string")throw new L(n,`${Et(e)} is no text`);return r===
12?fe(e,n):e}function Ws(t,e,n,r){let o=Hn.test(e)&&t.message(e).fields[0];if(o)return{f1:Nt(o,n,r)};switch(e){case"google.protobuf.Timestamp":return js(n,r);case"\
google.protobuf.Duration":{let s=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!s)throw new L(r,'a duration is written as "1.5s"');let[,i,a="",
c=""]=s,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new L(r,'a mask is written\
 as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(s=>s.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.protobuf.Struct":if(!Pn(
n))throw new L(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([s,i])=>[s,kt(i,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(n))throw new L(
r,"a ListValue is an array");return{f1:n.map(s=>kt(s,0))};case"google.protobuf.Value":return kt(n,0)}}function js(t,e){let n=typeof t=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))throw new L(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function kt(t,e){if(e>90)throw new L("","nests too deep");let n=(r,o)=>({o0:{case:`f${r}`,value:o}});return t===null?
n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(4,t):Array.isArray(t)?n(6,{f1:t.map(r=>kt(r,e+1))}):n(5,{f1:new Map(Object.entries(
t).map(([r,o])=>[r,kt(o,e+1)]))})}function Mt(t,e,n){let r=Ks(t,e,n);if(r!==void 0)return r;let o=X();for(let s of t.message(e).fields){let i=s.oneof===void 0?void 0:
n[et(s.oneof)],a=s.oneof===void 0?n[$e(s)]:i?.case===$e(s)?i.value:void 0;if(a===void 0)continue;let c=Gs(t,s,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(o[s.jsonName]=c)}return o}function Gs(t,e,n){let r=t.entry(e)?.fields[1];if(r&&n instanceof Map){let o=X();for(let[s,i]of n)o[String(s)]=Qt(t,r,i);
return o}return Array.isArray(n)?n.map(o=>Qt(t,e,o)):Qt(t,e,n)}function Qt(t,e,n){return e.kind===11?Mt(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(
({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Se(n):typeof n=="bigint"||typeof n=="number"&&!Number.isFinite(n)?String(n):e.kind===2?Xs(n):n}function Xs(t){
for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}function Ks(t,e,n){let r=Hn.test(e)&&t.message(e).fields[0];if(r)return Qt(
t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let o=Number(n.f1),s=new Date(o*1e3);return Number.isNaN(s.getTime())||o<-62135596800||o>253402300799?void 0:
`${s.toISOString().slice(0,19)}${zr(n.f2)}Z`}case"google.protobuf.Duration":{let[o,s]=[n.f1,n.f2];return`${o<0n||s<0?"-":""}${o<0n?-o:o}${zr(Math.abs(s))}s`}case"\
google.protobuf.FieldMask":return n.f1.map(o=>o.replace(/_([a-z])/g,(s,i)=>i.toUpperCase())).join(",");case"google.protobuf.Struct":return Zr(n);case"google.pro\
tobuf.ListValue":return n.f1.map(en);case"google.protobuf.Value":return en(n)}}function Zr(t){let e=X();for(let[n,r]of t.f1)e[n]=en(r);return e}function en(t){let e=t.
o0;return!e||e.case==="f1"?null:e.case==="f5"?Zr(e.value):e.case==="f6"?e.value.f1.map(en):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var zr=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function Se(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.
fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function fe(t,e=""){try{return Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(
0))}catch{throw new L(e,"it is no base64")}}function nt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var Je=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var Ve=t=>Vn(JSON.stringify(t)),Vn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ee=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Vn(t).replace(/'/g,"'\\''")}'`,Qr=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:Se(n)]);function eo({method:t,
requests:e,metadata:n,timeout:r,origin:o}){let s=t.sends||t.receives,i=[s?"curl -sN":"curl",`-H 'content-type: application/${s?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Ee(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of Qr(n))i.push(`-H ${Ee(`${p}: ${u}`)}`);let a=Ee(`${o}/${xe(t)}`);if(!s)return[...i,`-d\
 ${Ee(Ve(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(Ve);return[`printf '${c.map(p=>`\\0${zs(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Ee).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var zs=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function to({method:t,requests:e,metadata:n,timeout:r,origin:o}){let{
host:s,protocol:i}=new URL(o),a=i==="https:"?`wss://${s}/`:s,c=[`frpc call --server ${Ee(a)}`,Ee(xe(t))];for(let d of e)c.push(Ee(Ve(d)));for(let[d,p]of Qr(n))c.
push(`-H ${Ee(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var on=t=>t.replace(/\W/g,"_")||"_",no=t=>on(t).replace(/^_(?=\d)/,"-"),ro=t=>on(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Tt=t=>ro(t).map(e=>e.toLowerCase()).join("_")||"_",We=t=>ro(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",tn=t=>We(t).replace(/^./,e=>e.toLowerCase()),Ys=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),rn=t=>Ys.has(Tt(t))?/^(self|super|crate)$/.test(Tt(t))?`${Tt(t)}_`:`r#${Tt(t)}`:Tt(t),ye=t=>Vn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function oo(t){let{schema:e,method:n,requests:r,metadata:o,timeout:s,origin:i}=t,a=on(n.service.name.
split(".").pop()??""),c=r.map(b=>io(e,n.request,b,0)),d=rn(n.name),p=[`let client = ${a}Client::connect(${ye(new URL(i).host)}).await?;`],u=c[0]??`${We(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let m=[...s===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(s)}));`],...Object.entries(o).map(([b,h])=>typeof h=="string"?`request.metadata_mut().insert(${ye(b)}, ${ye(h)})?;`:`request.metadata_m\
ut().insert_bin(${ye(b)}, &[${[...h].join(", ")}][..])?;`)];return m.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...m),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(b=>`requests.send(${b}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(b=>`    requests.send(${b}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function so({path:t,package:e}){let n=[...t.slice(0,-1).map(rn),We(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Jn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function io(t,e,n,r){let o=t.message(e),s=so(o),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of o.fields){
let m=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(m===void 0||m===null&&u.type!=="google.protobuf.Value")continue;let b=u.oneof===void 0?void 0:o.oneofs[u.oneof],
h=Zs(t,o,u,m,r+1),T=b?b.name:u.name;c.add(T);let E=[...o.path.map(rn),We(b?.name??"")].join("::");a.push(Jn(`${rn(T)}: ${b?`Some(${E}::${We(u.name)}(${h}))`:h},`,
r+1))}let d=new Set(o.fields.map(u=>u.oneof===void 0?u.name:o.oneofs[u.oneof]?.name));if(a.length===0)return`${s}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Jn(`..${s}::default()`,r+1));let p=`${s} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${s} {
${a.join(`
`)}
${Jn("}",r)}`}function Zs(t,e,n,r,o){let[s,i]=t.entry(n)?.fields??[];if(s&&i)return`HashMap::from([${Object.entries(r).map(([u,m])=>`(${s.kind===9?`${ye(u)}.to_\
owned()`:no(u)}, ${nn(t,i,m,o)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>nn(t,n,d,o)).join(", ")}]`;let a=nn(t,n,r,o),c=n.kind===11&&!He(n.type)&&
ao(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function ao(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(o=>o.kind===11&&!o.isRepeated&&ao(t,o.type,n,r))??!1)}function nn(t,e,n,r){if(e.kind===11){let[o]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${ye(String(n))}.parse()?`:He(e.type)&&o&&/Value$/.test(e.type)&&o.name===
"value"?nn(t,o,n,r):He(e.type)?Qs(e.type,n):io(t,e.type,n,r)}if(e.kind===14){let o=t.enumeration(e.type),s=o.values.find(({name:c})=>c===n);if(!s)return String(
Number(n)|0);let i=We(o.path[o.path.length-1]??""),a=We(s.name);return`${so(o)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...fe(String(n))].join(", ")}]`:e.kind===9?`${ye(String(n))}.to_owned()`:e.kind===1||e.kind===2?uo(Number(n),e.kind===1?"f64":"f32"):no(String(n))}var rt="\
frpc::prost_types::";function Qs(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`));
return`${rt}FieldMask { paths: vec![${n.map(r=>`${ye(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${rt}Struct { fields: ${co(e)} }`:t===
"google.protobuf.ListValue"?`${rt}ListValue { values: ${lo(e)} }`:Wn(e)}function Wn(t){if(t===null)return`${rt}Value::from(${rt}value::Kind::NullValue(0))`;let e=typeof t==
"string"?ye(t):typeof t=="number"?uo(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?lo(t):co(t);return`${rt}Value::from(${e})`}var lo=t=>`vec![${t.map(
Wn).join(", ")}]`,co=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${ye(e)}.to_owned(), ${Wn(n)})`).join(", ")}])`,uo=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function po(t){let{
schema:e,method:n,requests:r,metadata:o,timeout:s,origin:i}=t,a=on(n.service.name.split(".").pop()??""),c=r.map(b=>fo(e,n.request,qe(e,n.request,b))),d=[...s===
void 0?[]:[`timeout: ${s}`],...Object.keys(o).length===0?[]:[`metadata: { ${Object.entries(o).map(([b,h])=>`${Ve(b)}: ${typeof h=="string"?Ve(h):mo(h)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${tn(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${Ve(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var mo=t=>`new Uint8Array([${[...t].join(", ")}])`;function fo(t,e,n){
let{fields:r,oneofs:o}=t.message(e),s=[];for(let i of r){let a=$e(i);if(i.oneof===void 0){n[a]!==void 0&&s.push(`${tn(i.name)}: ${ei(t,i,n[a])}`);continue}let c=n[et(
i.oneof)];c?.case===a&&s.push(`${tn(o[i.oneof]?.name??"")}: { case: "${tn(i.name)}", value: ${$t(t,i,c.value)} }`)}return s.length>0?`{ ${s.join(", ")} }`:"{}"}
function ei(t,e,n){let[r,o]=t.entry(e)?.fields??[];return r&&o?`new Map([${[...n].map(([s,i])=>`[${$t(t,r,s)}, ${$t(t,o,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(s=>$t(t,e,s)).join(", ")}]`:$t(t,e,n)}function $t(t,e,n){return n instanceof Uint8Array?mo(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?fo(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ve(n):String(n)}var yo=new WeakMap;function ot(t,e){return yo.set(t,e),t}var At=t=>yo.get(t)??X();var go=16<<20,jn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function Gn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function Xn(t){let e=W(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return ot({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=jn({id:e});return ot({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>Gn(o,()=>void(o.value.
trim()&&Nt(t,s()))),o=l("input",{type:"text",id:e,className:"number",inputMode:qn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),s=()=>{
let i=o.value.trim();return Number.isSafeInteger(Number(i))&&!ti(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!qn(n)?Number(i):i};return ot({element:o,id:e,get:()=>o.
value.trim()?ni(s()):void 0,set(i){o.value=i==null?"":String(i),r()}},0)}var ti=t=>t===3||t===4||t===6||t===16||t===18,ni=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function ho(t){let e=W(),n=l("select",{id:e},...t.values.map(({name:o,number:s,docs:i})=>l("option",{value:o,title:i},`${o} = ${s}`))),[r]=t.values;return ot(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:o=>n.value=t.values.find(({name:s,number:i})=>s===o||i===o)?.name??r?.name??""},r?.name??0)}function bo(){
let t=W(),e,n=jn({id:t,oninput:()=>m()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),o=r.value,
s=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=i.files?.[0];if(h){if(h.size>go){s.textContent=`${h.
name} has more than ${go>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),s.textContent=`${h.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,b.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,s.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(n.value);if(h==="base64")return fe(n.
value.replace(/\s/g,""));let T=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(T))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(T.match(/../g)??[],E=>parseInt(E,16))},p=(h,T)=>{let E=T==="text"?nt(h):void 0;r.value=o=T==="text"&&E===void 0?"base64":T,n.value=r.value==="text"?E??"":r.
value==="hex"?Je(h):Se(h),m()},u=()=>{try{p(d(o),r.value)}catch{o=r.value,m()}},m=()=>Gn(n,()=>void d(r.value)),b=l("div",{className:"bytes"},n,r,l("button",{type:"\
button",className:"quiet",onclick:()=>i.click()},"File…"),i,s,a);return ot({element:b,id:t,get(){let h=e??d(r.value);return h.length>0?Se(h):void 0},set(h){c(),
p(typeof h=="string"?fe(h):new Uint8Array,r.value)}},"")}function je(t,e,n){let r=W(),o=jn({id:r,placeholder:e,oninput:()=>Gn(o,()=>void(t==="json"&&o.value&&JSON.
parse(o.value)))}),s=n&&l("button",{type:"button",className:"quiet",onclick:()=>o.value=n.json()},n.label);return{element:l("div",{className:"free"},o,s),id:r,get:()=>o.
value.trim()?t==="json"?JSON.parse(o.value):o.value.trim():void 0,set:i=>o.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var ri=3,an=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=So(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??X()}set(e){this.editor.set(e)}example(){this.set(wo(this.schema,this.name,[]))}};function wo(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),o=r.fields[0];if(He(e)&&o)return vo(t,o,n);let s=X(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>ri);if(!p||u||d.kind===10||a.isDeprecated)continue;let m=vo(t,d,i),b=c?.fields[0];b?s[a.jsonName]=
Object.assign(X(),{[b.kind===9?"key":b.kind===8?"true":"1"]:m}):s[a.jsonName]=a.isRepeated?[m]:m}return s}function vo(t,e,n){switch(e.kind){case 11:return wo(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:o})=>o!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function oi(t,e){let n=t.entry(e),[r,o]=n?.fields??
[];return r&&o?`map<${sn(r)}, ${sn(o)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${sn(e)}`}var si=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],sn=t=>si[t.kind]||(t.type.split(".").pop()??"");function st(t,e){
return e.kind===14?ho(t.enumeration(e.type)):e.kind===12?bo():e.kind!==11?Xn(e):ii(t,e.type)}function ii(t,e){switch(e){case"google.protobuf.Timestamp":return je(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return je("text","1.5s");case"google.protobuf.Fiel\
dMask":return je("text","name,homeAddress.city");case"google.protobuf.Struct":return je("json",'{ "key": "value" }');case"google.protobuf.Value":return je("json",
"any JSON");case"google.protobuf.ListValue":return je("json","[1, 2]")}let n=He(e)?t.message(e).fields[0]:void 0;if(!n)return So(t,e);let r=st(t,n);return{...r,
get:()=>r.get()??xo(n)}}var xo=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function So(t,e){let n=t.message(e),r=[],o=l("div",{className:"fields"}),s=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(s.has(i.oneof))continue;s.add(i.oneof);let c=ui(t,n,i.oneof);o.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=ai(t,i);o.append(Eo(i.name,oi(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&o.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:o,get(){let i=X();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:X();for(let{take:c}of r)c(a)}}}
function Eo(t,e,n,r,o){let s=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},s,l("span",{className:"type"},e),o&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function ai(t,e){let n=t.entry(e);return n?di(t,n):e.isRepeated?ci(()=>st(t,e)):
e.isOptional||e.kind===11?li(()=>st(t,e),()=>e.kind===11?X():xo(e)):st(t,e)}function li(t,e){let n=W(),r,o=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
o.checked)}),s=l("div",{className:"inside"}),i=l("div",{className:"presence"},o,s),a=c=>{o.checked=c,c?M(s,(r??=t()).element):M(s,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>o.checked?r?.get()??e():void 0,set(c){a(c!=null),o.checked&&r?.set(c)}}}var ko=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function ci(t){let e=[],n=l("div",{className:"items"}),r=s=>{let i=t();s!==void 0&&i.set(s),e.push(i);
let a=l("div",{className:"item"},i.element,ko(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},o=l("button",{type:"button",className:"quiet",onclick:()=>No(
r().element)},"Add");return{element:l("div",{className:"list"},n,o),get:()=>e.length>0?e.map(s=>s.get()??At(s)):void 0,set(s){e=[],M(n);for(let i of Array.isArray(
s)?s:[])r(i)}}}var No=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function di(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is no entry of a map`);let o=[],s=l("div",{className:"items"}),i=(c,d)=>{let p={key:Xn({...n,kind:n.kind===8?9:n.kind}),value:st(t,
r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),o.push(p);let u=l("div",
{className:"item"},p.key.element,p.value.element,ko(()=>{o=o.filter(m=>m!==p),u.remove()}));return s.append(u),p.key},a=l("button",{type:"button",className:"qui\
et",onclick:()=>No(i().element)},"Add");return{element:l("div",{className:"list"},s,a),get(){if(o.length===0)return;let c=X();for(let{key:d,value:p}of o)c[String(
d.get()??At(d))]=p.get()??At(p);return c},set(c){if(o=[],M(s),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function ui(t,e,n){let r=e.
fields.filter(m=>m.oneof===n),o=W(),s=l("div",{className:"inside"}),i=new Map,a=l("select",{id:o,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(m=>l("option",{value:m.jsonName},`${m.name}: ${sn(m)}`))),c=m=>{a.value=m;let b=r.find(T=>T.jsonName===m);if(!b)return void M(s);let h=i.get(m)??st(t,b);return i.
set(m,h),h.id&&document.getElementById(h.id)?.setAttribute("aria-label",b.name),M(s,h.element,b.docs&&l("p",{className:"docs"},b.docs)),h},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,s),id:o,get:()=>{},set(){}};return{element:Eo(d,"oneof",p,u,!1),get(){let m=i.get(a.value);return a.
value&&m?Object.assign(X(),{[a.value]:m.get()??At(m)}):X()},set(m){let b=m,h=r.find(T=>(b[T.jsonName]??b[T.name])!==void 0);c(h?.jsonName??"")?.set(h&&(b[h.jsonName]??
b[h.name]))}}}var it=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",o=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),s=r.trim().toLowerCase();s&&(e[s]=s.endsWith("-bin")?fe(o,s):o)}return e}set(e){M(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:Se(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),o=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),s=l("div",{className:"item"},r,o,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{s.remove(),this.changed()}},"×"));return this.rows.append(s),r}},Kn=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Se(n))]));var zn=1e5,pi=90;function Mo(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),o=l("ol",{className:"log","aria-label":"Messages"}),{method:s}=e,
i=s.sends||s.receives;i||o.classList.add("one");let a=0;return M(t,n,r,o),()=>{M(n,...mi(e)),M(r,e.isOver&&e.status&&fi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),Kn(e.metadata)));let c=o.scrollHeight-o.scrollTop-o.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;o.childElementCount>0&&o.childElementCount+p>e.messages.length;)o.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&o.append(
gi(u,i));a=e.dropped+e.messages.length,c&&(o.scrollTop=o.scrollHeight)}}function mi(t){let{sent:e,received:n,method:r}=t,s=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},s)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${Yt(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},Z(t.took),s&&`, ${s}`)]}function fi({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block f\
ailure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byte\
s`),e.length>0&&l("pre",{className:"code"},nt(e)??Je(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&Kn(t.metadata))}function yi(t){let e=t.replace(/\n\s*/g," ");return e.length<=pi?e:t}function gi(t,e){let n=e?yi(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Ot(n.slice(0,zn)),n.length>zn&&`
… ${n.length-zn} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${Z(t.at)}`),l("span",{className:"grow"}),Ke(()=>n)),r)}var hi=500,bi=16<<20,ln=class{constructor(e,n,r,o,s){this.catalog=n;this.method=r;this.terms=o;this.changed=s;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new Yn;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:o,method:s}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(o,s,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(o,s,a,i))}}catch(o){this.status=I.from(o)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Mt(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>hi||this.chars>bi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},Yn=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var vi=["Form","JSON","Copy as"],To={curl:eo,frpc:to,Rust:oo,TypeScript:po};function Zn({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var cn=class{constructor(e,n,r,o){this.server=e;this.catalog=n;this.method=
r;this.records=o;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new it(()=>this.
note(""));this.timeout=l("input",{type:"text",id:W(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=hn(vi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let s="";try{r.callable(),this.form=new an(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){s=i.message}this.element=l("article",{className:"method"},this.header(),s?l("p",{className:"notice"},`\
This method cannot be called here: ${s}.`):l("div",{className:"panes"},this.request(),this.output)),s||(this.tabs.select("Form"),this.act(),M(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=qe(
this.catalog.schema,this.method.request,Ae(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Ae(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=Zn(e),r=o=>l("span",{className:"tag"},o);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,o)=>l("button",{type:"button",className:"quiet",onclick:o},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Ae(this.json.value))}),this.tab=e,e==="Form"?M(this.body,this.form?.element):e==="JSON"?M(this.body,this.json):this.attempt(()=>M(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Ae(a.json)),o=n.sends&&r&&r.
length>0?r:[Ae(this.formText())],s={schema:this.catalog.schema,method:n,requests:o,origin:location.origin,...this.terms()},i=hn(Object.keys(To),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=To[this.command](s))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),Ke(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new ln(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Mo(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:xe(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,o=c=>l("kbd",{},c),s=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===s)return;this.actions.dataset.state=s;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",o("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",o("Ctrl ↵"));M(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",o("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",o("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var wi={UNKNOWN:0,PLAIN:1,EXTENDED:2,FOREIGN:3},xi=$("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Si=$("frpc.introspection.v\
1.Close","kind:s reason:s peer:s ageMs:w"),Ei=$("frpc.introspection.v1.CloseCount","kind:s count:w"),ki=$("frpc.introspection.v1.CodeCount","code:i count:w"),Qn=$(
"frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",()=>[wi]),
Ni=$("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[xi,Li,Qn,Ci]),Mi=$("frpc.introspection.v1.ConnectionReques\
t","server:s number:w"),Ti=$("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[Qn]),$i=$("frpc.introspection.v1.ConnectionsRequest","server:\
s after:w limit:u"),Ai=$("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[ki]),Ci=$("frpc.introspection.v1.Hello","version:\
u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Ii=$("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Ai]),$o=$("frpc.introspection.v1.Se\
rver","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[Ei,Si,Bi,Ii]),Ri=$("frpc.introsp\
ection.v1.ServerConnections","connections:*m server:m",()=>[Qn,$o]),Oi=$("frpc.introspection.v1.ServersReply","servers:*m",()=>[$o]),Fi=$("frpc.introspection.v1\
.ServersRequest",""),Li=$("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Ui=$("frpc.introspection.v1.WatchReply",
"servers:*m",()=>[Ri]),Di=$("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Bi=$("frpc.introspection.v1.Worker","tasks:w ready:w polls:w thre\
adsGivenUp:w"),dn=_e("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Fi,reply:Oi,idempotent:!0},connections:{operation:65031,
request:$i,reply:Ti,idempotent:!0},connection:{operation:65032,request:Mi,reply:Ni,idempotent:!0},watch:{operation:65033,request:Di,reply:Ui,receives:!0,idempotent:!0}});var lt=12e4,er=2e3,[Ce,Ie,Re,ct]=[480,120,44,16];function tr(t){let e=le("svg",{viewBox:`0 0 ${Ce} ${Ie}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let o=le("text",{x:Re+(Ce-Re)*n,y:Ie-3,"text-anchor":n===0?"start":n===1?"end":"middle"});o.textContent=r,e.append(o)}return e}
function nr(t,e,n){let r=le("text",{x:Re-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(le("line",{x1:Re,x2:Ce,y1:e,y2:e,class:"grid"}),r)}var at=Ie-ct-
8;function Ao(t,e){let n=tr("Calls and errors in the last two minutes"),r=lt/er,o=Array.from({length:r},()=>({ok:0,failed:0})),s=Math.floor(e/er);for(let{beganAt:c,
took:d,code:p}of t){let u=o[r-1-(s-Math.floor((c+d)/er))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...o.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])nr(
n,Ie-ct-at*c,String(Math.round(i*c)));let a=(Ce-Re)/r;return o.forEach(({ok:c,failed:d},p)=>{let u=(m,b,h)=>{b>0&&n.append(le("rect",{x:Re+p*a+.75,width:a-1.5,y:Ie-
ct-(m+b)/i*at,height:b/i*at,class:h}))};u(0,d,"failed"),u(d,c,"ok")}),n}function dt(t,e){return[...t.filter(({at:n})=>e.at-n<lt),e]}var Co=(t,e,n,r)=>e.map((o,s)=>le(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[s]??0).toFixed(1)}`).join(" "),class:o})),Io=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function un(t,e,n,r,o,s){let i=tr(`${t}, in the last two minutes`),a=Io(e,o),c=d=>Ie-ct-d/a*at;for(let d of[0,.5,1])nr(i,c(a*d),s(a*d));return i.append(...Co(e,
n,d=>Ce-(Ce-Re)*(r-d)/lt,c)),i}function rr(t,e,n,r){let o=Io(e,1e-9),s=le("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return s.append(
...Co(e,n,i=>120-120*(r-i)/lt,i=>19-i/o*18)),s}function Ro(t,e){let n=tr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<lt),o=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),s=Math.floor(Math.min(0,...o)),i=Math.ceil(Math.max(2,...o));for(let a=s;a<=i;a++)nr(n,Ie-ct-at*(a-s)/(i-s),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Ce-(Ce-Re)*(e-a-c)/lt,m=Ie-ct-at*((o[p]??0)-s)/(i-s);n.append(le("circle",{cx:u,
cy:m,r:2.5,class:d===0?"ok":"failed"}))}),n}function Oo(t){let e=t.slice(-40),n=le("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:o})=>o));return e.forEach(({took:o,code:s},i)=>{let a=Math.max(1.5,o/r*20);n.append(le("rect",{x:i*3,width:2,y:20-a,height:a,class:s===0?"ok":"f\
ailed"}))}),n}var Fo=1e3,_i=256,Pi=50,pn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===dn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:o}=e;try{let s=n.serverStreaming(dn,dn.methods.watch,{intervalMs:Fo,connections:_i},{signal:o,metadata:r});for await(let{servers:i}of s)
M(this.content,...i.map(a=>this.draw(a)))}catch(s){o.aborted||M(this.content,l("p",{className:"problem"},s.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Fo)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),o=this.before.get(e.name),s=new Map(e.methods.map(u=>[u.name,qi(u,o?.methods.
get(u.name),r,o?.at)])),i=u=>or([...s.values()].map(({rates:m})=>m.at(-1)?.values[u]??0)),a=or(n.map(u=>Number(u.streams))),c=or(n.map(u=>Number(u.queued))),d={
at:r,methods:s,rates:o?dt(o.rates,{at:r,values:[i(0),i(1)]}):[],open:dt(o?.open??[],{at:r,values:[Number(e.open),a]}),bytes:dt(o?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Ji(e),l("div",{className:"plots"},
ir(["Calls of all clients in a second, ",Hi("errors")," below"],un("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Lo)),ir(["\
Connections, and ",Uo("streams"),p],un("Connections and streams",d.open,["curve","curve second"],r,4,Lo)),ir(["Bytes that wait to be written",p,", and ",Uo("hel\
d for clients")],un("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Ct(BigInt(Math.round(u)))))),this.table(e,s,r),Do(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Pi).map(Vi)))}table({methods:e},n,r){let o=e.flatMap(({name:s,figures:i})=>{let a=n.
get(s);return a&&a.calls>0n?[{name:s,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return o.sort((s,i)=>i.rate-s.rate||Number(i.calls-s.calls)),Do(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],o.map(({name:s,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
s,a.toFixed(a<10?1:0),c,d,sr(i?.p50Ns),sr(i?.p99Ns),sr(i?.maxNs),rr(`Calls and errors of ${s}, in the last two minutes`,p,["curve","curve failed"],r),rr(`Averag\
e latencies of ${s}, in the last two minutes`,u,["curve"],r)]))}},or=t=>t.reduce((e,n)=>e+n,0),Lo=t=>String(Math.round(t)),sr=(t=0n)=>Z(Number(t)/1e6),Hi=t=>l("\
span",{className:"failed"},t),Uo=t=>l("span",{className:"second"},t),ir=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function qi({figures:t},e,n,r=n){let o=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),s=(t?.ok??0n)+o,i=t?.sumNs??0n;if(!e||s<e.calls||n<=r)return{calls:s,failed:o,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(s-e.calls);return{calls:s,failed:o,spent:i,rates:dt(e.rates,{at:n,values:[c/a,Number(o-e.failed)/a]}),times:c>0?dt(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function Ji({name:t,open:e,opened:n,shed:r,memoryHeld:o,memoryMax:s,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Ct(o)} of at most ${Ct(s)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Vi=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:o,
queued:s,memory:i})=>[t||"unknown",Z(Number(e)),n,n>0n?Z(Number(r)):"",o,Ct(s),Ct(i)];function Do(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",
{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,o)=>l("td",{className:o>0?"count":
""},r instanceof Node?r:String(r))))))))}function Ct(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:
`${(e/1e9).toFixed(1)} GB`}var Wi=1e3,mn=class{constructor(e,n,r,o,s){this.server=e;this.records=n;this.catalog=r;this.open=o;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new pn(e,r);let i=new it(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:s},"Reload the schema"))),setInterval(()=>this.draw(),Wi)}draw(){
let e=this.element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:o}=this,s=this.catalog(),i=s?.services.reduce(
(p,u)=>p+u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${ze(r.since)}`:n],["connections made",String(r.connections)],["sent",Bo(r.sent)],["rece\
ived",Bo(r.received)],["services",s?`${s.services.length}, with ${i} methods`:"unknown"]];M(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));
let c=Date.now();M(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Ao(o.all,c)),l("fi\
gure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),Ro(o.all,c)));let d=o.all.length===0?0:(o.all[o.all.length-1]?.beganAt??0)+o.all.length;
d!==this.drawnOf&&(this.drawnOf=d,M(this.methods,o.all.length>0&&this.table()),M(this.history,Zt(o.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},
n);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&
r<6?"count":""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:o,p50:s,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("\
tr",{},l("td",{},d),e(String(r)),l("td",{className:o>0?"count failed":"count"},String(o)),e(Z(s)),e(Z(i)),e(Z(a)),l("td",{},Oo(c)))})))}};function Bo(t){return t<
1e4?`${t} B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var _o=500,Po=2e4,fn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:W()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:W(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:W(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),o=l("textarea",{id:W(),rows:3,spellcheck:!1}),s=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for a\
ll that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),o.value,s.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:o.id},"Payload"),o,s,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>M(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new Qe(e.schema)},M(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let o of n)
this.arrived(o)}catch(o){this.problem.textContent=`${e}: ${o.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let o=n;r==="base64"?o=fe(n.replace(/\s/g,"")):r==="hex"?o=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],s=>parseInt(s,16)):r!=="text"&&this.schema&&
(o=En(this.schema.tables.of(r),qe(this.schema.catalog.schema,r,Ae(n)))),await this.server.topics.publish(e,o)}arrived(e){this.waiting.push(e),this.waiting.length>
_o&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:o}of this.waiting){o>0&&this.log.append(l("li",{className:"muted"},`${o} messages were lost here, since thi\
s page did not take them in time`));let s=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${ze(Date.now())}`),l("span",{className:"grow"}),Ke(()=>s)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
s)?Ot(s):s)))}for(this.waiting=[];this.log.childElementCount>_o;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Mt(this.schema.catalog.schema,n,kn(this.schema.tables.of(n),e)),void 0,
2)}catch(o){return`not a valid ${n}: ${o.message}
${Je(e.subarray(0,Po))}`}let r=e.subarray(0,Po);return(n==="hex"?void 0:nt(r))??Je(r)}};var ji=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Ho,ar,qo,It,cr]=[ue("services"),ue("main"),ue("state"),ue("filter"),ue("keys")],ke=new zt(`${location.origin.replace(/^http/,"w\
s")}/`,()=>Gi()),gn=new Ft,yn=new Map,Vo=new fn(ke),Ne,Rt="",Jo=!1,Me,lr=0,dr=new mn(ke,gn,()=>Ne,t=>Go(t),()=>void Wo(!0));async function Wo(t){let e=++lr,n=t?
void 0:Ne;try{let r=await ke.catalog(n);if(e!==lr)return;if(Rt="",r){Ne=r;for(let[o,s]of yn)s.isBusy||yn.delete(o);Vo.know(r)}}catch(r){if(e!==lr)return;Rt=r.message}
ur(),pr(),Jo=await ke.hasBroker(),ue("to-topics").hidden=!Jo}function Gi(){qo.textContent=ke.wire==="open"?"connected":ke.wire==="lost"?"connection lost":"conne\
cting",qo.className=`state ${ke.wire}`,ke.wire==="open"&&setTimeout(()=>void Wo(!1))}function ur(){let t=It.value.trim().toLowerCase().split(/\s+/),e=s=>t.every(
i=>xe(s).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Ne?.services??[]).map(s=>({service:s,methods:s.methods.filter(e)})).filter(({
methods:s})=>s.length>0),o=s=>/^(frpc|grpc)\./.test(s);r.sort((s,i)=>Number(o(s.service.name))-Number(o(i.service.name))),M(Ho,...r.map(({service:s,methods:i})=>l(
"details",{open:!o(s.name)||It.value!==""||n.startsWith(`${s.name}/`)},l("summary",{title:s.docs},l("span",{},s.name.includes(".")&&l("span",{className:"of"},s.
name.slice(0,s.name.lastIndexOf("."))),s.name.slice(s.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=xe(c),p=Zn(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&M(Ho,l("p",{className:"empty"},Ne?"No method has this name.":Rt?"No services.":"Loading the services…"))}
function pr(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Me=void 0;let e=Ne?.services.flatMap(n=>n.methods).find(n=>xe(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")M(ar,Vo.element);else if(e&&Ne)Me=yn.get(t)??new cn(ke,Ne,
e,gn),yn.set(t,Me),M(ar,Me.element,Ki(t));else{let n=t&&Ne?`The server shows no method ${t}.`:"";M(ar,Rt&&Xi(),n&&l("p",{className:"notice"},n),dr.element),dr.draw()}}
function Xi(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Rt}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Ki(t){let e=l("d\
iv",{}),n=()=>M(e,Zt(gn.all.filter(r=>r.path===t),Go,!0));return n(),jo=n,l("section",{className:"past"},l("h2",{},"History"),e)}var jo=()=>{};gn.listen(()=>{jo(),
dr.draw()});function Go(t){location.hash===`#/${encodeURI(t.path)}`?Me?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Me?.
restore(t),{once:!0}))}function zi(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Me?.end():Me?.send();else if(t.key==="Escape"&&!cr.open){if(!Me?.cancel())return}else if(t.key==="/"&&!n)It.focus();else if(t.key===
"?"&&!n)cr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))zi(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",pr);It.addEventListener("input",ur);ue("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&It.focus()});ue("help").addEventListener("click",()=>cr.showModal());M(ue("key-list"),...ji.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));ur();pr();})();
