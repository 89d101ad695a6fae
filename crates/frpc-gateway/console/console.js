"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return xr(r,...n),r}function xr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function N(t,...e){t.replaceChildren(),xr(t,...e)}function me(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function he(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var Ys=0,Z=()=>`e${++Ys}`;function Sn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function Ze(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Pt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Dt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function le(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var Qe=t=>new Date(t).toTimeString().slice(0,
8);var Zs=new TextEncoder,Qs=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Sr=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
H=t=>{throw new Se(t)},V=t=>({bytes:t,at:0,depth:0,memory:0}),yt=(t=64)=>V(new Uint8Array(t)),be=t=>Zs.encode(t);function Bt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&
(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function L(t,e){t.at===t.bytes.length&&Bt(t,1),t.bytes[t.at++]=e}function Er(t,e){
L(t,e>>8),L(t,e)}function D(t,e){for(;e>127;e=Math.floor(e/128))L(t,e|128);L(t,e)}function ce(t,e){Bt(t,e.length),t.bytes.set(e,t.at),t.at+=e.length}function Be(t,e){
D(t,e.length),ce(t,e)}function Ee(t,e){let{at:n}=t,{length:r}=e,s=r>Sr?128:0;L(t,r);for(let o=0;o<r&&s<128;o++)L(t,s=e.charCodeAt(o));s>127&&(t.at=n,Be(t,be(e)))}
function fe(t,e,n){L(t,e);let{at:r}=t;n();let s=t.bytes.slice(r,t.at);return t.at=r,Be(t,s),s.length>0}var gt=({bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.
length-e,_e=({bytes:t,at:e})=>t[e],G=t=>t.bytes[t.at++]??H("truncated");function ke(t,e){let n=G(t);n!==e&&H(`found byte ${n}, expected ${e}`)}function F(t,e=5){
let n=0;for(let r=1;e-- >0;r*=128){let s=G(t);if(s<128)return n+s*r;n+=(s-128)*r}return H("a number is too long")}function de(t,e=F(t)){return e>J(t)&&H("trunca\
ted"),t.bytes.subarray(t.at,t.at+=e)}var qe=({bytes:t,at:e})=>t.slice(e);function z(t,e=F(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=Sr)for(let i;o<e&&(i=n[r+o])<128;o++)
s+=String.fromCharCode(i);if(o<e){let i=de(t,e);try{return Qs.decode(i)}catch{H("a text is not UTF-8")}}return t.at+=e,s}var _t=eo();var U=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,En(n),{cause:n})}};function eo(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var En=t=>t instanceof Error?t.message:String(t),oe=(t,e)=>new U(t,e,{mayHaveRun:!1}),
qt=t=>t>0&&t<=16?t:2,ht=(t,e,n)=>new U(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),Ht=t=>ht(1,"the caller cancelled the call",t),kr=(t,e="")=>ht(4,`deadline exceeded${e}`,
t);var Wt=100,to=64<<20,no=12,Nn=8,$n=56,kn=new Uint8Array(8),Mr=new DataView(kn.buffer);function O(t,e,n){let r;return{name:t,fields:()=>r??=ro(e,n?.()??[])}}function Tn(t,e){
let n=yt(256);return xt(n,t,e),gt(n)}var An=(t,e)=>St(V(e),t,0);function xt(t,e,n){t.depth=Wt,Ar(t,e,n)}function St(t,e,n){return t.depth=Wt,t.memory=Math.max(to,
J(t)*no),Cr(t,e,n)??Ir(t,e)}function ro(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);
if(!o)throw new Error(`invalid table entry: ${s}`);let[,i,a,c,d,p]=o,u=p==="m"?io(e[r++]):p==="e"?ao(e[r++]):$r[p],m=$r[d[1]??""],b=m?[2,m.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,h=a?n.get(a):void 0;a&&!h&&n.set(a,h=[]);let C={name:a??i,of:u,isOptional:d==="?",key:m,head:b,case:i,number:+c,all:h};return h?.push(C),
C})}var wt=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Ar(t,e,n){if(!t.depth--)throw Tr(e.name,`nests deeper than ${Wt}`);L(t,
8),L(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)so(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(L(t,3),D(t,d?d.number:0));let p=t.isFlat?s:d;p&&bt(t,p.of,p===d?c?.value:void 0)}}}catch(s){throw s instanceof
U?s:Tr(`${e.name}.${r}`,s.message)}t.depth++}function so(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=wt(e)),r){let i=n,a=n;for(let c of r)
L(t,c);if(D(t,s?i.size:a.length),s)for(let[c,d]of i)bt(t,s,c),bt(t,o,d);else for(let c of a)bt(t,o,c)}else n===void 0&&e.isOptional&&!t.isFlat?L(t,0):bt(t,o,n)}
function bt(t,e,n){e.table||L(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Cr(t,e,n){if(_e(t)===0)return void t.at++;ke(t,8),G(t),t.depth--||H(`${e.name} n\
ests deeper than ${Wt}`);let r=e.fields();Cn(t,$n+Nn*r.length);let s={},o="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(s[a]=void 0),n>0&&!J(
t))n--,c||(s[a]=wt(i));else if(!c)s[a]=oo(t,i);else if(p&&_e(t)===3){t.at++,o+=` ${a} `;let u=F(t),m=c.find(b=>b.number===u);m?s[a]={case:m.case,value:Mn(t,m.of)}:
u&&H(`${e.name}.${a} has no member ${u}`)}else if(!o.includes(` ${a} `)){let u=Vt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(s[a]={case:i.
case,value:u})}}return t.depth++,s}function oo(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&_e(t)===0)return t.at++,wt(e);if(!n)return Vt(t,s);for(let a of n)
ke(t,a);let o=F(t),i=wt(e);for(;o-- >0;)Cn(t,r?$n:Nn),r?i.set(Vt(t,r),Mn(t,s)):i.push(Mn(t,s));return i}function Vt(t,{wire:e,table:n,take:r}){return n||ke(t,e),
r(t)}var Mn=(t,e)=>Vt(t,e)??Ir(t,e.table);function Ir(t,e){let n={},r=e.fields();Cn(t,$n+Nn*r.length);for(let s of r)n[s.name]=s.all?void 0:wt(s);return n}function Cn(t,e){
(t.memory-=e)<0&&H("exceeds the memory limit")}var Me=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),io=t=>Me(3,()=>{},(e,n)=>n?Ar(e,t,n):L(e,0),e=>Cr(e,t,
0),t);function ao(t){let e=Object.values(t);return Me(10,()=>e[0],(n,r)=>{let s=e.indexOf(r),o=r+2147483648;vt(s>=0||r===(r|0)&&r<0&&o>=e.length,r),D(n,s<0?o:s)},
n=>{let r=F(n)>>>0,s=r-2147483648;return r>=e.length&&(s>=0||e.includes(s))&&H(`an enum has the index ${r}`),e[r]??s})}var Jt=(t,e)=>Me(t?13:11,()=>e?0:0n,(n,r)=>{
let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return D(n,i);vt((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>
63n:s;for(;a>>53n;a>>=7n)L(n,Number(a&127n)|128);D(n,Number(a))},n=>{let{at:r}=n,s=F(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<
n.at;i+=7n)o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||H("an integer is beyond 2^53"),Number(
s)):BigInt(s)}),Nr=(t,e)=>Me(t,()=>0,(n,r)=>{Mr[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)L(n,kn[s])},n=>{for(let r=0;r<e;r++)kn[r]=G(n);return Mr[e>
4?"getFloat64":"getFloat32"](0)}),$r={b:Me(7,()=>!1,(t,e)=>L(t,+e),t=>{let e=G(t);return e>1&&H(`a bool is ${e}`),e>0}),i:Me(12,()=>0,(t,e)=>{vt(e===(e|0),e),D(
t,(e<<1^e>>31)>>>0)},t=>{let e=F(t);return e>>>1^-(e&1)}),u:Me(10,()=>0,(t,e)=>{vt(e===e>>>0,e),D(t,e)},t=>F(t)>>>0),l:Jt(!0,!1),w:Jt(!1,!1),L:Jt(!0,!0),W:Jt(!1,
!0),f:Nr(14,4),d:Nr(15,8),s:Me(5,()=>"",(t,e)=>{vt(typeof e=="string",e),L(t,10),Ee(t,e)},t=>(ke(t,10),z(t))),y:Me(4,()=>new Uint8Array,(t,e)=>{L(t,10),Be(t,e)},
t=>(ke(t,10),de(t).slice()))},Tr=(t,e)=>oe(3,`${t} ${e}`);function vt(t,e){if(!t)throw new Error(`cannot be ${String(e)}`)}var Rn=16,Rr=65536,Or=256,lo=61440,co={metadata:{}},In=t=>t.endsWith("-bin"),Fr=(t,e)=>In(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${In(
t)?"":e}`),On=t=>typeof t=="string"?be(t):t;function Fn(t,{isBackward:e,timeout:n,metadata:r={},status:s}){let{at:o}=t;fe(t,Rn,()=>{e&&fe(t,4,()=>{}),n!==void 0&&
fe(t,1,()=>D(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Fr(c,d))throw oe(3,`invali\
d metadata entry: ${c}`);if(a+=c.length+d.length+8,p>=Or||a>lo)throw oe(8,"too much metadata");fe(t,2,()=>{Ee(t,c),ce(t,On(d))})}),s){let{code:c,details:d,mayHaveRun:p}=s;
fe(t,3,()=>{D(t,c),t.at-o+d.length+32<=Rr&&ce(t,d)}),p||fe(t,5,()=>{})}})||(t.at=o)}function jt(t){if(_e(t)!==Rn)return co;t.at++;let e=V(de(t));J(e)>Rr&&H("a p\
refix is too long");let n=Object.create(null),r={metadata:n},s=0;for(;J(e);){let o=G(e),i=V(de(e));if(o===1)r.timeout=F(i,10)/1e3;else if(o===2){let a=z(i),c=In(
a)?qe(i):z(i,J(i));(!Fr(a,c)||a in n||++s>Or)&&H("invalid metadata"),n[a]=c}else o===3?(r.code=qt(F(i,10)),r.details=qe(i)):o===5&&(r.isRefused=!0)}return r}function Lr(t){
let e=1;for(;t[e]>127;)e++;return t[0]===Rn&&t[e+1]===4&&t[e+2]===0}function Gt(t,{metadata:e,code:n,details:r,isRefused:s}){if(_e(t)===6)return t.at++,ke(t,5),
ke(t,10),new U(n??2,z(t),{metadata:e,mayHaveRun:!s,...r&&{details:r}})}function Ur(t,e,n){Fn(t,{isBackward:n,status:e,metadata:e.metadata}),ce(t,[6,5,10]),Ee(t,
e.message)}var He=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)});function Pr(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw oe(9,`incompatib\
le layouts of ${t.name}`);return 1}var Dr=({added:t=[0,0]},e,n)=>e*t[n];function Ln(t,e){let n=s=>s.match(/../g)?.forEach(o=>L(t,parseInt(o,16)));Ee(t,e.name),n(
e.fingerprint),D(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let s of[...e.operations].sort((o,i)=>o-i))D(t,s-r),r=s}function Br(t){let e=()=>{let r="";
for(;r.length<16;)r+=G(t).toString(16).padStart(2,"0");return r},n={service:z(t),fingerprint:e(),compatible:[],operations:[]};for(let r=F(t);r>0;r--)n.compatible.
push(e());for(let r=0;J(t);)n.operations.push(r+=F(t));return n}var Un=5<<20,po=1024,mo=65536,tt=10,Je=16384,fo=Je/2,yo=256,Xt=262144,go=1e5,ho=64<<20,bo=65536,vo=2e3,wo=5,xo=1e4,_r="the server is going away",So=2147483647,Kt=(t,e)=>setTimeout(
e,Math.min(Math.max(0,t),So));function qr(t,e,n,r,s){let o=yt(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,m=0,b=0,h=0,C=32767,k=[0,Un,1/0,Je,0],T=!1,ie=!1,
ee,te=tt,X=0,ne=!1,W=0,K=!1,j=!1,re=0,ae,se=()=>{o.at&&(K=!1,j=!0,T||ge?.send(gt(o)),o.at=W=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),(ge?.buffered()??
0)>ho&&R("too many unsent bytes"))},g=()=>{o.at!==W?(W=o.at,queueMicrotask(g)):(ne=!1,se())},f=(y,x,E,B)=>{let{at:ze}=o;try{Bt(o,tt),o.at+=tt,E?.(o,B);let ue=o.
at,Ye=ue-ze-tt,wr=Math.max(k[1],po);if(Ye>wr)throw oe(8,`the message has ${Ye} bytes of at most ${wr}`);o.at=ze;for(let zs of[15,y,x,Ye>>>16,Ye])Er(o,zs);o.at=ue}catch(ue){
throw o.at=ze,ue}o.at>bo?se():ne||(ne=!0,W=0,queueMicrotask(g))},v=(y,{code:x,message:E})=>f(y,7,B=>{D(B,x),ce(B,be(E.slice(0,256)))}),w=(y,x)=>{f(y,5,D,0),v(y,
x)},S=y=>{if(!T){if(re=0,ee){if(ce(ee,y),ee.at<te)return;y=gt(ee),ee=void 0}try{let x=0,E=B=>y[x+B]<<8|y[x+B+1];for(;!T&&!(y.length<(te=x+tt));x=te){E(0)!==15&&
H("a header without its magic");let B=E(6)*65536+E(8);if(B>Un&&H(`a packet of ${B} bytes`),y.length<(te+=B))break;I(E(2),E(4),y.subarray(x+tt,te))}x<y.length&&(te-=
x,ce(ee=yt(),y.subarray(x)))}catch(x){R(`the server broke the protocol: ${x.message}`)}}},I=(y,x,E)=>{let B=V(E),ze=i.get(y);if(x>=10)if(A.isUp||H("a packet bef\
ore HELLO"),Lr(E)){if(q)return q.packet(y,x,E,!1)}else{let ue=d[y%Je];if(ue?.id===y&&ue.operation===x)return pe(y),e.answered(),ue.isGivenUp?u--:e.replied(ue,E),
M();if(s.filter(Ye=>Ye.packet(A,y,x,E)).length)return}else if(x<2){E.length&&H("a PING with a body"),x===1?A.isUp||R("the server is a compat peer"):K||(K=!0,f(0,
1));return}else{if(x===3&&!A.isUp)return Y(B);if(x===4)return $();if(x===6)return q?.cancel(y,F(B));if(x===8)H("a stray hand-off");else{if(ze&&x!==3&&x<8)return e.
answered(),ze.packet(x,E);if(x===2){let ue=y-C&32767;if(y>=32768&&ue&&ue<=16384)return C=y,q?q.packet(y,2,E,!0):w(y,oe(12,"no service is served"))}}}++X>go&&R("\
too many stray packets")},Y=y=>{for((J(y)>mo||z(y,4)!=="fris"||!G(y))&&H("no HELLO");J(y);){let x=G(y),E=V(de(y));if(x in k)k[x]=F(E);else if(x===32||x===33)try{
let B=Br(E);(x===32?a:c).set(B.service,B)}catch{}}k[3]=Math.min(k[3],Je),A.isUp=!0,clearTimeout(De),e.room(A)},pe=y=>{d[y%Je]=void 0,p--===k[3]&&e.room(A)},ye=(y,x,E)=>{
i.set(x,y),y.begin(A,x,k[4],E)},M=()=>{ie&&p===u&&!i.size&&!q?.progress.size&&queueMicrotask(()=>R(_r))},$=()=>{ie||(ie=!0,e.closing(A,_r),M())},R=y=>{T||(se(),
ge?.close(),P(y))},P=y=>{if(T)return;T=!0,clearInterval(ae),clearTimeout(De),e.closing(A,y),A.isUp=!1;let x=new U(14,`the connection was lost: ${y}`);for(let E of d)
E&&!E.isGivenUp&&e.lost(E,x);for(let E of i.values())E.lost(x);q?.down(x);for(let E of s)E.down(A,x)},A={isUp:!1,write:f,reset:v,refuse:w,fits(y){let x=a.get(y.
name);if(x)return x.fingerprint===y.fingerprint||n.includes(y)?Pr(y,x):void 0;for(let E of a.values())if(E.operations.some(B=>y.operations.includes(B)))throw oe(
12,`the server has ${E.service} instead of ${y.name}`);return 0},call(y,x){if(p>=k[3])return!1;do m=m+1&65535;while(d[m%Je]);let E=y.id=m;d[E%Je]=y,p++;try{f(E,
y.operation,x,y)}catch(B){throw pe(E),B}return!0},cancel(y){T||(y.isGivenUp=!0,f(y.id,6,D,y.operation),++u>=fo&&$(),M())},open(y,x,E){if(!k[2])throw oe(12,"the \
server does not accept streams");if(b>=Math.min(k[2],28672))return!1;do h=h%32767+1;while(i.has(h));return b++,ye(y,h,x),f(h,2,E),!0},accept:ye,over(y){i.delete(
y),y<32768&&(b--,e.room(A)),M()},drain:$,closeIfIdle:M},q=r?.on(A,c),De=Kt(xo,()=>R("handshake timeout")),ft=()=>{o.isFlat=ge?.isFlat,f(0,3,y=>{ce(y,be("fris"));
let x=q?yo:0;[Un,x,x,Xt].forEach((E,B)=>fe(y,B+1,()=>D(y,E)));for(let E of r?.services??[])fe(y,32,()=>Ln(y,E));for(let E of n)fe(y,33,()=>Ln(y,E))}),f(1,0),se(),
ae=setInterval(()=>{if(++re>wo)return R("keepalive timeout");(re>1||!j)&&f(0,0),j=!1;let y=performance.now();for(let x of d)x&&x.until<=y&&!x.isGivenUp&&e.expired(
x)},vo)},ge,br=y=>ge?y():queueMicrotask(y),vr=y=>br(()=>P(y));try{ge=t({open:()=>br(ft),data:S,close:vr})}catch(y){vr(En(y))}return A}function zt(t,e){let n=[],r=!1,s=()=>{},o=c=>{r||=c,s()},i=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let d=t(c);d!==void 0&&(yield d)}else if(r){
if(r!==!0)throw r;return}else await new Promise(d=>s=d)}}finally{e()}})(),{return:a}=i;return i.return=()=>(e(),n.length=0,o(!0),a.call(i,void 0)),{messages:i,items:n,
put:c=>{n.push(c),s()},end:o}}var Pn=64,Eo=4,ko=4096,Dn=(t,e)=>t instanceof Se?new U(13,`not a valid ${e.name}: ${t.message}`):U.from(t);function Hr(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
m=!0,b=!1,h=!1,C=()=>{},k,T=()=>!u&&!m,{messages:ie,items:ee,put:te,end:X}=zt(f=>{let v=f.length+Pn;d-=v,p+=v,m&&p*Eo>=Xt&&(o?.write(i,5,D,p),p=0);try{let w=V(f),
S=jt(w);if(w.at&&(s?.(ne.metadata=S.metadata),!J(w)))return;let I=Gt(w,S);if(I)throw I;return St(w,e,a)}catch(w){throw Dn(w,e)}},()=>n?re(!0):se()),ne=Object.assign(
ie,{metadata:{}}),W=()=>{T()&&(C(),k?.(),o?.over(i),o=k=void 0,r())},K=()=>{u&&(u=!1,o?.write(i,7),W())},j=f=>{u=m=!1,X(f),W()},re=(f,v=Ht(!0))=>{T()||o?.reset(
i,v),ee.length=0,j(f)},ae=f=>re(f,f),se=()=>{ee.length=0,b=!0},g=f=>{if(!o||!u)return;let v=f instanceof U;o.write(i,2,w=>{let{at:S}=w;v?Ur(w,f,!1):xt(w,t,f),c-=
w.at-S+Pn}),v&&K()};return{messages:ne,begin(f,v,w,S){o=f,i=v,c=w,a=S},packet(f,v){if(f===2)return!m||b?void 0:d+p>=Xt?ae(new U(8,"the peer exceeded its credit")):
(d+=v.length+Pn,te(new Uint8Array(v)));let w=V(v);if(f===5){let S=F(w,10);h||=!S,(c+=S)>0&&C()}else if(v.length){let S=qt(F(w));j(new U(S,new TextDecoder().decode(
qe(w).subarray(0,ko)),{mayHaveRun:!h}))}else m=!1,X(!0),W()},send:g,async pump(f){try{let v=Symbol.asyncIterator in f?f[Symbol.asyncIterator]():f[Symbol.iterator]();
for(k=async()=>{try{await v.return?.()}catch{}};;){for(;c<=0&&!T();)await new Promise(I=>C=I);if(T())return;let{done:w,value:S}=await v.next();if(T())return;if(w)
break;g(S)}k=void 0,K()}catch(v){let w=U.from(v);n?re(w):g(w)}},finish:K,discard:se,fail:ae,lost:j}}var Mo=3e4,No=5e3,$o=20,Jr=2e3,Vr=10,Et=class{constructor(e,{timeout:n,patience:r=No,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=Vr,p=0,u,m=!1,b="",h=new Set,
C=new Set,k=[],T=()=>{a||u||m||!(h.size||i)||(p=performance.now(),a=qr(e,ie,[...C],o,k))},ie={room:g=>queueMicrotask(()=>{for(let f of h){if(a!==g||!ee(f,g))return;
h.delete(f)}}),closing(g,f){a===g&&(a=void 0,g.isUp&&performance.now()-p>=Jr?c=0:(b=f,clearTimeout(u),u=Kt(Math.random()*Math.min($o*2**Math.min(c++,16),Jr),()=>{
u=void 0,T()})),T())},answered:()=>void(c=0),replied(g,f){let v=g,{method:{reply:w},options:{onMetadata:S}}=v;ne(v);try{let I=V(f),Y=jt(I),pe=Gt(I,Y);if(pe)throw pe;
I.at&&S?.(Y.metadata),v.resolve(St(I,w,v.missing)),d<Vr&&(d+=.1)}catch(I){v.reject(Dn(I,w))}},expired:g=>X(g),lost(g,f){let v=g;if(v.link=void 0,!v.method.idempotent||
d<1)return W(v,f);d--,te(v)}},ee=(g,f)=>{let{service:v,method:w}=g;try{let S=v?f.fits(v):0;return S!==void 0?(g.missing=Dr(w,S,1),g.start(g,f)&&(g.isSent=!0)):(C.
add(v),c=0,f.drain(),!1)}catch(S){return W(g,U.from(S)),!0}},te=g=>{if(!(a?.isUp&&ee(g,a))){if(m)return W(g,Wr());g.patientUntil=performance.now()+r,h.add(g),X(
g),T()}},X=g=>{let{until:f,isSent:v,patientUntil:w}=g,S=performance.now(),I=h.has(g)&&!a?.isUp&&`no connection to the server${b&&`: ${b}`}`;clearTimeout(g.timer),
S>=f?W(g,kr(v,I?`; ${I}`:"")):S>=w&&I?W(g,ht(14,I,v)):g.timer=Kt((S<w?Math.min(f,w):f)-S,()=>X(g))},ne=g=>{h.delete(g),clearTimeout(g.timer),g.options.signal?.removeEventListener(
"abort",g.abort)},W=(g,f)=>{ne(g),g.link?.cancel(g),g.reject(f)},K=(g,{sentTimeout:f,until:v,options:{metadata:w}})=>{(f!==void 0||s||w)&&Fn(g,{timeout:f&&v-performance.
now(),metadata:{...s,...w}})},j=(g,f)=>{K(g,f),xt(g,f.method.request,f.request)},re=(g,f)=>{let v=f.call(g,j);return v&&(g.link=f),v},ae=(g,f,v,w,S,I,Y,pe,ye=1/0)=>{
let{signal:M}=w,$={id:0,operation:f.operation,until:performance.now()+(S??ye),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:g,
method:f,request:v,options:w,sentTimeout:S,start:I,resolve:Y,reject:pe,abort:M&&(()=>W($,Ht($.isSent)))};return M?.aborted?$.abort?.():(M?.addEventListener("abo\
rt",$.abort),S!==void 0&&X($),(S===void 0||S>0)&&te($)),$},se=(g,f,v,w={})=>{let S,I=Hr(f.request,f.reply,!0,()=>S&&ne(S),w.onMetadata);return S=ae(g,f,v,w,w.timeout,
(Y,pe)=>{let ye=pe.open(I,Y.missing,M=>{K(M,Y),L(M,9),D(M,Y.operation)});return ye&&I.pump(v),ye},()=>{},I.fail),I};this.unary=(g,f,v,w={})=>new Promise((S,I)=>void ae(
g,f,v,w,w.timeout??n,re,S,I,Mo)),this.serverStreaming=(g,f,v,w)=>se(g,f,[v],w).messages,this.twoWay=(g,f,v,w)=>se(g,f,v,w).messages,this.clientStreaming=async(g,f,v,w)=>{
let{messages:S}=se(g,f,v,w),{done:I,value:Y}=await S.next();if(I)throw new U(13,"there is no reply");return S.return?.(),Y},this.name=g=>void C.add(g),this.mount=
g=>void k.push(g),this.connected=()=>new Promise((g,f)=>{ae(void 0,{},void 0,{},void 0,(v,w)=>(ne(v),g(w),!0),g,f)}),this.close=()=>{m=!0,clearTimeout(u);for(let g of h)
W(g,Wr());a?.drain()},i&&queueMicrotask(T)}},Wr=()=>ht(9,"the channel is closed",!1);async function Yt(t){let e;do e=await t.connected();while(!e.isUp);return e}var kt=65280,To=16<<20,Bn=64,Ao=65536,Co=4,Zt={now:0,last:1,oldest:2},Mt=class{constructor(e){this.channel=e;this.requests=new Map;this.last=0;let{requests:n}=this;
e.mount({packet(r,s,o,i){if(o<kt)return!1;for(let[a,c]of n)(!s||s===a)&&c.packet(r,s,o-kt,V(i));return!0},down(r,s){for(let o of[...n.values()])o.down(r,s)}})}subscribe(e,{
group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){(await Yt(this.channel)).write(0,kt+2,r=>{Be(r,be(e)),ce(r,On(n))})}async sync(){await(await this.
request(3)).return?.()}async request(e,n,r="",s){let{requests:o}=this,i=await Yt(this.channel);do this.last=this.last%65535+1;while(o.has(this.last));let a=this.
last;return new Promise((c,d)=>{let p=0,u=0,m=!1,{items:b,messages:h,put:C,end:k}=zt(M=>(p-=M.payload.length+Bn,M),()=>{o.delete(a)&&n!==void 0&&i.isUp&&i.write(
a,kt+1)}),T=M=>{o.delete(a),d(M),k(M)},ie=r?[]:n?.split(".")??[],ee=ie[ie.length-1]===">",te=M=>{let $=M.split(".");return(ee?$.length>=ie.length:$.length===ie.
length)&&ie.every((R,P)=>R===">"||R==="*"||R===$[P])},X=e===0&&!r&&s!==void 0,ne=typeof s=="object",W=ne||s===void 0?Zt.oldest:Zt[s],K=new Map(ne?[[n,{...s,offset:s.
offset+1}]]:[]),j=new Map,re=0,ae="",se=!1,g=!1,f=!1,v=!1,w=!1,S=M=>{i.write(a,kt+M,$=>{if(n!==void 0&&Be($,be(n)),M===6){L($,W);for(let[R,P]of K){Ee($,R);for(let A=0;A<
16;A+=2)L($,parseInt(P.epoch.slice(A,A+2),16));D($,P.offset)}}else ce($,be(r))})},I=()=>{w=!0,g&&(f||!(X&&v))&&(m=!0),c(h)},Y=M=>Array.from(de(M,8),$=>$.toString(
16).padStart(2,"0")).join(""),pe=(M,$,R)=>{if($===5&&M&&!w&&X&&R.bytes[R.at]===Co)f=!0,S(0);else if($===6&&M&&R.bytes[R.at]===0){G(R),v=G(R)===1;let P=Y(R);re=F(
R,10);let A=ae!==""&&ae!==P,q=!n?.match(/[*>]/)&&K.size>0;ae=P,I(),f=!1,m||=q?!re:A}else if($===7)for(;J(R);){let P=z(R),A={epoch:Y(R),offset:F(R,10)};if(!w||!M&&
!te(P))continue;let q=j.get(P);M&&!q?(re--,q=K.get(P)??(se?{...A,offset:1}:void 0)):!M&&q?.epoch!==A.epoch&&(q=void 0),q&&v&&(q.epoch===A.epoch&&q.offset<=A.offset?
u+=A.offset-q.offset:m=!0),j.size>=Ao&&(j.clear(),f=!0),j.set(P,A)}else return!1;return!0},ye=async()=>{try{let M=await Yt(this.channel);if(!o.has(a))return;i=M,
S(X?6:0)}catch(M){let $=U.from(M);if($.code===14&&o.has(a))return ye();T($)}};o.set(a,{packet(M,$,R,P){if(!(M!==i||X&&pe($,R,P)))if(R===2){let A=z(P);if(!$&&(!w||
!te(A)))return;let q=qe(P),De=j.get(A);for(De&&j.set(A,{...De,offset:De.offset+1}),p+=q.length+Bn;p>To&&b.length;){let ft=b.shift();p-=ft.payload.length+Bn;let ge=b[0];
u+=ft.lagged+1,m||=ft.reconnected,ge&&(ge.lagged+=u,ge.reconnected||=m,u=0,m=!1)}C({topic:A,payload:q,position:De,lagged:u,reconnected:m}),u=0,m=!1}else R===4?X&&
v&&w||(u+=F(P,10)):$&&(J(P)?T(oe([8,12,7][G(P)-3]??3,z(P,J(P)))):I())},down(M,$){if(M===i){if(n===void 0||!w&&!g)return T($);if(w)if(re>0)for(let[R,P]of j)K.set(
R,P);else K=f?new Map:j,W=f?Zt.now:Zt.oldest,se=!f;j=new Map,w=!1,g=!0,ye()}}}),S(X?6:e)})}};var _n="frisbee.1";function qn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let s=new n(String(t),[_n,...e]);return s.binaryType="arraybuffer",s.onopen=()=>{s.protocol===_n?r.open():s.close()},
s.onmessage=({data:o})=>{o instanceof ArrayBuffer?r.data(new Uint8Array(o)):s.close()},s.onerror=()=>{},s.onclose=({code:o,reason:i})=>{r.close(`the WebSocket w\
as closed (${o}${i&&`, ${i}`})`)},{send:o=>s.send(o),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var Io=64;var Qt=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of ve(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of ve(e))i===
2?n=Ne(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=Fo(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>Io)throw new Se("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",m=!1;for(let{number:k,bytes:T}of ve(e))k===1?u=Ne(T):k===2?a.push(T):k===3?c.push(T):k===4?d.push(T):k===7?m=zr(T,7):k===8&&p.push({name:Xr(T),docs:o.
get(`${s},8,${p.length}`)??""});let b=[...r,u],h=Gr(n,b),C=a.map((k,T)=>Ro(k,o.get(`${s},2,${T}`)??""));this.messages.set(h,{name:h,package:n,path:b,docs:o.get(
s)??"",fields:C,oneofs:p,isEntry:m}),c.forEach((k,T)=>this.declare(k,n,b,`${s},3,${T}`,o,i+1)),d.forEach((k,T)=>this.declareEnum(k,n,b,`${s},4,${T}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of ve(e)){if(p===1&&(a=Ne(u)),p!==2)continue;let m=0;for(let b of ve(u))b.number===2&&(m=b.low|0);i.push({name:Xr(u),number:m,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=Gr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},Kr=t=>t===11||t===10||t===
14,Gr=(t,e)=>[...t?[t]:[],...e].join(".");function Ro(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of ve(t))u.number===1?n=Ne(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=Ne(u.bytes).replace(/^\./,""):u.number===8?p=zr(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Ne(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new Se(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,m)=>m.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var Oo=new Uint8Array,Ne=t=>z(V(t),t.length);function*ve(t){
let e=V(t);for(;J(e);){let n=F(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(F(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:Oo,
low:o>>>0}}else if(s===2)yield{number:r,bytes:de(e,F(e)),low:0};else if(s===1||s===5)de(e,s===1?8:4);else throw new Se(`a field of the wire type ${s}`)}}function Xr(t){
for(let{number:e,bytes:n}of ve(t))if(e===1)return Ne(n);return""}function zr(t,e){for(let{number:n,low:r}of ve(t))if(n===e)return r!==0;return!1}function Fo(t){
let e=new Map;for(let{number:n,bytes:r}of ve(t)){if(n!==1)continue;let s="",o="",i="";for(let c of ve(r))if(c.number===1){let d=V(c.bytes),p=[];for(;J(d);)p.push(
F(d));s=p.join(",")}else c.number===3?o=Ne(c.bytes):c.number===4&&(i=Ne(c.bytes));let a=o||i;a&&e.set(s,en(a))}return e}var en=t=>t.replace(/^ /gm,"").trim();var Oe=t=>`f${t.number}`,rt=t=>`o${t}`,Hn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
nt=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=Uo(this.schema,
r),o=s.map(c=>`${Oe(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>Kr(c.kind)),a=O(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Hn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Hn[o.kind]}${Hn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${rt(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=Lo(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},Lo=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Uo(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function Yr(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:m})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:m})),i=He(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var Jn={POLYGLOT:0,PROTOBUF:1},Nt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Po=O("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Do=O("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Bo=O("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Ho]),_o=O("fr\
pc.reflection.v1.ListRequest","etag:s"),qo=O("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Nt]),Ho=O("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Jn,qo]),st=He("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:_o,reply:Bo,receives:!0,
idempotent:!0},files:{operation:65001,request:Do,reply:Po,receives:!0,idempotent:!0}});var Zr=32<<20,$e=t=>`${t.service.name}/${t.name}`,tn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=qn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Et(o,
{stayConnected:!0}),this.channel.name(st),this.topics=new Mt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let m of n.serverStreaming(
st,st.methods.list,{etag:e?.etag??""},{metadata:r})){if(m.notModified)return;o||=m.etag;for(let b of m.services){let h=s.get(b.name);h?h.methods.push(...b.methods):
s.set(b.name,b)}}let i=[],a=0;for await(let{data:m}of n.serverStreaming(st,st.methods.files,{},{metadata:r}))if(i.push(m),a+=m.length,a>Zr)throw new U(_t.RESOURCE_EXHAUSTED,
`the schema has more than ${Zr} bytes`);let c=new Uint8Array(a),d=0;for(let m of i)c.set(m,d),d+=m.length;let p=new Qt(c),u=new nt(p);return{etag:o,schema:p,services:[
...s.values()].map(m=>Jo(m,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Jo(t,e){let n,r=o=>{if(t.codec!==Jn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=Yr(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==Nt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:en(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===Nt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===Nt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:en(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var nn=t=>Object.entries(_t).find(([,e])=>e===t)?.[0]??String(t);var Vo=50;function rn(t,e,n){let r=t.slice(-Vo).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
s)},l("span",{className:"muted"},Qe(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},nn(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},le(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var _=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},Q=()=>Object.create(null),Wn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),jn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Ve=t=>jn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Fe(t){try{return JSON.parse(t||"{}")}catch(e){throw new _(
"",e.message)}}function We(t,e,n,r=""){let s=Ko(t,e,n,r);if(s)return s;if(!Wn(n))throw new _(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(m=>m.jsonName===a||m.name===a),p=r?`${r}.${a}`:a;if(!d)throw new _(p,`${e} has no such field${Wo(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=jo(t,d,c,p);if(d.oneof===void 0)i[Oe(d)]=u;else{let m=rt(d.oneof);if(i[m])throw new _(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[m]={case:Oe(d),value:u}}}return i}var Wo=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function jo(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!Wn(n))throw new _(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[Go(o,a,r),Vn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Vn(t,e,n,r);if(!Array.isArray(n))throw new _(r,"a list is an array");return n.map((a,c)=>Vn(t,e,a,`${r}[${c}]`))}function Go(t,e,n){
if(t.kind!==8)return At(t,e,n);if(e!=="true"&&e!=="false")throw new _(n,`${e} is not true or false`);return e==="true"}var es=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Xo=t=>[3,4,6,16,18].includes(
t),Gn=t=>t in es;function Vn(t,e,n,r){if(e.kind===11)return We(t,e.type,n,r);if(e.kind!==14)return At(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new _(r,`${s} has no value ${$t(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var $t=t=>JSON.stringify(t).slice(0,60);function At(t,e,n=""){let{kind:r}=t,s=es[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new _(n,`${$t(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new _(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new _(n,`${i} is not from ${s[0]} to ${s[1]}`);return Xo(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new _(n,`${$t(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new _(n,`${$t(e)} is not true or false`);return e}if(typeof e!="string")throw new _(n,`${$t(e)} is not a\
 string`);return r===12?we(e,n):e}function Ko(t,e,n,r){let s=jn.test(e)&&t.message(e).fields[0];if(s)return{f1:At(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return zo(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new _(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new _(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!Wn(n))throw new _(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Tt(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new _(r,"a ListValue is an array");return{f1:n.map(o=>Tt(o,0))};case"google.protobuf.Value":return Tt(n,0)}}function zo(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new _(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Tt(t,e){if(e>90)throw new _(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Tt(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,Tt(s,e+1)]))})}function Ct(t,e,n){let r=Qo(t,e,n);if(r!==void 0)
return r;let s=Q();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[rt(o.oneof)],a=o.oneof===void 0?n[Oe(o)]:i?.case===Oe(o)?i.value:void 0;if(a===
void 0)continue;let c=Yo(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function Yo(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=Q();for(let[o,i]of n)s[String(o)]=sn(t,r,i);return s}return Array.isArray(n)?n.map(s=>sn(t,e,s)):sn(t,e,n)}function sn(t,e,n){return e.
kind===11?Ct(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Te(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?Zo(n):n}function Zo(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function Qo(t,e,n){let r=jn.test(e)&&t.message(e).fields[0];if(r)return sn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${Qr(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Qr(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return ts(n);case"google.protobuf.ListValue":return n.f1.map(on);case"google.protobuf.Value":return on(n)}}function ts(t){
let e=Q();for(let[n,r]of t.f1)e[n]=on(r);return e}function on(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?ts(e.value):e.case==="f6"?e.value.f1.map(
on):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var Qr=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Te(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function we(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new _(e,"it is no base64")}}function ot(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var je=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var Ge=t=>Kn(JSON.stringify(t)),Kn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ae=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Kn(t).replace(/'/g,"'\\''")}'`,ns=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:Te(n)]);function rs({method:t,
requests:e,metadata:n,timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Ae(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of ns(n))i.push(`-H ${Ae(`${p}: ${u}`)}`);let a=Ae(`${s}/${$e(t)}`);if(!o)return[...i,`-d\
 ${Ae(Ge(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(Ge);return[`printf '${c.map(p=>`\\0${ei(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Ae).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ei=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function ss({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Ae(a)}`,Ae($e(t))];for(let d of e)c.push(Ae(Ge(d)));for(let[d,p]of ns(n))c.
push(`-H ${Ae(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var dn=t=>t.replace(/\W/g,"_")||"_",os=t=>dn(t).replace(/^_(?=\d)/,"-"),is=t=>dn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),It=t=>is(t).map(e=>e.toLowerCase()).join("_")||"_",Xe=t=>is(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",an=t=>Xe(t).replace(/^./,e=>e.toLowerCase()),ti=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),cn=t=>ti.has(It(t))?/^(self|super|crate)$/.test(It(t))?`${It(t)}_`:`r#${It(t)}`:It(t),xe=t=>Kn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function as(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=dn(n.service.name.
split(".").pop()??""),c=r.map(b=>cs(e,n.request,b,0)),d=cn(n.name),p=[`let client = ${a}Client::connect(${xe(new URL(i).host)}).await?;`],u=c[0]??`${Xe(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let m=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...Object.entries(s).map(([b,h])=>typeof h=="string"?`request.metadata_mut().insert(${xe(b)}, ${xe(h)})?;`:`request.metadata_m\
ut().insert_bin(${xe(b)}, &[${[...h].join(", ")}][..])?;`)];return m.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...m),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(b=>`requests.send(${b}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(b=>`    requests.send(${b}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function ls({path:t,package:e}){let n=[...t.slice(0,-1).map(cn),Xe(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Xn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function cs(t,e,n,r){let s=t.message(e),o=ls(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let m=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(m===void 0||m===null&&u.type!=="google.protobuf.Value")continue;let b=u.oneof===void 0?void 0:s.oneofs[u.oneof],
h=ni(t,s,u,m,r+1),C=b?b.name:u.name;c.add(C);let k=[...s.path.map(cn),Xe(b?.name??"")].join("::");a.push(Xn(`${cn(C)}: ${b?`Some(${k}::${Xe(u.name)}(${h}))`:h},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Xn(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${Xn("}",r)}`}function ni(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,m])=>`(${o.kind===9?`${xe(u)}.to_\
owned()`:os(u)}, ${ln(t,i,m,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>ln(t,n,d,s)).join(", ")}]`;let a=ln(t,n,r,s),c=n.kind===11&&!Ve(n.type)&&
ds(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function ds(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&ds(t,s.type,n,r))??!1)}function ln(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${xe(String(n))}.parse()?`:Ve(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?ln(t,s,n,r):Ve(e.type)?ri(e.type,n):cs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=Xe(s.path[s.path.length-1]??""),a=Xe(o.name);return`${ls(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...we(String(n))].join(", ")}]`:e.kind===9?`${xe(String(n))}.to_owned()`:e.kind===1||e.kind===2?ms(Number(n),e.kind===1?"f64":"f32"):os(String(n))}var it="\
frpc::prost_types::";function ri(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${it}FieldMask { paths: vec![${n.map(r=>`${xe(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${it}Struct { fields: ${ps(e)} }`:t===
"google.protobuf.ListValue"?`${it}ListValue { values: ${us(e)} }`:zn(e)}function zn(t){if(t===null)return`${it}Value::from(${it}value::Kind::NullValue(0))`;let e=typeof t==
"string"?xe(t):typeof t=="number"?ms(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?us(t):ps(t);return`${it}Value::from(${e})`}var us=t=>`vec![${t.map(
zn).join(", ")}]`,ps=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${xe(e)}.to_owned(), ${zn(n)})`).join(", ")}])`,ms=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function fs(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=dn(n.service.name.split(".").pop()??""),c=r.map(b=>gs(e,n.request,We(e,n.request,b))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${Object.entries(s).map(([b,h])=>`${Ge(b)}: ${typeof h=="string"?Ge(h):ys(h)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${an(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${Ge(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var ys=t=>`new Uint8Array([${[...t].join(", ")}])`;function gs(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=Oe(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${an(i.name)}: ${si(t,i,n[a])}`);continue}let c=n[rt(
i.oneof)];c?.case===a&&o.push(`${an(s[i.oneof]?.name??"")}: { case: "${an(i.name)}", value: ${Rt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function si(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Rt(t,r,o)}, ${Rt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Rt(t,e,o)).join(", ")}]`:Rt(t,e,n)}function Rt(t,e,n){return n instanceof Uint8Array?ys(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?gs(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ge(n):String(n)}var hs=new WeakMap;function at(t,e){return hs.set(t,e),t}var Ot=t=>hs.get(t)??Q();var bs=16<<20,Yn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function Zn(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function Qn(t){let e=Z(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return at({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=Yn({id:e});return at({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>Zn(s,()=>void(s.value.
trim()&&At(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:Gn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!oi(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!Gn(n)?Number(i):i};return at({element:s,id:e,get:()=>s.
value.trim()?ii(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var oi=t=>t===3||t===4||t===6||t===16||t===18,ii=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function vs(t){let e=Z(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return at(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function ws(){
let t=Z(),e,n=Yn({id:t,oninput:()=>m()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=i.files?.[0];if(h){if(h.size>bs){o.textContent=`${h.
name} has more than ${bs>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),o.textContent=`${h.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,b.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(n.value);if(h==="base64")return we(n.
value.replace(/\s/g,""));let C=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(C))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
C.match(/../g)??[],k=>parseInt(k,16))},p=(h,C)=>{let k=C==="text"?ot(h):void 0;r.value=s=C==="text"&&k===void 0?"base64":C,n.value=r.value==="text"?k??"":r.value===
"hex"?je(h):Te(h),m()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,m()}},m=()=>Zn(n,()=>void d(r.value)),b=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return at({element:b,id:t,get(){let h=e??d(r.value);return h.length>0?Te(h):void 0},set(h){c(),p(
typeof h=="string"?we(h):new Uint8Array,r.value)}},"")}function Ke(t,e,n){let r=Z(),s=Yn({id:r,placeholder:e,oninput:()=>Zn(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var ai=3,pn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=ks(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??Q()}set(e){this.editor.set(e)}example(){this.set(Ss(this.schema,this.name,[]))}};function Ss(t,e,n){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Ve(e)&&s)return xs(t,s,n);let o=Q(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>ai);if(!p||u||d.kind===10||a.isDeprecated)continue;let m=xs(t,d,i),b=c?.fields[0];b?o[a.jsonName]=
Object.assign(Q(),{[b.kind===9?"key":b.kind===8?"true":"1"]:m}):o[a.jsonName]=a.isRepeated?[m]:m}return o}function xs(t,e,n){switch(e.kind){case 11:return Ss(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function li(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${un(r)}, ${un(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${un(e)}`}var ci=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],un=t=>ci[t.kind]||(t.type.split(".").pop()??"");function lt(t,e){
return e.kind===14?vs(t.enumeration(e.type)):e.kind===12?ws():e.kind!==11?Qn(e):di(t,e.type)}function di(t,e){switch(e){case"google.protobuf.Timestamp":return Ke(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Ke("text","1.5s");case"google.protobuf.Fiel\
dMask":return Ke("text","name,homeAddress.city");case"google.protobuf.Struct":return Ke("json",'{ "key": "value" }');case"google.protobuf.Value":return Ke("json",
"any JSON");case"google.protobuf.ListValue":return Ke("json","[1, 2]")}let n=Ve(e)?t.message(e).fields[0]:void 0;if(!n)return ks(t,e);let r=lt(t,n);return{...r,
get:()=>r.get()??Es(n)}}var Es=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function ks(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=yi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=ui(t,i);s.append(Ms(i.name,li(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=Q();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:Q();for(let{take:c}of r)c(a)}}}
function Ms(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function ui(t,e){let n=t.entry(e);return n?fi(t,n):e.isRepeated?mi(()=>lt(t,e)):
e.isOptional||e.kind===11?pi(()=>lt(t,e),()=>e.kind===11?Q():Es(e)):lt(t,e)}function pi(t,e){let n=Z(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",onchange:()=>a(
s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?N(o,(r??=t()).element):N(o,l("span",{className:"muted"},"\
not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Ns=t=>l("button",{type:"button",className:"\
icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function mi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(o),e.push(i);
let a=l("div",{className:"item"},i.element,Ns(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"quiet",onclick:()=>$s(
r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Ot(o)):void 0,set(o){e=[],N(n);for(let i of Array.isArray(
o)?o:[])r(i)}}}var $s=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function fi(t,e){let[n,r]=e.fields;if(!n||
!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:Qn({...n,kind:n.kind===8?9:n.kind}),value:lt(t,r)};
p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("div",{className:"\
item"},p.key.element,p.value.element,Ns(()=>{s=s.filter(m=>m!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"quiet",onclick:()=>$s(
i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=Q();for(let{key:d,value:p}of s)c[String(d.get()??Ot(d))]=
p.get()??Ot(p);return c},set(c){if(s=[],N(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function yi(t,e,n){let r=e.fields.filter(m=>m.
oneof===n),s=Z(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.map(m=>l("option",{
value:m.jsonName},`${m.name}: ${un(m)}`))),c=m=>{a.value=m;let b=r.find(C=>C.jsonName===m);if(!b)return void N(o);let h=i.get(m)??lt(t,b);return i.set(m,h),h.id&&
document.getElementById(h.id)?.setAttribute("aria-label",b.name),N(o,h.element,b.docs&&l("p",{className:"docs"},b.docs)),h},{name:d,docs:p}=e.oneofs[n]??{name:"\
oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Ms(d,"oneof",p,u,!1),get(){let m=i.get(a.value);return a.value&&
m?Object.assign(Q(),{[a.value]:m.get()??Ot(m)}):Q()},set(m){let b=m,h=r.find(C=>(b[C.jsonName]??b[C.name])!==void 0);c(h?.jsonName??"")?.set(h&&(b[h.jsonName]??
b[h.name]))}}}var ct=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?we(s,o):s)}return e}set(e){N(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:Te(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},"×"));return this.rows.append(o),r}},er=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Te(n))]));var tr=1e5,gi=90;function Ts(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return N(t,n,r,s),()=>{N(n,...hi(e)),N(r,e.isOver&&e.status&&bi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),er(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
wi(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function hi(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${nn(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},le(t.took),o&&`, ${o}`)]}function bi({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},ot(e)??je(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&er(t.metadata))}function vi(t){let e=t.replace(/\n\s*/g," ");return e.length<=gi?e:t}function wi(t,e){let n=e?vi(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Pt(n.slice(0,tr)),n.length>tr&&`
… ${n.length-tr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${le(t.at)}`),l("span",{className:"grow"}),Ze(()=>n)),r)}var xi=500,Si=16<<20,mn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new nr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=U.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Ct(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>xi||this.chars>Si&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},nr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Ei=["Form","JSON","Copy as"],As={curl:rs,frpc:ss,Rust:as,TypeScript:fs};function rr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var fn=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new ct(()=>this.
note(""));this.timeout=l("input",{type:"text",id:Z(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Sn(Ei,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new pn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called here: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),N(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=We(
this.catalog.schema,this.method.request,Fe(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Fe(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=rr(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Fe(this.json.value))}),this.tab=e,e==="Form"?N(this.body,this.form?.element):e==="JSON"?N(this.body,this.json):this.attempt(()=>N(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Fe(a.json)),s=n.sends&&r&&r.
length>0?r:[Fe(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=Sn(Object.keys(As),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=As[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),Ze(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new mn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Ts(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:$e(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));N(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var ki={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Mi=O("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Ni=O("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),$i=O("frpc.introspection.v1.CloseCount","kind:s count:w"),Ti=O("frpc.introspection.v1.CodeCount","code:i count:\
w"),sr=O("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[ki]),Ai=O("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Mi,Bi,sr,Fi]),Ci=O("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),Ii=O("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[sr]),Ri=O("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),Oi=O("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Ti]),Fi=O("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Li=O("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Oi]),Cs=O("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[$i,Ni,Hi,Li]),Ui=O("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[sr,Cs]),Pi=O("frpc.introspection.v1.ServersReply","servers:*m",()=>[Cs]),Di=O("frpc.introspe\
ction.v1.ServersRequest",""),Bi=O("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),_i=O("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[Ui]),qi=O("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Hi=O("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),yn=He("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Di,reply:Pi,idempotent:!0},connections:{
operation:65031,request:Ri,reply:Ii,idempotent:!0},connection:{operation:65032,request:Ci,reply:Ai,idempotent:!0},watch:{operation:65033,request:qi,reply:_i,receives:!0,
idempotent:!0}});var ut=12e4,or=2e3,[Le,Ue,Pe,pt]=[480,120,44,16];function ir(t){let e=me("svg",{viewBox:`0 0 ${Le} ${Ue}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=me("text",{x:Pe+(Le-Pe)*n,y:Ue-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function ar(t,e,n){let r=me("text",{x:Pe-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(me("line",{x1:Pe,x2:Le,y1:e,y2:e,class:"grid"}),r)}var dt=Ue-pt-
8;function Is(t,e){let n=ir("Calls and errors in the last two minutes"),r=ut/or,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/or);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/or))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])ar(
n,Ue-pt-dt*c,String(Math.round(i*c)));let a=(Le-Pe)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(m,b,h)=>{b>0&&n.append(me("rect",{x:Pe+p*a+.75,width:a-1.5,y:Ue-
pt-(m+b)/i*dt,height:b/i*dt,class:h}))};u(0,d,"failed"),u(d,c,"ok")}),n}function mt(t,e){return[...t.filter(({at:n})=>e.at-n<ut),e]}var Rs=(t,e,n,r)=>e.map((s,o)=>me(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),Os=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function gn(t,e,n,r,s,o){let i=ir(`${t}, in the last two minutes`),a=Os(e,s),c=d=>Ue-pt-d/a*dt;for(let d of[0,.5,1])ar(i,c(a*d),o(a*d));return i.append(...Rs(e,
n,d=>Le-(Le-Pe)*(r-d)/ut,c)),i}function lr(t,e,n,r){let s=Os(e,1e-9),o=me("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...Rs(e,n,i=>120-120*(r-i)/ut,i=>19-i/s*18)),o}function Fs(t,e){let n=ir("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<ut),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)ar(n,Ue-pt-dt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Le-(Le-Pe)*(e-a-c)/ut,m=Ue-pt-dt*((s[p]??0)-o)/(i-o);n.append(me("circle",{cx:u,
cy:m,r:2.5,class:d===0?"ok":"failed"}))}),n}function Ls(t){let e=t.slice(-40),n=me("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(me("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var Us=1e3,Ji=256,Vi=50,hn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===yn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(yn,yn.methods.watch,{intervalMs:Us,connections:Ji},{signal:s,metadata:r});for await(let{servers:i}of o)
N(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||N(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Us)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,ji(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>cr([...o.values()].map(({rates:m})=>m.at(-1)?.values[u]??0)),a=cr(n.map(u=>Number(u.streams))),c=cr(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?mt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:mt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:mt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Gi(e),l("div",{className:"plots"},
ur(["Calls of all clients in a second, ",Wi("errors")," below"],gn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Ps)),ur(["\
Connections, and ",Ds("streams"),p],gn("Connections and streams",d.open,["curve","curve second"],r,4,Ps)),ur(["Bytes that wait to be written",p,", and ",Ds("hel\
d for clients")],gn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Ft(BigInt(Math.round(u)))))),this.table(e,o,r),Bs(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Vi).map(Xi)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.
get(o);return a&&a.calls>0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),Bs(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
o,a.toFixed(a<10?1:0),c,d,dr(i?.p50Ns),dr(i?.p99Ns),dr(i?.maxNs),lr(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),lr(`Averag\
e latencies of ${o}, in the last two minutes`,u,["curve"],r)]))}},cr=t=>t.reduce((e,n)=>e+n,0),Ps=t=>String(Math.round(t)),dr=(t=0n)=>le(Number(t)/1e6),Wi=t=>l(
"span",{className:"failed"},t),Ds=t=>l("span",{className:"second"},t),ur=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function ji({figures:t},e,n,r=n){let s=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(o-e.calls);return{calls:o,failed:s,spent:i,rates:mt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?mt(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function Gi({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Ft(s)} of at most ${Ft(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Xi=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,
queued:o,memory:i})=>[t||"unknown",le(Number(e)),n,n>0n?le(Number(r)):"",s,Ft(o),Ft(i)];function Bs(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function Ft(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var Ki=1e3,bn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new hn(e,r);let i=new ct(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),Ki)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${Qe(r.since)}`:n],["connections made",String(r.connections)],["sent",_s(r.sent)],["received",_s(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];N(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();N(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Is(s.all,c)),l("figure",{},l(
"figcaption",{},"Latency of each call; of a stream, its duration"),Fs(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,N(this.methods,s.all.length>0&&this.table()),N(this.history,rn(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(le(o)),e(le(i)),e(le(a)),l("td",{},Ls(c)))})))}};function _s(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var qs=500,Hs=2e4,vn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:Z()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:Z(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:Z(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:Z(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for all \
that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>N(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new nt(e.schema)},N(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=we(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Tn(this.schema.tables.of(r),We(this.schema.catalog.schema,r,Fe(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
qs&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${Qe(Date.now())}`),l("span",{className:"grow"}),Ze(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?Pt(o):o)))}for(this.waiting=[];this.log.childElementCount>qs;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Ct(this.schema.catalog.schema,n,An(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${je(e.subarray(0,Hs))}`}let r=e.subarray(0,Hs);return(n==="hex"?void 0:ot(r))??je(r)}};var zi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Js,pr,Vs,Lt,fr]=[he("services"),he("main"),he("state"),he("filter"),he("keys")],Ce=new tn(`${location.origin.replace(/^http/,"w\
s")}/`,()=>Yi()),xn=new Dt,wn=new Map,js=new vn(Ce),Ie,Ut="",Ws=!1,Re,mr=0,yr=new bn(Ce,xn,()=>Ie,t=>Ks(t),()=>void Gs(!0));async function Gs(t){let e=++mr,n=t?
void 0:Ie;try{let r=await Ce.catalog(n);if(e!==mr)return;if(Ut="",r){Ie=r;for(let[s,o]of wn)o.isBusy||wn.delete(s);js.know(r)}}catch(r){if(e!==mr)return;Ut=r.message}
gr(),hr(),Ws=await Ce.hasBroker(),he("to-topics").hidden=!Ws}function Yi(){Vs.textContent=Ce.wire==="open"?"connected":Ce.wire==="lost"?"connection lost":"conne\
cting",Vs.className=`state ${Ce.wire}`,Ce.wire==="open"&&setTimeout(()=>void Gs(!1))}function gr(){let t=Lt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>$e(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Ie?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),N(Js,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Lt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=$e(c),p=rr(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&N(Js,l("p",{className:"empty"},Ie?"No method has this name.":Ut?"No services.":"Loading the services…"))}
function hr(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Re=void 0;let e=Ie?.services.flatMap(n=>n.methods).find(n=>$e(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")N(pr,js.element);else if(e&&Ie)Re=wn.get(t)??new fn(Ce,Ie,
e,xn),wn.set(t,Re),N(pr,Re.element,Qi(t));else{let n=t&&Ie?`The server shows no method ${t}.`:"";N(pr,Ut&&Zi(),n&&l("p",{className:"notice"},n),yr.element),yr.draw()}}
function Zi(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Ut}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Qi(t){let e=l("\
div",{}),n=()=>N(e,rn(xn.all.filter(r=>r.path===t),Ks,!0));return n(),Xs=n,l("section",{className:"past"},l("h2",{},"History"),e)}var Xs=()=>{};xn.listen(()=>{Xs(),
yr.draw()});function Ks(t){location.hash===`#/${encodeURI(t.path)}`?Re?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Re?.
restore(t),{once:!0}))}function ea(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Re?.end():Re?.send();else if(t.key==="Escape"&&!fr.open){if(!Re?.cancel())return}else if(t.key==="/"&&!n)Lt.focus();else if(t.key===
"?"&&!n)fr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ea(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",hr);Lt.addEventListener("input",gr);he("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Lt.focus()});he("help").addEventListener("click",()=>fr.showModal());N(he("key-list"),...zi.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));gr();hr();})();
