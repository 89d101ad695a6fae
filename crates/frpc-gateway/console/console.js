"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Fr(r,...n),r}function Fr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function T(t,...e){t.replaceChildren(),Fr(t,...e)}function he(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function Se(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var Ao=0,se=()=>`e${++Ao}`;function Jn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function ut(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function tn(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var nn=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function ue(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var pt=t=>new Date(t).toTimeString().slice(0,
8);var Eo=new TextEncoder,ko=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Lr=40,be=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
M=t=>{throw new be(t)},j=t=>({bytes:t,at:0,depth:0,memory:0}),It=(t=64)=>j(new Uint8Array(t)),rn=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,ve=t=>Eo.encode(
t);function sn(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function D(t,e){t.at===t.bytes.
length&&sn(t,1),t.bytes[t.at++]=e}function Ur(t,e){D(t,e>>8),D(t,e)}function P(t,e){for(;e>127;e=Math.floor(e/128))D(t,e|128);D(t,e)}function pe(t,e){sn(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}var Rt=(t,e)=>e.match(/../g)?.forEach(n=>D(t,parseInt(n,16)));function Ke(t,e){P(t,e.length),pe(t,e)}function He(t,e){let{at:n}=t,
{length:r}=e,s=r>Lr?128:0;D(t,r);for(let o=0;o<r&&s<128;o++)D(t,s=e.charCodeAt(o));s>127&&(t.at=n,Ke(t,ve(e)))}function me(t,e,n){D(t,e);let{at:r}=t;n();let s=t.
bytes.slice(r,t.at);return t.at=r,Ke(t,s),s.length>0}var Ot=({bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.length-e,qe=({bytes:t,at:e})=>t[e],ee=t=>t.bytes[t.
at++]??M("truncated");function Te(t,e=32){let n="";for(;n.length<e;)n+=ee(t).toString(16).padStart(2,"0");return n}function Me(t,e){let n=ee(t);n!==e&&M(`found \
byte ${n}, expected ${e}`)}function R(t,e=5){let n=0;for(let r=1,s=e;s-- >0;r*=128){let o=ee(t);if(n+=(o&127)*r,o<128)return e>5?n:n>>>0}return M("a number is t\
oo long")}function ze(t){let{at:e}=t,n=R(t,10);return(J(t)||t.bytes[e+9]>1)&&M("a number is too long"),n}function $e(t,e=R(t)){return e>J(t)&&M("truncated"),t.bytes.
subarray(t.at,t.at+=e)}var Ft=t=>j($e(t,R(t,10))),ft=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function ie(t,e=R(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=Lr)
for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=$e(t,e);try{return ko.decode(i)}catch{M("a text is not UTF-8")}}return t.at+=e,s}var Je=No();var B=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,on(n),{cause:n})}};function No(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var on=t=>t instanceof Error?t.message:String(t),X=(t,e)=>new B(t,e,{mayHaveRun:!1}),
Lt=(t,e)=>{let n=B.from(t);return n.mayHaveRun||!e?n:new B(n.code,n.message,{...n,mayHaveRun:!0})},an=t=>t>0&&t<=16?t:2,Ut=(t,e,n)=>new B(t,n?e:`not sent: ${e}`,
{mayHaveRun:!!n}),ln=t=>Ut(1,"the caller cancelled the call",t),cn=(t,e="")=>Ut(4,`deadline exceeded${e}`,t);var pn=100,Co=64<<20,To=12,Xn=8,Mo=32,jn=56,Pr=184,Vn=new Uint8Array(8),Dr=new DataView(Vn.buffer);function L(t,e,n){let r;return{name:t,fields:()=>r??=$o(e,n?.()??
[])}}function Qn(t,e){let n=It(256);return _t(n,t,e),Ot(n)}function Kn(t,e){return e[0]===18&&M(`${t.name} has the layout ${Te(j(e.subarray(1)))}, which is unkn\
own`),Pt(j(e),t)}function _t(t,e,n){t.depth=pn,qr(t,e,n)}function Pt(t,e){return t.depth=pn,t.memory=Math.max(Co,J(t)*To),Jr(t,e)??Vr(t,e)}function $o(t,e){let n=new Map,
r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);if(!o)throw new Error(`invalid entry: ${s}`);let[,i,a,c,d,
u]=o,p=u==="m"?Oo(e[r++]):u==="e"?Lo(e[r++]):un[u],m=un[d[1]??""],h=m?[2,m.wire,p.wire,10]:d==="*"?[1,p.wire,10]:void 0,v=a?n.get(a):void 0;a&&!v&&n.set(a,v=[]);
let I={name:a??i,of:p,isOptional:d==="?",key:m,head:h,case:i,number:+c,all:v};return v?.push(I),I})}var Hr=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?
void 0:r.zero();function qr(t,e,n){if(!t.depth--)throw _r(e.name,`nests deeper than ${pn}`);D(t,8),D(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,
a=n[r=i];if(!o)Io(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(p=>p.case===c?.case);if(c&&!d)throw new Error(`has no member ${c.case}`);t.isFlat||(D(t,3),
P(t,d?d.number:0));let u=t.isFlat?s:d;u&&mt(t,u.of,u===d?c?.value:void 0)}}}catch(s){throw s instanceof B?s:_r(`${e.name}.${r}`,s.message)}t.depth++}function Io(t,e,n){
let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=Hr(e)),r){let i=n,a=n,c=s?i.size:a.length;Re(c>=0,n);for(let d of r)D(t,d);if(P(t,c),s)for(let[d,u]of i)
mt(t,s,d),mt(t,o,u);else for(let d of a)mt(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?D(t,0):mt(t,o,n)}function mt(t,e,n){e.table||D(t,e.wire),e.put(t,n===
void 0?e.zero():n)}function Jr(t,e){if(qe(t)===0)return void t.at++;Me(t,8),ee(t),t.depth--||M(`${e.name} nests deeper than ${pn}`);let n=e.fields();Ht(t,jn+Xn*
n.length);let r={},s="";for(let o of n){let{name:i,all:a,of:c}=o,d=a&&a[0]===o;if(d&&(r[i]=void 0),!a)r[i]=Ro(t,o);else if(d&&qe(t)===3){t.at++,s+=` ${i} `;let u=R(
t),p=a.find(m=>m.number===u);p?r[i]={case:p.case,value:Wn(t,p.of)}:u&&M(`${e.name}.${i} has no member ${u}`)}else if(!s.includes(` ${i} `)){let u=Dt(t,c);(u instanceof
Uint8Array?u.length:!Object.is(u,c.zero()))&&(r[i]={case:o.case,value:u})}}return t.depth++,r}function Ro(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&qe(
t)===0)return t.at++,Gn(t,e);if(!n)return Dt(t,s);for(let a of n)Me(t,a);let o=R(t),i=Gn(t,e);for(;o-- >0;)Ht(t,r?jn:Xn),r?i.set(Dt(t,r),Wn(t,s)):i.push(Wn(t,s));
return i}function Dt(t,{wire:e,table:n,take:r,isEnum:s}){return s&&qe(t)===12?Dt(t,un.i):(n||Me(t,e),r(t))}var Wn=(t,e)=>Dt(t,e)??Vr(t,e.table);function Vr(t,e){
let n={},r=e.fields();Ht(t,jn+Xn*r.length);for(let s of r)n[s.name]=s.all?void 0:Gn(t,s);return n}function Gn(t,e){let n=Hr(e);return typeof n=="object"&&Ht(t,Array.
isArray(n)?Mo:Pr),n}function Ht(t,e){(t.memory-=e)<0&&M("exceeds the memory limit")}var Ie=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),Oo=t=>Ie(3,()=>{},
(e,n)=>n?qr(e,t,n):D(e,0),e=>Jr(e,t),t),Fo=65536;function Lo(t){let e=Object.values(t);return{...Ie(10,()=>e[0],(r,s)=>{let o=e.indexOf(s),i=s+2147483648,a=s<0&&
i>=e.length;Re(o>=0||s===(s|0)&&(a||!r.isFlat),s),o>=0||a&&(r.isFlat||i<Fo)?P(r,o<0?i:o):(r.at--,mt(r,un.i,s))},r=>{let s=R(r),o=s-2147483648;return s>=e.length&&
(o>=0||e.includes(o))&&M(`an enum has the index ${s}`),e[s]??o}),isEnum:!0}}var dn=(t,e)=>Ie(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-
1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return P(n,i);Re((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)D(n,Number(a&127n)|
128);P(n,Number(a))},n=>{let{at:r}=n,s=R(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)o|=BigInt(n.bytes[r++]&
127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||M("an integer is beyond 2^53"),Number(s)):BigInt(s)}),Br=(t,e)=>Ie(
t,()=>0,(n,r)=>{Re(typeof r=="number",r),Dr[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)D(n,Vn[s])},n=>{for(let r=0;r<e;r++)Vn[r]=ee(n);return Dr[e>
4?"getFloat64":"getFloat32"](0)}),un={b:Ie(7,()=>!1,(t,e)=>{Re(typeof e=="boolean",e),D(t,+e)},t=>{let e=ee(t);return e>1&&M(`a bool is ${e}`),e>0}),i:Ie(12,()=>0,
(t,e)=>{Re(e===(e|0),e),P(t,(e<<1^e>>31)>>>0)},t=>{let e=R(t);return e>>>1^-(e&1)}),u:Ie(10,()=>0,(t,e)=>{Re(e===e>>>0,e),P(t,e)},t=>R(t)),l:dn(!0,!1),w:dn(!1,!1),
L:dn(!0,!0),W:dn(!1,!0),f:Br(14,4),d:Br(15,8),s:Ie(5,()=>"",(t,e)=>{Re(typeof e=="string",e),D(t,10),He(t,e)},t=>(Me(t,10),ie(t))),y:Ie(4,()=>new Uint8Array,(t,e)=>{
Re(rn(e),e),D(t,10),Ke(t,e)},t=>(Me(t,10),Ht(t,Pr),new Uint8Array($e(t))))},_r=(t,e)=>X(3,`${t} ${e}`);function Re(t,e){if(!t)throw new Error(`cannot be the ${typeof e}\
 ${String(e)}`)}var Ye=(t,e,n,r)=>({name:t,fingerprint:e,layout:n,methods:r,operations:Object.values(r).map(({operation:s})=>s).sort((s,o)=>s-o)});function fn(t,e){He(t,e.name),
Rt(t,e.fingerprint);let n=0;for(let r of e.operations)P(t,r-n),n=r}function Wr(t,e,n=""){for(let r of atob(n))D(t,r.charCodeAt(0));n||(D(t,0),Rt(t,e))}function Gr(t){
let e=ie(t,R(t,10)),n=[],r={fingerprint:Te(t),operations:n},s=0;for(;J(t);)n.push(s+=R(t,10));return s>65535&&M("a number is too long"),[e,r]}var Xr=16,jr=65536,Uo=1e3,Qr=256,Kr=61440,Yn={metadata:{}},zr=t=>[t].flat(),zn=t=>t.endsWith("-bin"),Yr=(t,e)=>zn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${t}
${zn(t)?"":e}`);function Zn(t){if(typeof t=="string")return ve(t);if(!rn(t))throw X(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Zr(t,e){
let{at:n}=t;me(t,Xr,()=>es(t,e))||(t.at=n)}function es(t,{timeout:e,metadata:n={},status:r}){let{at:s}=t;e!==void 0&&me(t,1,()=>P(t,Math.min(Math.max(0,Math.round(
e*1e3)),Number.MAX_SAFE_INTEGER)));let o=0,i=0;for(let[a,c]of Object.entries(n))for(let d of zr(c)){if(!Yr(a,d))throw X(3,`invalid metadata ${a}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(o+=a.length+d.length+8,++i>Qr||o>Kr)throw X(8,"too much metadata");me(t,2,()=>{He(t,a),pe(t,Zn(d))})}
if(r){let{code:a,details:c,mayHaveRun:d}=r;me(t,3,()=>{P(t,a),t.at-s+c.length+32<=jr&&pe(t,c)}),d||me(t,5,()=>{})}}function mn(t,e=!1){if(qe(t)!==Xr)return Yn;t.
at++;let n=Ft(t);return J(n)>jr&&M("a prefix is too long"),yn(n,e)}function yn(t,e=!1){let n=Object.create(null),r={metadata:n},s=0,o=0,i=0;for(;J(t);){let a=ee(
t),c=Ft(t);if(a>127){let d=`prefix item ${a} must be understood and is unknown`;throw e?X(12,d):new be(d)}if([1,3,5,6,8].includes(a)&&(i>>a&1&&M(`prefix item ${a}\
 occurs twice`),i|=1<<a),a===1)r.timeout=ze(c)/1e3;else if(a===2){let d=ie(c,R(c,10)),u=zn(d)?ft(c):ie(c,J(c));o+=d.length+u.length+8,(!Yr(d,u)||++s>Qr||o>Kr)&&
M("invalid metadata"),n[d]=d in n?[...zr(n[d]),u]:u}else a===3?(r.code=R(c,10),r.details=ft(c)):a===5?r.isRefused=!0:a===8&&(r.text=Ze(c))}return r}var Ze=(t,e)=>new TextDecoder().
decode(ft(t).subarray(0,e)),ts=({metadata:t,code:e,details:n,isRefused:r},s="")=>new B(an(e??0),s,{metadata:t,mayHaveRun:!r,...n&&{details:n}});function yt(t,e){
if(qe(t)===6)return t.at++,Me(t,5),Me(t,10),ts(e,ie(t))}function ns(t){let e=yn(t);return e.code??e.isRefused?ts(e,e.text):void 0}function rs(t,e){es(t,{status:e,
metadata:e.metadata}),me(t,8,()=>pe(t,ve(e.message.slice(0,Uo))))}var er=5<<20,Do=1024,Bo=1024,ss=65536,_o=128,Po=32768,gt=10,et=16384,os=32768,Ho=et/2,qo=256,Jo=16383,gn=262144,Vo=1e5,Wo=64<<20,is=8<<20,Go=10,Xo=65536,jo=2e3,
Qo=5,Ko=1e4,as="the server is going away",ls=200,zo=2147483647,tt=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),zo));function cs(t,e,n,r,s){let o=It(16384),i=new Map,
a=new Map,c=new Set(n),d=[],u=0,p=0,m=0,h=0,v=0,I=32767,k=[0,er,1/0,et,0],O=!1,we=!1,Y,fe=gt,Ne=0,ye=!1,Z=0,Q=!1,ae=!1,K=0,te,ne=y=>{if(!(O||!W))try{y(W)}catch(b){
$t(on(b));try{W.close()}catch{}}},le=()=>{o.at&&(Q=!1,ae=!0,ne(y=>y.send(Ot(o))),o.at=Z=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),ne(y=>{let b=y.buffered();
b>Wo?ge("too many unsent bytes"):b>is&&!A.isFull&&(A.isFull=!0,z())}))},z=()=>ne(y=>{if(y.buffered()>is/2)return void tt(Go,z);A.isFull=!1;for(let b of i.values())
b.room();e.room(A)}),V=()=>{o.at!==Z?(Z=o.at,queueMicrotask(V)):(ye=!1,le())},f=(y,b,x,E)=>{let{at:G}=o;try{sn(o,gt),o.at+=gt,x?.(o,E);let Pe=o.at,Ce=Pe-G-gt,xe=b===
3?ss:Math.max(k[1],Bo);if(Ce>xe)throw X(8,`the message has ${Ce} bytes of at most ${xe}`);o.at=G;for(let dt of[15,y,b,Ce>>>16,Ce])Ur(o,dt);o.at=Pe}catch(Pe){throw o.
at=G,Pe}o.at>Xo?le():ye||(ye=!0,Z=0,queueMicrotask(V))},g=(y,{code:b,message:x},E=7)=>f(y,E,G=>{P(G,b),pe(G,ve(x.slice(0,ls)))}),w=(y,b)=>{f(y,5,P,0),g(y,b)},S=y=>{
if(!O){if(K=0,Y){if(pe(Y,y),Y.at<fe)return;y=Ot(Y),Y=void 0}try{let b=0,x=E=>y[b+E]<<8|y[b+E+1];for(;!O&&!(y.length<(fe=b+gt));b=fe){x(0)!==15&&M("a header with\
out its magic");let E=x(6)*65536+x(8);if(E>(x(4)===3?ss:er)&&M(`a packet of ${E} bytes`),y.length<(fe+=E))break;N(x(2),x(4),y.subarray(b+gt,fe))}b<y.length&&(fe-=
b,pe(Y=It(),y.subarray(b)))}catch(b){let x=b.message;A.isUp&&g(4,new B(13,x),3),ge(`the server broke the protocol: ${x}`)}}},N=(y,b,x)=>{let E=j(x),G=b===3&&(y===
5||y===6),Pe=G?R(E,10):y;Pe>65535&&M(`stream ${Pe}`);let Ce=i.get(Pe);if(b>=10){A.isUp||M("a packet before HELLO");let xe=y>=os,dt=d[y%et];if(!xe&&dt?.id===y&&dt.
operation===b)return ce(y),e.answered(),dt.isGivenUp?p--:e.replied(dt,x),_();if(s.filter(So=>So.packet(A,y,b,x)).length)return;if(xe&&C)return C.packet(y,b,x,!1);
++Ne>Vo&&ge("too many stray packets")}else if(b<2){x.length&&M("a PING with a body"),b===1?A.isUp||ge("the server is a compat peer"):Q||(Q=!0,f(0,1));return}else if(b===
3&&!G){if(!y&&!A.isUp)return F(E);if(y===4)return ge(`closed by the server with code ${R(E,10)}: ${Ze(E,ls)}`);if(y===1)return $(E);y>=Po&&M(`packet type ${y} m\
ust be understood and is unknown`)}else{if(b===4)return ct();if(b===6)return void(x.length&&C?.cancel(y,R(E,10)));if(b===8)M("a stray HAND_OFF");else if(b===9)do{
let xe=$e(E,R(E,10));Ce?.packet(2,xe)}while(J(E));else{if(Ce)return e.answered(),G?Ce.items(y===6,E):Ce.packet(b,x);if(b===2){let xe=y-I&32767;if(y>=32768&&xe&&
xe<=16384)return I=y,C?C.packet(y,2,x,!0):w(y,X(12,"no service is served"))}}}},$=y=>{let b=J(y);for((!b||b>Do)&&M(`ASK of ${b} bytes`);J(y);){let x=Te(y),E=[...c,
...r?.services??[]].find(G=>G.fingerprint===x);f(2,3,G=>Wr(G,x,E?.layout))}},F=y=>{(ie(y,4)!=="fris"||!ee(y))&&M("no HELLO");let b=new Set,x=0;try{for(;J(y);){x=
ee(y);let E=Ft(y);if(x>=_o&&M("must be understood and is unknown"),[1,2,3,4,5,6,8,34,35].includes(x)&&(b.has(x)&&M("occurs twice"),b.add(x)),x&&x in k)k[x]=ze(E);else if(x===
8)ze(E);else if(x===32||x===33){let G=Gr(E);x===32&&a.set(...G)}}}catch(E){M(`HELLO item ${x}: ${E.message}`)}k[3]=Math.min(k[3],et),A.isUp=!0,clearTimeout(U),e.
room(A)},ce=y=>{d[y%et]=void 0,u--===k[3]&&e.room(A)},de=(y,b)=>{i.set(b,y),y.begin(A,b,k[4])},_=()=>{we&&u===p&&!i.size&&!C?.progress.size&&queueMicrotask(()=>ge(
as))},ct=()=>{we||(we=!0,e.closing(A,as),_())},ge=y=>re(()=>{O||(le(),ne(b=>b.close()),$t(y))}),$t=y=>{if(O)return;O=!0,clearInterval(te),clearTimeout(U),e.closing(
A,y);let b=A.isUp;A.isUp=!1;let x=new B(14,`the connection was lost: ${y}`);for(let E of d)E&&!E.isGivenUp&&e.lost(E,x);for(let E of i.values())E.lost(x);if(C?.
down(x),b)for(let E of s)E.down(A,x)},A={isUp:!1,isFull:!1,write:f,reset:g,refuse:w,announce(y){let b=a.get(y.name),x=b?.fingerprint===y.fingerprint&&`${b.operations}`==
`${y.operations}`;if(!c.has(y)){for(let E of c)if(E.operations.some(G=>y.operations.includes(G)))throw X(9,`${E.name} has operations of ${y.name}: use another c\
hannel`);x||f(3,3,fn,y),c.add(y)}},call(y,b){if(A.isFull||u>=k[3])return!1;do m=(m+1)%os;while(d[m%et]);let x=y.id=m;d[x%et]=y,u++;try{f(x,y.operation,b,y)}catch(E){
throw ce(x),E}return!0},cancel(y){O||(y.isGivenUp=!0,f(y.id,6,P,y.operation),++p>=Ho&&ct(),_())},open(y,b){if(!k[2])throw X(12,"the server does not accept strea\
ms");if(A.isFull||h>=Math.min(k[2],Jo))return!1;do v=v%32767+1;while(i.has(v));let x=v;i.set(x,y),h++;try{f(x,2,b)}catch(E){throw A.over(x),E}return y.begin(A,x,
k[4]),!0},accept:de,over(y){i.delete(y),y<32768&&(h--,e.room(A)),_()},drain:ct,closeIfIdle:_},C=r?.on(A),U=tt(Ko,()=>ge("handshake timeout")),H=y=>{o.isFlat=y.isFlat,
f(0,3,b=>{pe(b,ve("fris"));let x=C?qo:0;[er,x,x,gn].forEach((E,G)=>me(b,G+1,()=>P(b,E))),me(b,6,()=>{});for(let E of r?.services??[])me(b,32,()=>fn(b,E));for(let E of n)
me(b,33,()=>fn(b,E))}),f(1,0),le(),!O&&(te=setInterval(()=>{if(++K>Qo)return ge("keepalive timeout");(K>1||!ae)&&f(0,0),ae=!1;let b=performance.now();for(let x of d)
x&&x.until<=b&&!x.isGivenUp&&e.expired(x)},jo))},W,re=y=>W?y():queueMicrotask(y),Qe=y=>re(()=>$t(y));try{W=t({open:()=>re(()=>ne(H)),data:S,close:Qe})}catch(y){
Qe(on(y))}return A}function hn(t,e){let n=[],r=0,s=!1,o=()=>{},i=m=>{s||=m,o()},a=()=>n[r],c=()=>{let m=a();return m!==void 0&&(n[r++]=void 0,r>999&&r*2>n.length&&(n.splice(0,r),r=
0)),m},d=()=>{n=[],r=0},u=(async function*(){try{for(;;){let m=c();if(m!==void 0){let h=t(m);h!==void 0&&(yield h)}else if(s){if(s!==!0)throw s;return}else await new Promise(
h=>o=h)}}finally{e()}})(),{return:p}=u;return u.return=()=>(e(),d(),i(!0),p.call(u,void 0)),{messages:u,first:a,take:c,clear:d,put:m=>{n.push(m),o()},end:i}}var tr=64,Yo=4,Zo=4096,bn=(t,e)=>t instanceof be?new B(13,`not a valid ${e.name}: ${t.message}`):B.from(t);function ds(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,u=!0,p=!0,
m=!1,h=!1,v=!1,I=()=>{},k,O=()=>!u&&!p,{messages:we,clear:Y,put:fe,end:Ne}=hn(f=>{let g=f.length+tr;c-=g,d+=g,p&&d*Yo>=gn&&(o?.write(i,5,P,d),d=0);try{let w=j(f),
S=yt(w,Yn);if(S)throw S;return Pt(w,e)}catch(w){throw bn(w,e)}},()=>n?te(!0):le()),ye=Object.assign(we,{metadata:{}}),Z=()=>{O()&&(I(),k?.(),o?.over(i),o=k=void 0,
r())},Q=f=>{p=!1,Ne(f),Z()},ae=()=>{u&&(u=!1,o?.write(i,7),Z())},K=f=>{u=!1,Q(f)},te=(f,g=ln(1))=>{O()||o?.reset(i,g),Y(),K(f)},ne=f=>te(f,f),le=()=>{Y(),m=!0},
z=f=>{if(!(!o||!u)){if(f instanceof B)return V(6,g=>rs(g,f)),u=!1,Z();o.write(i,2,g=>{let{at:w}=g;_t(g,t,f),a-=g.at-w+tr})}},V=(f,g)=>o?.write(f,3,w=>{P(w,i),g(
w)});return{messages:ye,begin(f,g,w){o=f,i=g,a=w},packet(f,g){if(f===2)return h=!0,!p||m?void 0:c+d>=gn?ne(new B(8,"the peer exceeded its credit")):(c+=g.length+
tr,fe(new Uint8Array(g)));let w=j(g);if(f===5){let S=ze(w);v||=!S,(a+=S)>0&&I()}else if(g.length){let S=an(R(w,10));K(new B(S,Ze(w,Zo),{mayHaveRun:!v}))}else Q(
!0)},items(f,g){if(p){!f&&h&&M("late HEADERS"),h=!0;try{if(f)return Q(ns(g)??!0);s?.(ye.metadata=yn(g).metadata)}catch(w){ne(bn(w,e))}}},send:z,async pump(f,g,w){
try{let S=f,N=S?.[Symbol.asyncIterator]?.()??S?.[Symbol.iterator]?.();if(!N)throw X(3,`messages are an iterable, not ${String(f)}`);k=async()=>{try{await N.return?.()}catch{}},
n||V(5,()=>{});for(let $;;){for(;(a<=0||o?.isFull)&&!O();)await new Promise(F=>I=F);if(O())return;if(!$)$=await N.next();else{if($.done)break;z($.value),$=void 0}}
k=void 0,ae(),O()||w?.()}catch(S){if(!n)throw k?.(),k=void 0,S;te(Lt(S,g))}},room:()=>I(),finish:ae,discard:le,fail:ne,lost:K}}var ei=3e4,ti=5e3,ni=20,us=2e3,ps=10,qt=class{constructor(e,{timeout:n,reconnectTimeout:r=ti,metadata:s,serve:o,stayConnected:i}={}){let a=n??ei,c,d=0,u=ps,p=0,
m,h=!1,v="",I=[new Set,new Set,new Set],k=({service:f,method:{sends:g,receives:w}})=>I[f?g||w?1:0:2],O=new Set,we=[],Y=()=>{c||m||h||!(I.some(({size:f})=>f)||i)||
(p=performance.now(),c=cs(e,fe,[...O],o,we))},fe={room:f=>queueMicrotask(()=>{for(let g of I)for(let w of g){if(c!==f||!Ne(w,f))break;c===f&&g.delete(w)}}),closing(f,g){
if(c===f){if(c=void 0,v=g,f.isUp)for(let w of I)w.forEach(Z);f.isUp&&performance.now()-p>=us?d=0:h||(clearTimeout(m),m=tt(Math.random()*Math.min(ni*2**Math.min(
d++,16),us),()=>{m=void 0,Y()})),Y()}},answered:()=>void(d=0),replied(f,g){let w=f,{method:{reply:S},options:{onMetadata:N}}=w;ae(w);try{let $=j(g),F=mn($),ce=yt(
$,F);if(ce)throw ce;$.at&&N?.(F.metadata),w.resolve(Pt($,S)),u<ps&&(u+=.1)}catch($){w.reject(Lt(bn($,S),w.sent>1))}},expired:f=>Q(f),lost(f,g){let w=f;if(w.link=
void 0,!w.method.idempotent||w.sent>1||u<1)return K(w,g);u--,ye(w)}},Ne=(f,g)=>{let{service:w}=f;try{return w&&g.announce(w),f.start(f,g)&&!!++f.sent}catch(S){return K(
f,Lt(S,f.sent)),!0}},ye=f=>{if(!(c?.isUp&&Ne(f,c))){if(h)return K(f,fs(f.sent));k(f).add(f),Y(),Z(f)}},Z=f=>{f.reconnectsUntil=performance.now()+(f.options.reconnectTimeout??
r),Q(f)},Q=f=>{let{until:g,sent:w,reconnectsUntil:S}=f,N=performance.now(),$=k(f).has(f)&&!c?.isUp&&`no connection to the server${v&&`: ${v}`}`;clearTimeout(f.timer),
N>=g?K(f,cn(w,$?`; ${$}`:"")):N>=S&&$?K(f,Ut(14,$,w)):f.timer=tt((N<S?Math.min(g,S):g)-N,()=>Q(f))},ae=f=>{k(f).delete(f),clearTimeout(f.timer),f.options.signal?.
removeEventListener("abort",f.abort)},K=(f,g)=>{ae(f),f.link?.cancel(f),f.reject(g)},te=(f,{sentTimeout:g,until:w,options:{metadata:S}})=>{(g!==void 0||s||S)&&Zr(
f,{timeout:g&&w-performance.now(),metadata:{...s,...S}})},ne=(f,g)=>{te(f,g),_t(f,g.method.request,g.request)},le=(f,g)=>{let w=g.call(f,ne);return w&&(f.link=g),
w},z=(f,g,w,S,N,$,F,ce)=>{let{signal:de}=S,_={id:0,operation:g.operation,until:performance.now()+ +(N??(f?a:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,
link:void 0,service:f,method:g,request:w,options:S,sentTimeout:N,start:$,resolve:F,reject:ce,abort:de&&(()=>K(_,ln(_.sent)))};return isNaN(_.until)?ce(X(3,"the \
timeout is not a number")):de?.aborted?_.abort?.():(de?.addEventListener("abort",_.abort),N!==void 0&&Q(_),(N===void 0||_.timer)&&ye(_)),_},V=(f,g,w,S={})=>{let N,
$=ds(g.request,g.reply,!0,()=>N&&ae(N),S.onMetadata);return N=z(f,g,w,S,S.timeout,(F,ce)=>{N=F;let de=ce.open($,_=>{te(_,F),D(_,9),P(_,F.operation)});if(de){let _=F.
sentTimeout===void 0;_&&(F.until=1/0),$.pump(w,g.sends,()=>{!_||g.receives||(F.until=performance.now()+a,Q(F))})}return de},()=>{},$.fail),$};this.unary=(f,g,w,S={})=>new Promise(
(N,$)=>void z(f,g,w,S,S.timeout??n,le,N,$)),this.serverStreaming=(f,g,w,S)=>V(f,g,[w],S).messages,this.twoWay=(f,g,w,S)=>V(f,g,w,S).messages,this.clientStreaming=
async(f,g,w,S)=>{let{messages:N}=V(f,g,w,S),{done:$,value:F}=await N.next();if($)throw new B(13,"there is no reply");return N.return?.(),F},this.name=f=>void O.
add(f),this.mount=f=>void we.push(f),this.connected=(f,g,w)=>new Promise((S,N)=>{z(void 0,{},void 0,{reconnectTimeout:g,signal:w},void 0,($,F)=>F.isFull?!1:(f?.(
F),ae($),S(F),!0),S,N)}),this.close=()=>{h=!0,clearTimeout(m);for(let f of I)for(let g of f)K(g,fs(g.sent));c?.drain()},i&&queueMicrotask(Y)}},fs=t=>Ut(9,"the c\
hannel is closed",t);var nt=65280,ri=nt+8,si=16<<20,nr=64,oi=255,ii=65536,ai=4,vn={now:0,last:1,oldest:2},li=1e4,ms=t=>{let e=mn(t);return(t.at?yt(t,e):void 0)??X([8,12,7][ee(t)-3]??
3,Ze(t))},ys=t=>{let e=R(t,10);return e>oi&&M("a topic is too long"),ie(t,e)},gs=new WeakMap,Jt=class{constructor(e){this.channel=e;this.requests=new Map;this.last=
0;let{requests:n}=this,r=gs.get(e);if(r)return r;gs.set(e,this),e.mount({packet:(s,o,i,a)=>{if(i<nt||i>ri)return!1;!o&&i===nt+5&&(this.refused??=ms(j(a)));for(let c of o?
[n.get(o)]:n.values())c?.packet(s,o,i-nt,j(a));return!0},down(s,o){for(let i of[...n.values()])i.down(s,o)}})}subscribe(e,{group:n="",from:r}={}){return this.request(
0,e,n,r)}async publish(e,n){await this.channel.connected(r=>{r.write(0,nt+2,s=>{Ke(s,ve(e)),pe(s,Zn(n))}),this.published??=r})}async sync(){await(await this.request(
3)).return?.();let{refused:e}=this;if(this.refused=void 0,e)throw e}request(e,n,r="",s){let{channel:o,requests:i}=this;return new Promise((a,c)=>{if(i.size>=65535)
throw X(8,"too many requests");do this.last=this.last%65535+1;while(i.has(this.last));let d=this.last,u,p=0,m=0,h=!1,v,I,k=new AbortController,O=()=>{k.abort(),
i.delete(d)&&n!==void 0&&u?.isUp&&u.write(d,nt+1)},{first:we,messages:Y,put:fe,end:Ne,take:ye}=hn(A=>(p-=A.payload.length+nr,A),O),Z=A=>{clearTimeout(v),i.delete(
d),this.published=I??this.published,c(A),Ne(A)},Q=r?[]:n?.split(".")??[],ae=Q.at(-1)===">",K=A=>{let C=A.split(".");return(ae?C.length>=Q.length:C.length===Q.length)&&
Q.every((U,H)=>U===">"||U==="*"||U===C[H])},te=e===0&&!r&&s!==void 0,ne=typeof s=="object";if(ne&&!(/^[\da-f]{16}$/.test(s.epoch)&&s.offset>=0&&Number.isSafeInteger(
s.offset)))throw X(3,`${s.epoch}, ${s.offset} is not a position`);let le=ne||s===void 0?vn.oldest:vn[s],z=new Map(ne?[[n,{...s,offset:s.offset+1}]]:[]),V=new Map,
f=0,g="",w=!1,S=!1,N=!1,$=!1,F=!1,ce=()=>!n?.match(/[*>]/)&&z.size>0,de=A=>{u?.write(d,nt+A,C=>{if(n!==void 0&&Ke(C,ve(n)),A===6){D(C,le);for(let[U,H]of z)He(C,
U),Rt(C,H.epoch),P(C,H.offset)}else pe(C,ve(r))})},_=()=>{let A=z.size>0;return z=new Map,le=vn.now,w=!1,N=!0,A},ct=A=>{o.connected(C=>{u=C,e===3&&((this.published??
C)!==C&&(this.refused=new B(15,"the connection was lost")),I=this.published,this.published=void 0);try{de(te?6:e)}catch(U){if(!S||!_())throw U;de(6)}S||(v=tt(li,
()=>{O(),Z(cn(1,"; the server may have no broker"))}))},A,k.signal).catch(C=>{S&&C.code===9&&Ne(!0),Z(C)})},ge=()=>{clearTimeout(v),F=!0,S&&(N||!(te&&$))&&(h=!0),
a(Y)},$t=(A,C,U)=>{if(C===5&&A&&!F&&te&&U.bytes[U.at]===ai)N=!0,de(0);else if((C===5||C===6&&U.bytes[U.at])&&A&&!F&&S&&_())de(6);else if(C===6&&A&&U.bytes[U.at]===
0){ee(U),$=ee(U)===1;let H=Te(U,16);f=R(U,10);let W=g!==""&&g!==H;g=H,ge(),N=!1,h||=ce()?!f:W}else if(C===7)for(;J(U);){let H=ys(U),W={epoch:Te(U,16),offset:R(U,
10)};if(Number.isSafeInteger(W.offset)||M("an integer is beyond 2^53"),!F||!A&&!K(H))continue;let re=V.get(H);A&&!re?(f--,re=z.get(H)??(w?{...W,offset:1}:void 0)):
!A&&re?.epoch!==W.epoch&&(re=void 0),re&&$&&(A||!N)&&(re.epoch===W.epoch&&re.offset<=W.offset?m+=W.offset-re.offset:h=!0),V.size>=ii&&!V.has(H)&&(V.clear(),N=!0),
V.set(H,W)}else return!1;return!0};i.set(d,{packet(A,C,U,H){if(!(A!==u||te&&$t(C,U,H)))if(U===2){let W=ys(H);if(!C&&(!F||!K(W)))return;let re=ft(H),Qe=V.get(W);
for(Qe&&V.set(W,{...Qe,offset:Qe.offset+1}),p+=re.length+nr,fe({topic:W,payload:re,position:Qe,lagged:m,reconnected:h}),m=0,h=!1;p>si;){let y=ye();p-=y.payload.
length+nr;let b=we();b.lagged+=y.lagged+1,b.reconnected||=y.reconnected}}else U===4?F&&!(te&&$&&!N)&&(m+=R(H,10)):C&&(J(H)?Z(ms(H)):ge())},down(A,C){if(A===u){if(n===
void 0||!F&&!S)return Z(C);if(F)if(f>0&&!N){N=!w&&!ce();for(let[U,H]of V)z.set(U,H)}else N?_():(z=V,le=vn.oldest,w=!0);V=new Map,F=!1,S=!0,ct(1/0)}}}),ct()})}};var wn="frisbee.1";function rr(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let s=new n(String(t),[wn,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===wn)return r.open();o=`the \
server does not speak ${wn}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var ci=64;var xn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of Ae(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of Ae(e))i===
2?n=Oe(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=pi(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>ci)throw new be("types are nested too deeply");let a=[],c=[],d=[],u=[],p="",m=!1;
for(let{number:k,bytes:O}of Ae(e))k===1?p=Oe(O):k===2?a.push(O):k===3?c.push(O):k===4?d.push(O):k===7?m=xs(O,7):k===8&&u.push({name:vs(O),docs:o.get(`${s},8,${u.
length}`)??""});let h=[...r,p],v=bs(n,h),I=a.map((k,O)=>di(k,o.get(`${s},2,${O}`)??""));this.messages.set(v,{name:v,package:n,path:h,docs:o.get(s)??"",fields:I,
oneofs:u,isEntry:m}),c.forEach((k,O)=>this.declare(k,n,h,`${s},3,${O}`,o,i+1)),d.forEach((k,O)=>this.declareEnum(k,n,h,`${s},4,${O}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:u,bytes:p}of Ae(e)){if(u===1&&(a=Oe(p)),u!==2)continue;let m=0;for(let h of Ae(p))h.number===2&&(m=h.low|0);i.push({name:vs(p),number:m,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=bs(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},ws=t=>t===11||t===10||t===
14,bs=(t,e)=>[...t?[t]:[],...e].join(".");function di(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,u=!1;for(let p of Ae(t))p.number===1?n=Oe(p.bytes):p.number===
3?o=p.low:p.number===4?i=p.low:p.number===5?a=p.low:p.number===6?s=Oe(p.bytes).replace(/^\./,""):p.number===8?u=xs(p.bytes,3):p.number===9?c=p.low:p.number===10?
r=Oe(p.bytes):p.number===17&&(d=p.low!==0);if(a<1||a>18)throw new be(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:u,
docs:e,jsonName:r||n.replace(/_(\w)/g,(p,m)=>m.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var ui=new Uint8Array,Oe=t=>ie(j(t),t.length);function*Ae(t){
let e=j(t);for(;J(e);){let n=R(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(R(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:ui,
low:o>>>0}}else if(s===2)yield{number:r,bytes:$e(e,R(e)),low:0};else if(s===1||s===5)$e(e,s===1?8:4);else throw new be(`a field of the wire type ${s}`)}}function vs(t){
for(let{number:e,bytes:n}of Ae(t))if(e===1)return Oe(n);return""}function xs(t,e){for(let{number:n,low:r}of Ae(t))if(n===e)return r!==0;return!1}function pi(t){
let e=new Map;for(let{number:n,bytes:r}of Ae(t)){if(n!==1)continue;let s="",o="",i="";for(let c of Ae(r))if(c.number===1){let d=j(c.bytes),u=[];for(;J(d);)u.push(
R(d));s=u.join(",")}else c.number===3?o=Oe(c.bytes):c.number===4&&(i=Oe(c.bytes));let a=o||i;a&&e.set(s,Sn(a))}return e}var Sn=t=>t.replace(/^ /gm,"").trim();var Ve=t=>`f${t.number}`,bt=t=>`o${t}`,sr={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
ht=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=mi(this.schema,
r),o=s.map(c=>`${Ve(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>ws(c.kind)),a=L(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=sr[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${sr[o.kind]}${sr[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${bt(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=fi(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},fi=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function mi(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function Ss(t,e,n,r){let s=r.map(({operation:i,request:a,response:c,sends:d,receives:u,isIdempotent:p})=>({
operation:i,request:t.of(a),reply:t.of(c),sends:d,receives:u,idempotent:p})),o=Ye(e,n,"",Object.fromEntries(s.map((i,a)=>[`m${a}`,i])));return s.map(i=>({service:o,
method:i}))}var or={POLYGLOT:0,PROTOBUF:1},Vt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},yi=L("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),gi=L("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),hi=L("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[wi]),bi=L("fr\
pc.reflection.v1.ListRequest","etag:s"),vi=L("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e docs:s isDeprecated:b formats:*s",()=>[Vt]),wi=L("frpc.reflection.v1.Service","name:s fingerprint:s layout:y codec:e file:s docs:s isDeprecated:b methods:*m \
operations:*u",()=>[or,vi]),vt=Ye("frpc.reflection.v1.Reflection","2827b98f5f97380f22de961eb0322afd","AQgAAQEJAAMBCQIIA0sEAAQBCQQIAkkDSQADAQkCCAMMAAkBCQIJAwwEDg\
UFCQYJBwgISwYJTQECAAIACgEJAg0DCQQIBQkGCAcOBwkJCggISQEDAAICAgRMaXN0AgABBUZpbGVzAgIDHWZycGMucmVmbGVjdGlvbi52MS5SZWZsZWN0aW9u",{list:{operation:65e3,request:bi,reply:hi,
receives:!0,idempotent:!0},files:{operation:65001,request:gi,reply:yi,receives:!0,idempotent:!0}});var As=32<<20,Fe=t=>`${t.service.name}/${t.name}`,An=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=rr(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new qt(o,
{stayConnected:!0}),this.channel.name(vt),this.topics=new Jt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let m of n.serverStreaming(
vt,vt.methods.list,{etag:e?.etag??""},{metadata:r})){if(m.notModified)return;o||=m.etag;for(let h of m.services){let v=s.get(h.name);v?v.methods.push(...h.methods):
s.set(h.name,h)}}let i=[],a=0;for await(let{data:m}of n.serverStreaming(vt,vt.methods.files,{},{metadata:r}))if(i.push(m),a+=m.length,a>As)throw new B(Je.RESOURCE_EXHAUSTED,
`the schema has more than ${As} bytes`);let c=new Uint8Array(a),d=0;for(let m of i)c.set(m,d),d+=m.length;let u=new xn(c),p=new ht(u);return{etag:o,schema:u,services:[
...s.values()].map(m=>xi(m,p))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function xi(t,e){let n,r=o=>{if(t.codec!==or.POLYGLOT)throw new Error(
"its messages use the protobuf codec, which this page does not support");if(!t.file)throw new Error("the server does not have the schema of this service; build \
it with `reflection(true)`");return n??=Ss(e,t.name,t.fingerprint,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.idempotency!==
Vt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:Sn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=t.methods.map(
(o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.idempotency===
Vt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===Vt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:Sn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var En=t=>Object.entries(Je).find(([,e])=>e===t)?.[0]??String(t);var Si=50;function kn(t,e,n){let r=t.slice(-Si).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Restore the request",onclick:()=>e(
s)},l("span",{className:"muted"},pt(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},En(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},ue(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"No calls yet.")}var q=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},oe=()=>Object.create(null),ar=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),lr=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
rt=t=>lr.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function We(t){try{return JSON.parse(t||"{}")}catch(e){throw new q(
"",e.message)}}function st(t,e,n,r=""){let s=Ci(t,e,n,r);if(s)return s;if(!ar(n))throw new q(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(m=>m.jsonName===a||m.name===a),u=r?`${r}.${a}`:a;if(!d)throw new q(u,`${e} has no such field${Ai(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let p=Ei(t,d,c,u);if(d.oneof===void 0)i[Ve(d)]=p;else{let m=bt(d.oneof);if(i[m])throw new q(u,`${o.oneofs[d.oneof]?.name} has two \
members`);i[m]={case:Ve(d),value:p}}}return i}var Ai=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Ei(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!ar(n))throw new q(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[ki(o,a,r),ir(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return ir(t,e,n,r);if(!Array.isArray(n))throw new q(r,"a list is an array");return n.map((a,c)=>ir(t,e,a,`${r}[${c}]`))}function ki(t,e,n){
if(t.kind!==8)return Xt(t,e,n);if(e!=="true"&&e!=="false")throw new q(n,`${e} is not true or false`);return e==="true"}var ks=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Ni=t=>[3,4,6,16,18].includes(
t),cr=t=>t in ks;function ir(t,e,n,r){if(e.kind===11)return st(t,e.type,n,r);if(e.kind!==14)return Xt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new q(r,`${s} has no value ${Wt(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Wt=t=>JSON.stringify(t).slice(0,60);function Xt(t,e,n=""){let{kind:r}=t,s=ks[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new q(n,`${Wt(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new q(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new q(n,`${i} is not from ${s[0]} to ${s[1]}`);return Ni(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new q(n,`${Wt(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new q(n,`${Wt(e)} is not true or false`);return e}if(typeof e!="string")throw new q(n,`${Wt(e)} is not a\
 string`);return r===12?Ee(e,n):e}function Ci(t,e,n,r){let s=lr.test(e)&&t.message(e).fields[0];if(s)return{f1:Xt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return Ti(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new q(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new q(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!ar(n))throw new q(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Gt(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new q(r,"a ListValue is an array");return{f1:n.map(o=>Gt(o,0))};case"google.protobuf.Value":return Gt(n,0)}}function Ti(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new q(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Gt(t,e){if(e>90)throw new q(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Gt(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,Gt(s,e+1)]))})}function jt(t,e,n){let r=Ii(t,e,n);if(r!==void 0)
return r;let s=oe();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[bt(o.oneof)],a=o.oneof===void 0?n[Ve(o)]:i?.case===Ve(o)?i.value:void 0;if(a===
void 0)continue;let c=Mi(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function Mi(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=oe();for(let[o,i]of n)s[String(o)]=Nn(t,r,i);return s}return Array.isArray(n)?n.map(s=>Nn(t,e,s)):Nn(t,e,n)}function Nn(t,e,n){return e.
kind===11?jt(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Le(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?$i(n):n}function $i(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function Ii(t,e,n){let r=lr.test(e)&&t.message(e).fields[0];if(r)return Nn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${Es(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Es(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return Ns(n);case"google.protobuf.ListValue":return n.f1.map(Cn);case"google.protobuf.Value":return Cn(n)}}function Ns(t){
let e=oe();for(let[n,r]of t.f1)e[n]=Cn(r);return e}function Cn(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?Ns(e.value):e.case==="f6"?e.value.f1.map(
Cn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var Es=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Le(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function Ee(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new q(e,"it is no base64")}}function wt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var ot=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var St=t=>Object.entries(t).flatMap(([e,n])=>[n].flat().map(r=>[e,r])),xt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("bu\
tton",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){
let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll("input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?Ee(
s,o):s)}return e}set(e){T(this.rows);for(let[n,r]of St(e))this.add(n,typeof r=="string"?r:Le(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key",
"aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,
autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("button",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},
"×"));return this.rows.append(o),r}},dr=t=>l("dl",{className:"pairs"},...St(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Le(n))]));var it=t=>pr(JSON.stringify(t)),pr=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ue=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${pr(t).replace(/'/g,"'\\''")}'`,Cs=t=>St(t).map(([e,n])=>[e,typeof n=="string"?n:Le(n)]);function Ts({method:t,requests:e,metadata:n,
timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&i.push(`-H ${Ue(`\
connect-timeout-ms: ${Math.round(r)}`)}`);for(let[u,p]of Cs(n))i.push(`-H ${Ue(`${u}: ${p}`)}`);let a=Ue(`${s}/${Fe(t)}`);if(!o)return[...i,`-d ${Ue(it(e[0]??{}))}`,
a].join(` \\
  `);let c=e.map(it);return[`printf '${c.map(u=>`\\0${Ri(new TextEncoder().encode(u).length)}%s`).join("")}' ${c.map(Ue).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var Ri=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function Ms({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Ue(a)}`,Ue(Fe(t))];for(let d of e)c.push(Ue(it(d)));for(let[d,u]of Cs(n))c.
push(`-H ${Ue(`${d}=${u}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var In=t=>t.replace(/\W/g,"_")||"_",$s=t=>In(t).replace(/^_(?=\d)/,"-"),Is=t=>In(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Qt=t=>Is(t).map(e=>e.toLowerCase()).join("_")||"_",at=t=>Is(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",Tn=t=>at(t).replace(/^./,e=>e.toLowerCase()),Oi=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),$n=t=>Oi.has(Qt(t))?/^(self|super|crate)$/.test(Qt(t))?`${Qt(t)}_`:`r#${Qt(t)}`:Qt(t),ke=t=>pr(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function Rs(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=In(n.service.name.
split(".").pop()??""),c=r.map(h=>Fs(e,n.request,h,0)),d=$n(n.name),u=[`let client = ${a}Client::connect(${ke(new URL(i).host)}).await?;`],p=c[0]??`${at(n.request)}\
::default()`;n.sends&&(u.push("let (requests, source) = frpc::RequestStream::channel(16);"),p="source");let m=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...St(s).map(([h,v])=>typeof v=="string"?`request.metadata_mut().insert(${ke(h)}, ${ke(v)})?;`:`request.metadata_mut().insert_\
bin(${ke(h)}, &[${[...v].join(", ")}][..])?;`)];return m.length>0&&(u.push(`let mut request = frpc::Request::new(${p});`,...m),p="request"),n.receives?(u.push(`\
let mut replies = client.${d}(${p}).await?.into_inner();`),u.push(...c.slice(0,n.sends?void 0:0).map(h=>`requests.send(${h}).await?;`),...n.sends?["drop(request\
s);"]:[]),u.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(u.push(`let call = client.${d}(${p});`,"let se\
nding = async {",...c.map(h=>`    requests.send(${h}).await?;`),"    drop(requests);","    Ok(())","};"),u.push("let (reply, ()) = tokio::try_join!(call, sendin\
g)?;",'println!("{:?}", reply.into_inner());')):u.push(`let reply = client.${d}(${p}).await?.into_inner();`,'println!("{reply:?}");'),u.join(`
`)}function Os({path:t,package:e}){let n=[...t.slice(0,-1).map($n),at(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var ur=(t,e)=>`${"\
    ".repeat(e)}${t}`;function Fs(t,e,n,r){let s=t.message(e),o=Os(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let p of s.fields){
let m=i[i[p.jsonName]===void 0?p.name:p.jsonName];if(m===void 0||m===null&&p.type!=="google.protobuf.Value")continue;let h=p.oneof===void 0?void 0:s.oneofs[p.oneof],
v=Fi(t,s,p,m,r+1),I=h?h.name:p.name;c.add(I);let k=[...s.path.map($n),at(h?.name??"")].join("::");a.push(ur(`${$n(I)}: ${h?`Some(${k}::${at(p.name)}(${v}))`:v},`,
r+1))}let d=new Set(s.fields.map(p=>p.oneof===void 0?p.name:s.oneofs[p.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(ur(`..${o}::default()`,r+1));let u=`${o} { ${a.map(p=>p.trim().replace(/,$/,"")).join(", ")} }`;return u.length<90&&!u.includes(`
`)?u:`${o} {
${a.join(`
`)}
${ur("}",r)}`}function Fi(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([p,m])=>`(${o.kind===9?`${ke(p)}.to_\
owned()`:$s(p)}, ${Mn(t,i,m,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>Mn(t,n,d,s)).join(", ")}]`;let a=Mn(t,n,r,s),c=n.kind===11&&!rt(n.type)&&
Ls(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function Ls(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&Ls(t,s.type,n,r))??!1)}function Mn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${ke(String(n))}.parse()?`:rt(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?Mn(t,s,n,r):rt(e.type)?Li(e.type,n):Fs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=at(s.path[s.path.length-1]??""),a=at(o.name);return`${Os(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...Ee(String(n))].join(", ")}]`:e.kind===9?`${ke(String(n))}.to_owned()`:e.kind===1||e.kind===2?Bs(Number(n),e.kind===1?"f64":"f32"):$s(String(n))}var At="\
frpc::prost_types::";function Li(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${At}FieldMask { paths: vec![${n.map(r=>`${ke(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${At}Struct { fields: ${Ds(e)} }`:t===
"google.protobuf.ListValue"?`${At}ListValue { values: ${Us(e)} }`:fr(e)}function fr(t){if(t===null)return`${At}Value::from(${At}value::Kind::NullValue(0))`;let e=typeof t==
"string"?ke(t):typeof t=="number"?Bs(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?Us(t):Ds(t);return`${At}Value::from(${e})`}var Us=t=>`vec![${t.map(
fr).join(", ")}]`,Ds=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${ke(e)}.to_owned(), ${fr(n)})`).join(", ")}])`,Bs=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function _s(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=In(n.service.name.split(".").pop()??""),c=r.map(h=>Hs(e,n.request,st(e,n.request,h))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${St(s).map(([h,v])=>`${it(h)}: ${typeof v=="string"?it(v):Ps(v)}`).join(", ")} }`]],u=n.
sends?`[${c.join(", ")}]`:c[0]??"{}",p=`client.${Tn(n.name)}(${u}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${it(
`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${p}) console.log(reply);`:`console.log(await ${p});`}`}var Ps=t=>`new Uint8Array([${[...t].join(", ")}])`;function Hs(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=Ve(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${Tn(i.name)}: ${Ui(t,i,n[a])}`);continue}let c=n[bt(
i.oneof)];c?.case===a&&o.push(`${Tn(s[i.oneof]?.name??"")}: { case: "${Tn(i.name)}", value: ${Kt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function Ui(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Kt(t,r,o)}, ${Kt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Kt(t,e,o)).join(", ")}]`:Kt(t,e,n)}function Kt(t,e,n){return n instanceof Uint8Array?Ps(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?Hs(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?it(n):String(n)}var qs=new WeakMap;function Et(t,e){return qs.set(t,e),t}var zt=t=>qs.get(t)??oe();var Js=16<<20,mr=t=>l("textarea",{rows:1,spellcheck:!1,...t});function yr(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function gr(t){let e=se(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return Et({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=mr({id:e});return Et({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>yr(s,()=>void(s.value.
trim()&&Xt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:cr(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!Di(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!cr(n)?Number(i):i};return Et({element:s,id:e,get:()=>s.
value.trim()?Bi(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var Di=t=>t===3||t===4||t===6||t===16||t===18,Bi=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function Vs(t){let e=se(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return Et(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Ws(){
let t=se(),e,n=mr({id:t,oninput:()=>m()}),r=l("select",{"aria-label":"written as",onchange:()=>p()},...["text","base64","hex"].map(v=>l("option",{},v))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let v=i.files?.[0];if(v){if(v.size>Js){o.textContent=`${v.
name} has more than ${Js>>20} MiB`;return}e=new Uint8Array(await v.arrayBuffer()),o.textContent=`${v.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,h.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=v=>{if(v==="text")return new TextEncoder().encode(n.value);if(v==="base64")return Ee(n.
value.replace(/\s/g,""));let I=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(I))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
I.match(/../g)??[],k=>parseInt(k,16))},u=(v,I)=>{let k=I==="text"?wt(v):void 0;r.value=s=I==="text"&&k===void 0?"base64":I,n.value=r.value==="text"?k??"":r.value===
"hex"?ot(v):Le(v),m()},p=()=>{try{u(d(s),r.value)}catch{s=r.value,m()}},m=()=>yr(n,()=>void d(r.value)),h=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return Et({element:h,id:t,get(){let v=e??d(r.value);return v.length>0?Le(v):void 0},set(v){c(),u(
typeof v=="string"?Ee(v):new Uint8Array,r.value)}},"")}function lt(t,e,n){let r=se(),s=mr({id:r,placeholder:e,oninput:()=>yr(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var _i=3,On=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=Qs(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??oe()}set(e){this.editor.set(e)}example(){this.set(Xs(this.schema,this.name,[]))}};function Xs(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(rt(e)&&s)return Gs(t,s,n);let o=oe(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,u=a.oneof===void 0||r.fields.find(
v=>v.oneof===a.oneof)===a,p=d.kind===11&&(i.includes(d.type)||i.length>_i);if(!u||p||d.kind===10||a.isDeprecated)continue;let m=Gs(t,d,i),h=c?.fields[0];h?o[a.jsonName]=
Object.assign(oe(),{[h.kind===9?"key":h.kind===8?"true":"1"]:m}):o[a.jsonName]=a.isRepeated?[m]:m}return o}function Gs(t,e,n){switch(e.kind){case 11:return Xs(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Pi(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${Rn(r)}, ${Rn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${Rn(e)}`}var Hi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],Rn=t=>Hi[t.kind]||(t.type.split(".").pop()??"");function kt(t,e){
return e.kind===14?Vs(t.enumeration(e.type)):e.kind===12?Ws():e.kind!==11?gr(e):qi(t,e.type)}function qi(t,e){switch(e){case"google.protobuf.Timestamp":return lt(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return lt("text","1.5s");case"google.protobuf.Fiel\
dMask":return lt("text","name,homeAddress.city");case"google.protobuf.Struct":return lt("json",'{ "key": "value" }');case"google.protobuf.Value":return lt("json",
"any JSON");case"google.protobuf.ListValue":return lt("json","[1, 2]")}let n=rt(e)?t.message(e).fields[0]:void 0;if(!n)return Qs(t,e);let r=kt(t,n);return{...r,
get:()=>r.get()??js(n)}}var js=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function Qs(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=Xi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=Ji(t,i);s.append(Ks(i.name,Pi(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=oe();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:oe();for(let{take:c}of r)c(a)}}}
function Ks(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function Ji(t,e){let n=t.entry(e);return n?Gi(t,n):e.isRepeated?Wi(()=>kt(t,e)):
e.isOptional||e.kind===11?Vi(()=>kt(t,e),()=>e.kind===11?oe():js(e)):kt(t,e)}function Vi(t,e){let n=se(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?T(o,(r??=t()).element):T(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var zs=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function Wi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,zs(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Ys(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??zt(o)):void 0,set(o){e=[],T(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Ys=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function Gi(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let u={key:gr({...n,kind:n.kind===8?9:n.kind}),value:kt(
t,r)};u.key.element.classList.add("key"),u.key.element.setAttribute("aria-label","key"),c!==void 0&&u.key.set(c),d!==void 0&&u.value.set(d),s.push(u);let p=l("d\
iv",{className:"item"},u.key.element,u.value.element,zs(()=>{s=s.filter(m=>m!==u),p.remove()}));return o.append(p),u.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Ys(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=oe();for(let{key:d,value:u}of s)c[String(
d.get()??zt(d))]=u.get()??zt(u);return c},set(c){if(s=[],T(o),typeof c=="object"&&c!==null)for(let[d,u]of Object.entries(c))i(d,u)}}}function Xi(t,e,n){let r=e.
fields.filter(m=>m.oneof===n),s=se(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(m=>l("option",{value:m.jsonName},`${m.name}: ${Rn(m)}`))),c=m=>{a.value=m;let h=r.find(I=>I.jsonName===m);if(!h)return void T(o);let v=i.get(m)??kt(t,h);return i.
set(m,v),v.id&&document.getElementById(v.id)?.setAttribute("aria-label",h.name),T(o,v.element,h.docs&&l("p",{className:"docs"},h.docs)),v},{name:d,docs:u}=e.oneofs[n]??
{name:"oneof",docs:""},p={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Ks(d,"oneof",u,p,!1),get(){let m=i.get(a.value);return a.
value&&m?Object.assign(oe(),{[a.value]:m.get()??zt(m)}):oe()},set(m){let h=m,v=r.find(I=>(h[I.jsonName]??h[I.name])!==void 0);c(v?.jsonName??"")?.set(v&&(h[v.jsonName]??
h[v.name]))}}}var hr=1e5,ji=90;function Zs(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return T(t,n,r,s),()=>{T(n,...Qi(e)),T(r,e.isOver&&e.status&&zi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),dr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),u=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+u>e.messages.length;)s.firstElementChild?.remove();for(let p of e.messages.slice(d))(i||!p.isSent)&&s.append(
Zi(p,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function Qi(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${En(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},ue(t.took),o&&`, ${o}`)]}function Ki(t){return t!==Je.CANCELLED&&t!==Je.DEADLINE_EXCEEDED&&t!==Je.UNAVAILABLE}function zi({
status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block failure"},l("p",{},t?.message??""),t&&!(t.mayHaveRun&&Ki(t.code))&&l("p",{className:"\
muted"},t.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} bytes`),e.length>0&&l("pre",{className:"code"},wt(e)??ot(
e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).length>0&&dr(t.metadata))}function Yi(t){let e=t.replace(
/\n\s*/g," ");return e.length<=ji?e:t}function Zi(t,e){let n=e?Yi(t.json):t.json,r=l("pre",{className:"code",tabIndex:0},tn(n.slice(0,hr)),n.length>hr&&`
… ${n.length-hr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${ue(t.at)}`),l("span",{className:"grow"}),ut(()=>n)),r)}var ea=500,ta=16<<20,Fn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new br;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=B.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(jt(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>ea||this.chars>ta&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},br=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var na=["Form","JSON","Copy as"],eo={curl:Ts,frpc:Ms,Rust:Rs,TypeScript:_s};function vr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var Ln=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new xt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:se(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Jn(na,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new On(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called by this page: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),T(this.output,
l("p",{className:"empty"},"No calls yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=st(this.
catalog.schema,this.method.request,We(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.
run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){e!==
void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(We(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=r===
void 0?"":String(r)}header(){let{method:e}=this,n=vr(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(We(this.json.value))}),this.tab=e,e==="Form"?T(this.body,this.form?.element):e==="JSON"?T(this.body,this.json):this.attempt(()=>T(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>We(a.json)),s=n.sends&&r&&r.
length>0?r:[We(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=Jn(Object.keys(eo),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=eo[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),ut(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new Fn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Zs(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Fe(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));T(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var ra={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},sa=L("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),oa=L("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),ia=L("frpc.introspection.v1.CloseCount","kind:s count:w"),aa=L("frpc.introspection.v1.CodeCount","code:i count:\
w"),wr=L("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[ra]),la=L("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[sa,ba,wr,fa]),ca=L("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),da=L("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[wr]),ua=L("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),pa=L("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[aa]),fa=L("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),ma=L("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[pa]),to=L("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m translated:*m",()=>[ia,oa,Sa,ma,
va]),ya=L("frpc.introspection.v1.ServerConnections","connections:*m server:m",()=>[wr,to]),ga=L("frpc.introspection.v1.ServersReply","servers:*m",()=>[to]),ha=L(
"frpc.introspection.v1.ServersRequest",""),ba=L("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),va=L("frpc.intros\
pection.v1.TranslatedService","name:s calls:w skippedFields:w layouts:*s"),wa=L("frpc.introspection.v1.WatchReply","servers:*m",()=>[ya]),xa=L("frpc.introspecti\
on.v1.WatchRequest","intervalMs:u connections:u"),Sa=L("frpc.introspection.v1.Worker","tasks:w ready:w polls:w threadsGivenUp:w"),Un=Ye("frpc.introspection.v1.I\
ntrospection","bd16b32c178276e1068b286a315fbc97","ARYAAAABAUsIAAMBCQIEAw0AAgIEAUsJAAIBCQIEAAUFCQNLCgRLCwErCQIrDAACAQ0CDQABAUsNAAwBCQIEAwQEBAUEBgQHBAhLDglLDwpLEA\
tLEQxLEgAMAQQCCQMJBAQFDhMGBAcECAQJBAoECwgMCAAFAQ0CCQMEBAQFCAAGAQ0CCAMDBAgFBAYEAAUBDQINAw0EDQUNAAICSwkBKwgAAgEJAgQABAEJAgkDCQQEAAQBBAIEAwQEBAADAQkCDQMrFAAEAQkDBA\
QEAkkBBAACAgIABgEEAwQEBAUEBgQCSxUAAgEFAgQEB1NlcnZlcnMAAAELQ29ubmVjdGlvbnMAAgMKQ29ubmVjdGlvbgAEBQVXYXRjaAIGByNmcnBjLmludHJvc3BlY3Rpb24udjEuSW50cm9zcGVjdGlvbg==",
{servers:{operation:65030,request:ha,reply:ga,idempotent:!0},connections:{operation:65031,request:ua,reply:da,idempotent:!0},connection:{operation:65032,request:ca,
reply:la,idempotent:!0},watch:{operation:65033,request:xa,reply:wa,receives:!0,idempotent:!0}});var Ct=12e4,xr=2e3,[Ge,Xe,je,Tt]=[480,120,44,16];function Sr(t){let e=he("svg",{viewBox:`0 0 ${Ge} ${Xe}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=he("text",{x:je+(Ge-je)*n,y:Xe-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function Ar(t,e,n){let r=he("text",{x:je-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(he("line",{x1:je,x2:Ge,y1:e,y2:e,class:"grid"}),r)}var Nt=Xe-Tt-
8;function no(t,e){let n=Sr("Calls and errors in the last two minutes"),r=Ct/xr,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/xr);for(let{beganAt:c,
took:d,code:u}of t){let p=s[r-1-(o-Math.floor((c+d)/xr))];p&&p[u===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])Ar(
n,Xe-Tt-Nt*c,String(Math.round(i*c)));let a=(Ge-je)/r;return s.forEach(({ok:c,failed:d},u)=>{let p=(m,h,v)=>{h>0&&n.append(he("rect",{x:je+u*a+.75,width:a-1.5,y:Xe-
Tt-(m+h)/i*Nt,height:h/i*Nt,class:v}))};p(0,d,"failed"),p(d,c,"ok")}),n}function Mt(t,e){return[...t.filter(({at:n})=>e.at-n<Ct),e]}var ro=(t,e,n,r)=>e.map((s,o)=>he(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),so=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function Dn(t,e,n,r,s,o){let i=Sr(`${t}, in the last two minutes`),a=so(e,s),c=d=>Xe-Tt-d/a*Nt;for(let d of[0,.5,1])Ar(i,c(a*d),o(a*d));return i.append(...ro(e,
n,d=>Ge-(Ge-je)*(r-d)/Ct,c)),i}function Er(t,e,n,r){let s=so(e,1e-9),o=he("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...ro(e,n,i=>120-120*(r-i)/Ct,i=>19-i/s*18)),o}function oo(t,e){let n=Sr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<Ct),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)Ar(n,Xe-Tt-Nt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},u)=>{let p=Ge-(Ge-je)*(e-a-c)/Ct,m=Xe-Tt-Nt*((s[u]??0)-o)/(i-o);n.append(he("circle",{cx:p,
cy:m,r:2.5,class:d===0?"ok":"failed"}))}),n}function io(t){let e=t.slice(-40),n=he("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(he("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var ao=1e3,Aa=256,Ea=50,Bn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===Un.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(Un,Un.methods.watch,{intervalMs:ao,connections:Aa},{signal:s,metadata:r});for await(let{servers:i}of o)
T(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||T(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},ao)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(p=>[p.name,Na(p,s?.methods.
get(p.name),r,s?.at)])),i=p=>kr([...o.values()].map(({rates:m})=>m.at(-1)?.values[p]??0)),a=kr(n.map(p=>Number(p.streams))),c=kr(n.map(p=>Number(p.queued))),d={
at:r,methods:o,rates:s?Mt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:Mt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:Mt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let u=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Ca(e),l("div",{className:"plots"},
Cr(["Calls of all clients per second, ",ka("errors")," below"],Dn("Calls and errors of all clients per second",d.rates,["curve","curve failed"],r,4,lo)),Cr(["Co\
nnections, and ",co("streams"),u],Dn("Connections and streams",d.open,["curve","curve second"],r,4,lo)),Cr(["Queued bytes",u,", and ",co("held for clients")],Dn(
"Queued bytes, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,p=>Yt(BigInt(Math.round(p)))))),this.table(e,o,r),uo(["connection","age","call\
s","oldest call","streams","queued","memory"],n.slice(0,Ea).map(Ta)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.get(o);return a&&a.calls>
0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),uo(["method","in a second","cal\
ls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:u,times:p})=>[o,a.toFixed(a<10?1:0),c,
d,Nr(i?.p50Ns),Nr(i?.p99Ns),Nr(i?.maxNs),Er(`Calls and errors of ${o}, in the last two minutes`,u,["curve","curve failed"],r),Er(`Average latencies of ${o}, in \
the last two minutes`,p,["curve"],r)]))}},kr=t=>t.reduce((e,n)=>e+n,0),lo=t=>String(Math.round(t)),Nr=(t=0n)=>ue(Number(t)/1e6),ka=t=>l("span",{className:"faile\
d"},t),co=t=>l("span",{className:"second"},t),Cr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function Na({figures:t},e,n,r=n){let s=(t?.failed??[]).reduce((d,{
count:u})=>d+u,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,c=Number(o-e.calls);
return{calls:o,failed:s,spent:i,rates:Mt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?Mt(e.times,{at:n,values:[Number(i-e.spent)/c/1e6]}):e.times}}
function Ca({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i,translated:a}){let c=[["server",t],["connections",`${e} open, ${n} in all`],["held\
 for clients",`${Yt(s)} of at most ${Yt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((d,{tasks:u})=>d+u,0n)}\
 tasks`],...a.map(({name:d,layouts:u,calls:p,skippedFields:m})=>[`other versions of ${d}`,`${u.length} in use, ${p} calls, ${m} fields skipped`])];return l("dl",
{className:"facts"},...c.map(([d,u])=>l("div",{},l("dt",{},d),l("dd",{},u))))}var Ta=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,queued:o,memory:i})=>[t||
"unknown",ue(Number(e)),n,n>0n?ue(Number(r)):"",s,Yt(o),Yt(i)];function uo(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",{},l("tr",{},...t.map(
(n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"count":""},r instanceof Node?
r:String(r))))))))}function Yt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:`${(e/1e9).toFixed(1)}\
 GB`}var Ma=1e3,_n=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new Bn(e,r);let i=new xt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"For example a token. Kep\
t until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),Ma)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((u,p)=>u+
p.methods.length,0)??0,a=[["connection",n==="open"?`open since ${pt(r.since)}`:n],["connections made",String(r.connections)],["sent",po(r.sent)],["received",po(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];T(this.facts,...a.map(([u,p])=>l("div",{},l("dt",{},u),l("dd",{},p))));let c=Date.
now();T(this.plots,l("figure",{},l("figcaption",{},"Calls per two seconds, ",l("span",{className:"failed"},"errors")," below"),no(s.all,c)),l("figure",{},l("fig\
caption",{},"Latency of each call; of a stream, its duration"),oo(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,T(this.methods,s.all.length>0&&this.table()),T(this.history,kn(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(ue(o)),e(ue(i)),e(ue(a)),l("td",{},io(c)))})))}};function po(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var fo=500,mo=2e4,Pn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:se()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:se(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:se(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:se(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:u=>{u.preventDefault(),this.problem.textContent="",c().catch(p=>this.problem.textContent=p.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. In a pattern, * matches one token, and a fin\
al > all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.
watch(n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>T(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new ht(e.schema)},T(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Stop watching ${e}`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=Ee(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Qn(this.schema.tables.of(r),st(this.schema.catalog.schema,r,We(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
fo&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${pt(Date.now())}`),l("span",{className:"grow"}),ut(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?tn(o):o)))}for(this.waiting=[];this.log.childElementCount>fo;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(jt(this.schema.catalog.schema,n,Kn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${ot(e.subarray(0,mo))}`}let r=e.subarray(0,mo);return(n==="hex"?void 0:wt(r))??ot(r)}};var $a=[["/","filter the methods"],["↑ ↓","move through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","cancel t\
he call"],["?","show the keys"]],[yo,Tr,go,Zt,$r]=[Se("services"),Se("main"),Se("state"),Se("filter"),Se("keys")],De=new An(`${location.origin.replace(/^http/,"\
ws")}/`,()=>Ia()),qn=new nn,Hn=new Map,bo=new Pn(De),Be,en="",ho=!1,_e,Mr=0,Ir=new _n(De,qn,()=>Be,t=>xo(t),()=>void vo(!0));async function vo(t){let e=++Mr,n=t?
void 0:Be;try{let r=await De.catalog(n);if(e!==Mr)return;if(en="",r){Be=r;for(let[s,o]of Hn)o.isBusy||Hn.delete(s);bo.know(r)}}catch(r){if(e!==Mr)return;en=r.message}
Rr(),Or(),ho=await De.hasBroker(),Se("to-topics").hidden=!ho}function Ia(){go.textContent=De.wire==="open"?"connected":De.wire==="lost"?"connection lost":"conne\
cting",go.className=`state ${De.wire}`,De.wire==="open"&&setTimeout(()=>void vo(!1))}function Rr(){let t=Zt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>Fe(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Be?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),T(yo,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Zt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Fe(c),u=vr(c),p=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:u.name,"aria-label":u.name,role:"img"},u.sign));return d===n&&p.setAttribute(
"aria-current","page"),l("li",{},p)}))))),r.length===0&&T(yo,l("p",{className:"empty"},Be?"No matching methods.":en?"No services.":"Loading the services…"))}function Or(){
let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute("aria-cu\
rrent","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),_e=void 0;let e=Be?.services.flatMap(n=>n.methods).find(n=>Fe(n)===t);
if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")T(Tr,bo.element);else if(e&&Be)_e=Hn.get(t)??new Ln(De,Be,e,qn),
Hn.set(t,_e),T(Tr,_e.element,Oa(t));else{let n=t&&Be?`The server has no method ${t}.`:"";T(Tr,en&&Ra(),n&&l("p",{className:"notice"},n),Ir.element),Ir.draw()}}function Ra(){
return l("div",{className:"notice"},l("p",{},`The schema of the server could not be loaded: ${en}.`),l("p",{className:"muted"},"The console needs a server with \
Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Oa(t){let e=l("div",{}),n=()=>T(
e,kn(qn.all.filter(r=>r.path===t),xo,!0));return n(),wo=n,l("section",{className:"past"},l("h2",{},"History"),e)}var wo=()=>{};qn.listen(()=>{wo(),Ir.draw()});function xo(t){
location.hash===`#/${encodeURI(t.path)}`?_e?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>_e?.restore(t),{once:!0}))}function Fa(t){
let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,
n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.key==="Enter"&&r)t.shiftKey?_e?.
end():_e?.send();else if(t.key==="Escape"&&!$r.open){if(!_e?.cancel())return}else if(t.key==="/"&&!n)Zt.focus();else if(t.key==="?"&&!n)$r.showModal();else if((t.
key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))Fa(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});addEventListener("ha\
shchange",Or);Zt.addEventListener("input",Rr);Se("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains(
"listing")&&Zt.focus()});Se("help").addEventListener("click",()=>$r.showModal());T(Se("key-list"),...$a.flatMap(([t,e])=>[l("dt",{},...t.split(" ").map(n=>l("kb\
d",{},n))),l("dd",{},e)]));Rr();Or();})();
