"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Or(r,...n),r}function Or(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function N(t,...e){t.replaceChildren(),Or(t,...e)}function ve(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function Se(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var xo=0,re=()=>`e${++xo}`;function qn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function dt(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function en(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var tn=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function ue(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var ut=t=>new Date(t).toTimeString().slice(0,
8);var So=new TextEncoder,Ao=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Lr=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
T=t=>{throw new we(t)},K=t=>({bytes:t,at:0,depth:0,memory:0}),$t=(t=64)=>K(new Uint8Array(t)),nn=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,xe=t=>So.encode(
t);function rn(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function F(t,e){t.at===t.bytes.
length&&rn(t,1),t.bytes[t.at++]=e}function Fr(t,e){F(t,e>>8),F(t,e)}function B(t,e){for(;e>127;e=Math.floor(e/128))F(t,e|128);F(t,e)}function pe(t,e){rn(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}var It=(t,e)=>e.match(/../g)?.forEach(n=>F(t,parseInt(n,16)));function Ke(t,e){B(t,e.length),pe(t,e)}function qe(t,e){let{at:n}=t,
{length:r}=e,s=r>Lr?128:0;F(t,r);for(let o=0;o<r&&s<128;o++)F(t,s=e.charCodeAt(o));s>127&&(t.at=n,Ke(t,xe(e)))}function ge(t,e,n){F(t,e);let{at:r}=t;n();let s=t.
bytes.slice(r,t.at);return t.at=r,Ke(t,s),s.length>0}var Rt=({bytes:t,at:e})=>t.subarray(0,e),G=({bytes:t,at:e})=>t.length-e,Je=({bytes:t,at:e})=>t[e],te=t=>t.bytes[t.
at++]??T("truncated");function Ce(t,e=32){let n="";for(;n.length<e;)n+=te(t).toString(16).padStart(2,"0");return n}function Me(t,e){let n=te(t);n!==e&&T(`found \
byte ${n}, expected ${e}`)}function R(t,e=5){let n=0;for(let r=1,s=e;s-- >0;r*=128){let o=te(t);if(n+=(o&127)*r,o<128)return e>5?n:n>>>0}return T("a number is t\
oo long")}function ze(t){let{at:e}=t,n=R(t,10);return(G(t)||t.bytes[e+9]>1)&&T("a number is too long"),n}function $e(t,e=R(t)){return e>G(t)&&T("truncated"),t.bytes.
subarray(t.at,t.at+=e)}var Ot=t=>K($e(t,R(t,10))),pt=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function le(t,e=R(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=Lr)
for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=$e(t,e);try{return Ao.decode(i)}catch{T("a text is not UTF-8")}}return t.at+=e,s}var Ve=Eo();var U=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,sn(n),{cause:n})}};function Eo(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var sn=t=>t instanceof Error?t.message:String(t),j=(t,e)=>new U(t,e,{mayHaveRun:!1}),
Lt=(t,e)=>{let n=U.from(t);return n.mayHaveRun||!e?n:new U(n.code,n.message,{...n,mayHaveRun:!0})},on=t=>t>0&&t<=16?t:2,Ft=(t,e,n)=>new U(t,n?e:`not sent: ${e}`,
{mayHaveRun:!!n}),an=t=>Ft(1,"the caller cancelled the call",t),ln=(t,e="")=>Ft(4,`deadline exceeded${e}`,t);var un=100,ko=64<<20,No=12,Gn=8,To=32,Xn=56,_r=184,Jn=new Uint8Array(8),Ur=new DataView(Jn.buffer);function L(t,e,n){let r;return{name:t,fields:()=>r??=Co(e,n?.()??
[])}}function jn(t,e){let n=$t(256);return Bt(n,t,e),Rt(n)}function Qn(t,e){return e[0]===18&&T(`${t.name} has the layout ${Ce(K(e.subarray(1)))}, which is unkn\
own`),_t(K(e),t)}function Bt(t,e,n){t.depth=un,Hr(t,e,n)}function _t(t,e){return t.depth=un,t.memory=Math.max(ko,G(t)*No),qr(t,e)??Jr(t,e)}function Co(t,e){let n=new Map,
r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);if(!o)throw new Error(`invalid entry: ${s}`);let[,i,a,c,d,
u]=o,p=u==="m"?Io(e[r++]):u==="e"?Oo(e[r++]):dn[u],y=dn[d[1]??""],b=y?[2,y.wire,p.wire,10]:d==="*"?[1,p.wire,10]:void 0,v=a?n.get(a):void 0;a&&!v&&n.set(a,v=[]);
let k={name:a??i,of:p,isOptional:d==="?",key:y,head:b,case:i,number:+c,all:v};return v?.push(k),k})}var Pr=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?
void 0:r.zero();function Hr(t,e,n){if(!t.depth--)throw Br(e.name,`nests deeper than ${un}`);F(t,8),F(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,
a=n[r=i];if(!o)Mo(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(p=>p.case===c?.case);if(c&&!d)throw new Error(`has no member ${c.case}`);t.isFlat||(F(t,3),
B(t,d?d.number:0));let u=t.isFlat?s:d;u&&ft(t,u.of,u===d?c?.value:void 0)}}}catch(s){throw s instanceof U?s:Br(`${e.name}.${r}`,s.message)}t.depth++}function Mo(t,e,n){
let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=Pr(e)),r){let i=n,a=n,c=s?i.size:a.length;Re(c>=0,n);for(let d of r)F(t,d);if(B(t,c),s)for(let[d,u]of i)
ft(t,s,d),ft(t,o,u);else for(let d of a)ft(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?F(t,0):ft(t,o,n)}function ft(t,e,n){e.table||F(t,e.wire),e.put(t,n===
void 0?e.zero():n)}function qr(t,e){if(Je(t)===0)return void t.at++;Me(t,8),te(t),t.depth--||T(`${e.name} nests deeper than ${un}`);let n=e.fields();Pt(t,Xn+Gn*
n.length);let r={},s="";for(let o of n){let{name:i,all:a,of:c}=o,d=a&&a[0]===o;if(d&&(r[i]=void 0),!a)r[i]=$o(t,o);else if(d&&Je(t)===3){t.at++,s+=` ${i} `;let u=R(
t),p=a.find(y=>y.number===u);p?r[i]={case:p.case,value:Vn(t,p.of)}:u&&T(`${e.name}.${i} has no member ${u}`)}else if(!s.includes(` ${i} `)){let u=Ut(t,c);(u instanceof
Uint8Array?u.length:!Object.is(u,c.zero()))&&(r[i]={case:o.case,value:u})}}return t.depth++,r}function $o(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&Je(
t)===0)return t.at++,Wn(t,e);if(!n)return Ut(t,s);for(let a of n)Me(t,a);let o=R(t),i=Wn(t,e);for(;o-- >0;)Pt(t,r?Xn:Gn),r?i.set(Ut(t,r),Vn(t,s)):i.push(Vn(t,s));
return i}function Ut(t,{wire:e,table:n,take:r,isEnum:s}){return s&&Je(t)===12?Ut(t,dn.i):(n||Me(t,e),r(t))}var Vn=(t,e)=>Ut(t,e)??Jr(t,e.table);function Jr(t,e){
let n={},r=e.fields();Pt(t,Xn+Gn*r.length);for(let s of r)n[s.name]=s.all?void 0:Wn(t,s);return n}function Wn(t,e){let n=Pr(e);return typeof n=="object"&&Pt(t,Array.
isArray(n)?To:_r),n}function Pt(t,e){(t.memory-=e)<0&&T("exceeds the memory limit")}var Ie=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),Io=t=>Ie(3,()=>{},
(e,n)=>n?Hr(e,t,n):F(e,0),e=>qr(e,t),t),Ro=65536;function Oo(t){let e=Object.values(t);return{...Ie(10,()=>e[0],(r,s)=>{let o=e.indexOf(s),i=s+2147483648,a=s<0&&
i>=e.length;Re(o>=0||s===(s|0)&&(a||!r.isFlat),s),o>=0||a&&(r.isFlat||i<Ro)?B(r,o<0?i:o):(r.at--,ft(r,dn.i,s))},r=>{let s=R(r),o=s-2147483648;return s>=e.length&&
(o>=0||e.includes(o))&&T(`an enum has the index ${s}`),e[s]??o}),isEnum:!0}}var cn=(t,e)=>Ie(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-
1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return B(n,i);Re((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)F(n,Number(a&127n)|
128);B(n,Number(a))},n=>{let{at:r}=n,s=R(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)o|=BigInt(n.bytes[r++]&
127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||T("an integer is beyond 2^53"),Number(s)):BigInt(s)}),Dr=(t,e)=>Ie(
t,()=>0,(n,r)=>{Re(typeof r=="number",r),Ur[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)F(n,Jn[s])},n=>{for(let r=0;r<e;r++)Jn[r]=te(n);return Ur[e>
4?"getFloat64":"getFloat32"](0)}),dn={b:Ie(7,()=>!1,(t,e)=>{Re(typeof e=="boolean",e),F(t,+e)},t=>{let e=te(t);return e>1&&T(`a bool is ${e}`),e>0}),i:Ie(12,()=>0,
(t,e)=>{Re(e===(e|0),e),B(t,(e<<1^e>>31)>>>0)},t=>{let e=R(t);return e>>>1^-(e&1)}),u:Ie(10,()=>0,(t,e)=>{Re(e===e>>>0,e),B(t,e)},t=>R(t)),l:cn(!0,!1),w:cn(!1,!1),
L:cn(!0,!0),W:cn(!1,!0),f:Dr(14,4),d:Dr(15,8),s:Ie(5,()=>"",(t,e)=>{Re(typeof e=="string",e),F(t,10),qe(t,e)},t=>(Me(t,10),le(t))),y:Ie(4,()=>new Uint8Array,(t,e)=>{
Re(nn(e),e),F(t,10),Ke(t,e)},t=>(Me(t,10),Pt(t,_r),new Uint8Array($e(t))))},Br=(t,e)=>j(3,`${t} ${e}`);function Re(t,e){if(!t)throw new Error(`cannot be the ${typeof e}\
 ${String(e)}`)}var Ye=(t,e,n,r)=>({name:t,fingerprint:e,layout:n,methods:r,operations:Object.values(r).map(({operation:s})=>s).sort((s,o)=>s-o)});function pn(t,e){qe(t,e.name),
It(t,e.fingerprint);let n=0;for(let r of e.operations)B(t,r-n),n=r}var Lo=65536;function Vr(t,e,n=""){let r=atob(n);if(r&&r.length<=Lo)for(let s of r)F(t,s.charCodeAt(
0));else F(t,0),It(t,e)}function Wr(t){let e=le(t,R(t,10)),n=[],r={fingerprint:Ce(t),operations:n},s=0;for(;G(t);)n.push(s+=R(t,10));return s>65535&&T("a number\
 is too long"),[e,r]}var Gr=16,Xr=65536,Fo=1e3,jr=256,Qr=61440,zn={metadata:{}},Kr=t=>[t].flat(),Kn=t=>t.endsWith("-bin"),zr=(t,e)=>Kn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${t}
${Kn(t)?"":e}`);function Yn(t){if(typeof t=="string")return xe(t);if(!nn(t))throw j(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Yr(t,e){
let{at:n}=t;ge(t,Gr,()=>Zr(t,e))||(t.at=n)}function Zr(t,{timeout:e,metadata:n={},status:r}){let{at:s}=t;e!==void 0&&ge(t,1,()=>B(t,Math.min(Math.max(0,Math.round(
e*1e3)),Number.MAX_SAFE_INTEGER)));let o=0,i=0;for(let[a,c]of Object.entries(n))for(let d of Kr(c)){if(!zr(a,d))throw j(3,`invalid metadata ${a}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(o+=a.length+d.length+8,++i>jr||o>Qr)throw j(8,"too much metadata");ge(t,2,()=>{qe(t,a),pe(t,Yn(d))})}
if(r){let{code:a,details:c,mayHaveRun:d}=r;ge(t,3,()=>{B(t,a),t.at-s+c.length+32<=Xr&&pe(t,c)}),d||ge(t,5,()=>{})}}function fn(t,e=!1){if(Je(t)!==Gr)return zn;t.
at++;let n=Ot(t);return G(n)>Xr&&T("a prefix is too long"),mn(n,e)}function mn(t,e=!1){let n=Object.create(null),r={metadata:n},s=0,o=0,i=0;for(;G(t);){let a=te(
t),c=Ot(t);if(a>127){let d=`prefix item ${a} must be understood and is unknown`;throw e?j(12,d):new we(d)}if([1,3,5,6,8].includes(a)&&(i>>a&1&&T(`prefix item ${a}\
 occurs twice`),i|=1<<a),a===1)r.timeout=ze(c)/1e3;else if(a===2){let d=le(c,R(c,10)),u=Kn(d)?pt(c):le(c,G(c));o+=d.length+u.length+8,(!zr(d,u)||++s>jr||o>Qr)&&
T("invalid metadata"),n[d]=d in n?[...Kr(n[d]),u]:u}else a===3?(r.code=R(c,10),r.details=pt(c)):a===5?r.isRefused=!0:a===8&&(r.text=Ze(c))}return r}var Ze=(t,e)=>new TextDecoder().
decode(pt(t).subarray(0,e)),es=({metadata:t,code:e,details:n,isRefused:r},s="")=>new U(on(e??0),s,{metadata:t,mayHaveRun:!r,...n&&{details:n}});function mt(t,e){
if(Je(t)===6)return t.at++,Me(t,5),Me(t,10),es(e,le(t))}function ts(t){let e=mn(t);return e.code??e.isRefused?es(e,e.text):void 0}function ns(t,e){Zr(t,{status:e,
metadata:e.metadata}),ge(t,8,()=>pe(t,xe(e.message.slice(0,Fo))))}var Zn=5<<20,Uo=1024,Do=1024,rs=65536,Bo=128,_o=32768,yt=10,gt=16384,ss=32768,Po=256,Ho=16383,yn=262144,qo=1e5,Jo=64<<20,os=8<<20,Vo=10,Wo=65536,Go=2e3,Xo=5,jo=1e4,
is="the server is going away",as=200,Qo=2147483647,et=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),Qo));function ls(t,e,n,r,s){let o=$t(16384),i=new Map,a=new Map,
c=new Set(n),d=[],u=0,p=0,y=0,b=0,v=0,k=0,C=32767,M=[0,Zn,1/0,gt,0],ne=!1,he=!1,fe,oe=yt,Pe=0,ie=!1,Q=0,ce=0,Y,Z=m=>{if(!(ne||!J))try{m(J)}catch(h){lt(sn(h));try{
J.close()}catch{}}},ae=()=>{o.at&&(Z(m=>m.send(Rt(o))),o.at=Q=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),Z(m=>{let h=m.buffered();h>Jo?be("too many\
 unsent bytes"):h>os&&!D.isFull&&(D.isFull=!0,ee())}))},ee=()=>Z(m=>{if(m.buffered()>os/2)return void et(Vo,ee);D.isFull=!1;for(let h of i.values())h.room();e.room(
D)}),W=()=>{o.at!==Q?(Q=o.at,queueMicrotask(W)):(ie=!1,ae())},H=(m,h,x,A)=>{let{at:X}=o;try{rn(o,yt),o.at+=yt,x?.(o,A);let He=o.at,Ne=He-X-yt,Te=h===3?rs:Math.max(
M[1],Do);if(Ne>Te)throw j(8,`the message has ${Ne} bytes of at most ${Te}`);o.at=X;for(let ct of[15,m,h,Ne>>>16,Ne])Fr(o,ct);o.at=He}catch(He){throw o.at=X,He}o.
at>Wo?ae():ie||(ie=!0,Q=0,queueMicrotask(W))},f=(m,{code:h,message:x},A=7)=>H(m,A,X=>{B(X,h),pe(X,xe(x.slice(0,as)))}),g=(m,h)=>{H(m,5,B,0),f(m,h)},w=m=>{if(!ne){
if(ce=0,fe){if(pe(fe,m),fe.at<oe)return;m=Rt(fe),fe=void 0}try{let h=0,x=A=>m[h+A]<<8|m[h+A+1];for(;!ne&&!(m.length<(oe=h+yt));h=oe){x(0)!==15&&T("a header with\
out its magic");let A=x(6)*65536+x(8);if(A>(x(4)===3?rs:Zn)&&T(`a packet of ${A} bytes`),m.length<(oe+=A))break;S(x(2),x(4),m.subarray(h+yt,oe))}h<m.length&&(oe-=
h,pe(fe=$t(),m.subarray(h)))}catch(h){let x=h.message;D.isUp&&f(4,new U(13,x),3),be(`the server broke the protocol: ${x}`)}}},S=(m,h,x)=>{let A=K(x),X=h===3&&(m===
5||m===6),He=X?R(A,10):m;He>65535&&T(`stream ${He}`);let Ne=i.get(He);if(h>=10){D.isUp||T("a packet before HELLO");let Te=m>=ss,ct=d[m%gt];if(ct?.id===m&&ct.operation===
h)return _(m),e.answered(),ct.isGivenUp?p--:e.replied(ct,x),z();if(s.filter(wo=>wo.packet(D,m,h,x)).length)return;if(Te&&I)return I.packet(m,h,x,!1);++Pe>qo&&be(
"too many stray packets")}else if(h<2){x.length&&T("a PING with a body"),h===1?D.isUp||be("the server is a compat peer"):H(0,1);return}else if(h===3&&!X){if(!m&&
!D.isUp)return E(A);if(m===4)return be(`closed by the server with code ${R(A,10)}: ${Ze(A,as)}`);if(m===1)return $(A);m>=_o&&T(`packet type ${m} must be underst\
ood and is unknown`)}else{if(h===4)return q();if(h===6)return void(x.length&&I?.cancel(m,R(A,10)));if(h===8)T("a stray HAND_OFF");else if(h===9)do{let Te=$e(A,R(
A,10));Ne?.packet(2,Te)}while(G(A));else{if(Ne)return e.answered(),X?Ne.items(m===6,A):Ne.packet(h,x);if(h===2){let Te=m-C&32767;if(m>=32768&&Te&&Te<=16384)return C=
m,I?I.packet(m,2,x,!0):g(m,j(12,"no service is served"))}}}},$=m=>{let h=G(m);for((!h||h>Uo)&&T(`ASK of ${h} bytes`);G(m);){let x=Ce(m),A=[...c,...r?.services??
[]].find(X=>X.fingerprint===x);H(2,3,X=>Vr(X,x,A?.layout))}},E=m=>{(le(m,4)!=="fris"||!te(m))&&T("no HELLO");let h=new Set,x=0;try{for(;G(m);){x=te(m);let A=Ot(
m);if(x>=Bo&&T("must be understood and is unknown"),[1,2,3,4,5,6,8,34,35].includes(x)&&(h.has(x)&&T("occurs twice"),h.add(x)),x&&x in M)M[x]=ze(A);else if(x===8)
ze(A);else if(x===32||x===33){let X=Wr(A);x===32&&a.set(...X)}}}catch(A){T(`HELLO item ${x}: ${A.message}`)}M[3]=Math.min(M[3],gt),D.isUp=!0,clearTimeout(O),e.room(
D)},_=m=>{d[m%gt]=void 0,u--===M[3]&&e.room(D)},me=(m,h)=>{i.set(h,m),m.begin(D,h,M[4])},z=()=>{he&&queueMicrotask(()=>{u===p&&!i.size&&!I?.progress.size&&be(is)})},
q=()=>{he=!0,e.closing(D,is),z()},be=m=>ye(()=>{ae(),Z(h=>h.close()),lt(m)}),lt=m=>{if(ne)return;ne=!0,clearInterval(Y),clearTimeout(O),e.closing(D,m);let h=D.isUp;
D.isUp=!1;let x=new U(14,`the connection was lost: ${m}`);for(let A of d)A&&!A.isGivenUp&&e.lost(A,x);for(let A of i.values())A.lost(x);if(I?.down(x),h)for(let A of s)
A.down(D,x)},D={isUp:!1,isFull:!1,write:H,reset:f,refuse:g,announce(m){if(c.has(m))return;for(let A of c)if(A.operations.some(X=>m.operations.includes(X)))throw j(
9,`${A.name} has operations of ${m.name}: use another channel`);let h=a.get(m.name);h?.fingerprint===m.fingerprint&&`${h.operations}`==`${m.operations}`||H(3,3,
pn,m),c.add(m)},call(m,h){if(D.isFull||u>=M[3])return!1;do b=(b+1)%ss;while(d[b%gt]);let x=m.id=b;d[x%gt]=m,u++;try{H(x,m.operation,h,m)}catch(A){throw _(x),A}return!0},
cancel(m){m.isGivenUp=!0,H(m.id,6,B,m.operation),p++,z()},open(m,h){if(!M[2])throw j(12,"the server does not accept streams");if(D.isFull||v>=Math.min(M[2],Ho))
return!1;do k=k%32767+1;while(i.has(k));let x=k;i.set(x,m),v++;try{H(x,2,h)}catch(A){throw D.over(x),A}return m.begin(D,x,M[4]),!0},accept:me,over(m){i.delete(m),
m<32768&&(v--,e.room(D)),z()},drain:q,closeIfIdle:z},I=r?.on(D),O=et(jo,()=>be("handshake timeout")),P=m=>{o.isFlat=m.isFlat,H(0,3,h=>{pe(h,xe("fris"));let x=I?
Po:0;[Zn,x,x,yn].forEach((A,X)=>ge(h,X+1,()=>B(h,A))),ge(h,6,()=>{});for(let A of r?.services??[])ge(h,32,()=>pn(h,A));for(let A of n)ge(h,33,()=>pn(h,A))}),H(1,
0),ae(),!ne&&(Y=setInterval(()=>{if(++ce>Xo)return be("keepalive timeout");H(0,0),y=p<(M[3]||1)?0:y+1,y>1&&q();let h=performance.now();for(let x of d)x&&x.until<=
h&&!x.isGivenUp&&e.expired(x)},Go))},J,ye=m=>J?m():queueMicrotask(m),de=m=>ye(()=>lt(m));try{J=t({open:()=>ye(()=>Z(P)),data:w,close:de})}catch(m){de(sn(m))}return D}function gn(t,e){let n={},r=n,s=!1,o=()=>{},i=p=>{s||=p,o()},a=()=>n.next?.item,c=()=>{let p=a();return n=n.next??n,n.item=void 0,p},d=(async function*(){try{for(;;){
let p=c();if(p!==void 0){let y=t(p);y!==void 0&&(yield y)}else if(s){if(s!==!0)throw s;return}else await new Promise(y=>o=y)}}finally{e()}})(),{return:u}=d;return d.
return=()=>(e(),n=r={},i(!0),u.call(d,void 0)),{messages:d,first:a,take:c,put:p=>{r=r.next={item:p},o()},end:i}}var er=64,Ko=4,zo=4096,hn=(t,e)=>t instanceof we?new U(13,`not a valid ${e.name}: ${t.message}`):U.from(t);function cs(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,u=!0,p=!0,
y=!1,b=!1,v=!1,k=()=>{},C,M=()=>!u&&!p,ne=f=>{d+=f.length+er,p&&d*Ko>=yn&&(o?.write(i,5,B,d),c-=d,d=0)},{messages:he,put:fe,take:oe,end:Pe}=gn(f=>{ne(f);try{let g=K(
f),w=mt(g,zn);if(w)throw w;return _t(g,e)}catch(g){throw hn(g,e)}},()=>n?ae(!0):W()),ie=Object.assign(he,{metadata:{}}),Q=()=>{M()&&(k(),C?.(),o?.over(i),o=C=void 0,
r())},ce=f=>{p=!1,Pe(f),Q()},Y=()=>{u&&(u=!1,o?.write(i,7),Q())},Z=f=>{u=!1,ce(f)},ae=(f,g=an(1))=>{M()||o?.reset(i,g),Z(f),W()},ee=f=>ae(f,f),W=()=>{y=!0;for(let f;f=
oe();)ne(f)},H=f=>{if(!(!o||!u)){if(f instanceof U)return o.write(6,3,g=>{B(g,i),ns(g,f)}),u=!1,Q();o.write(i,2,g=>{let{at:w}=g;Bt(g,t,f),a-=g.at-w+er})}};return{
messages:ie,begin(f,g,w){o=f,i=g,a=w},packet(f,g){if(f===2)return b=!0,p?c>=yn?ee(new U(8,"the peer exceeded its credit")):(c+=g.length+er,y?ne(g):fe(new Uint8Array(
g))):void 0;let w=K(g);if(f===5){let S=ze(w);v||=!S,(a+=S)>0&&k()}else if(g.length){let S=on(R(w,10));Z(new U(S,Ze(w,zo),{mayHaveRun:!v}))}else ce(!0)},items(f,g){
if(p){!f&&b&&T("late HEADERS"),b=!0;try{if(f)return ce(ts(g)??!0);s?.(ie.metadata=mn(g).metadata)}catch(w){ee(hn(w,e))}}},send:H,async pump(f,g,w){try{let S=f,$=S?.[Symbol.
asyncIterator]?.()??S?.[Symbol.iterator]?.();if(!$)throw j(3,`messages are an iterable, not ${String(f)}`);C=async()=>{try{await $.return?.()}catch{}},!n&&g&&o?.
write(5,3,B,i);for(let E;;){for(;(a<=0||o?.isFull)&&!M();)await new Promise(_=>k=_);if(M())return C?.();if(E){if(H(E.value),!g)break;E=void 0}else if((E=await $.
next()).done)break}C=void 0,Y(),M()||w?.()}catch(S){if(!n)throw C?.(),C=void 0,S;ae(Lt(S,g))}},room:()=>k(),finish:Y,discard:W,fail:ee,lost:Z}}var Yo=3e4,Zo=5e3,ei=20,ds=2e3,us=10,Ht=class{constructor(e,{timeout:n,reconnectTimeout:r=Zo,metadata:s,serve:o,stayConnected:i}={}){let a=n??Yo,c,d=0,u=us,p=0,
y,b=!1,v="",k=[new Set,new Set,new Set],C=({service:f,method:{sends:g,receives:w}})=>k[f?g||w?1:0:2],M=new Set,ne=[],he=()=>{c||y||b||!(k.some(({size:f})=>f)||i)||
(p=performance.now(),c=ls(e,fe,[...M],o,ne))},fe={room:f=>queueMicrotask(()=>{for(let g of k)for(let w of g){if(c!==f||!oe(w,f))break;c===f&&g.delete(w)}}),closing(f,g){
if(c===f){if(c=void 0,v=g,f.isUp)for(let w of k)w.forEach(ie);f.isUp&&performance.now()-p>=ds?d=0:b||(y=et(Math.random()*Math.min(ei*2**Math.min(d++,16),ds),()=>{
y=void 0,he()})),he()}},answered:()=>void(d=0),replied(f,g){let w=f,{method:{reply:S},options:{onMetadata:$}}=w;ce(w);try{let E=K(g),_=fn(E),me=mt(E,_);if(me)throw me;
E.at&&$?.(_.metadata),w.resolve(_t(E,S)),u<us&&(u+=.1)}catch(E){w.reject(Lt(hn(E,S),w.sent>1))}},expired:f=>Q(f),lost(f,g){let w=f;if(w.link=void 0,!w.method.idempotent||
w.sent>1||u<1)return Y(w,g);u--,Pe(w)}},oe=(f,g)=>{let{service:w}=f;try{return w&&g.announce(w),f.start(f,g)&&!!++f.sent}catch(S){return Y(f,Lt(S,f.sent)),!0}},
Pe=f=>{let g=C(f);if(!(c?.isUp&&!g.size&&oe(f,c))){if(b)return Y(f,ps(f.sent));g.add(f),he(),ie(f)}},ie=f=>{f.reconnectsUntil=performance.now()+(f.options.reconnectTimeout??
r),Q(f)},Q=f=>{let{until:g,sent:w,reconnectsUntil:S}=f,$=performance.now(),E=C(f).has(f)&&!c?.isUp&&`no connection to the server${v&&`: ${v}`}`;clearTimeout(f.timer),
$>=g?Y(f,ln(w,E?`; ${E}`:"")):$>=S&&E?Y(f,Ft(14,E,w)):f.timer=et(($<S?Math.min(g,S):g)-$,()=>Q(f))},ce=f=>{C(f).delete(f),clearTimeout(f.timer),f.options.signal?.
removeEventListener("abort",f.abort)},Y=(f,g)=>{ce(f),f.link?.cancel(f),f.reject(g)},Z=(f,{sentTimeout:g,until:w,options:{metadata:S}})=>{(g!==void 0||s||S)&&Yr(
f,{timeout:g&&w-performance.now(),metadata:{...s,...S}})},ae=(f,g)=>{Z(f,g),Bt(f,g.method.request,g.request)},ee=(f,g)=>{let w=g.call(f,ae);return w&&(f.link=g),
w},W=(f,g,w,S,$,E,_,me)=>{let{signal:z}=S,q={id:0,operation:g.operation,until:performance.now()+ +($??(f?a:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,
link:void 0,service:f,method:g,request:w,options:S,sentTimeout:$,start:E,resolve:_,reject:me,abort:z&&(()=>Y(q,an(q.sent)))};return isNaN(q.until)?me(j(3,"the t\
imeout is not a number")):z?.aborted?q.abort?.():(z?.addEventListener("abort",q.abort),$!==void 0&&Q(q),($===void 0||q.timer)&&Pe(q)),q},H=(f,g,w,S={})=>{let $,
E=cs(g.request,g.reply,!0,()=>$&&ce($),S.onMetadata);return $=W(f,g,w,S,S.timeout,(_,me)=>{$=_;let z=me.open(E,q=>{Z(q,_),F(q,9),B(q,_.operation)});if(z){let q=_.
sentTimeout===void 0;q&&(_.until=1/0),E.pump(w,g.sends,()=>{!q||g.receives||(_.until=performance.now()+a,Q(_))})}return z},()=>{},E.fail),E};this.unary=(f,g,w,S={})=>new Promise(
($,E)=>void W(f,g,w,S,S.timeout??n,ee,$,E)),this.serverStreaming=(f,g,w,S)=>H(f,g,[w],S).messages,this.twoWay=(f,g,w,S)=>H(f,g,w,S).messages,this.clientStreaming=
async(f,g,w,S)=>{let{messages:$}=H(f,g,w,S),{done:E,value:_}=await $.next();if(E)throw new U(13,"there is no reply");return $.return?.(),_},this.name=f=>void M.
add(f),this.mount=f=>void ne.push(f),this.connected=(f,g,w)=>new Promise((S,$)=>{W(void 0,{},void 0,{reconnectTimeout:g,signal:w},void 0,(E,_)=>_.isFull?!1:(f?.(
_),ce(E),S(_),!0),S,$)}),this.close=()=>{b=!0,clearTimeout(y);for(let f of k)for(let g of f)Y(g,ps(g.sent));c?.drain()},i&&queueMicrotask(he)}},ps=t=>Ft(9,"the \
channel is closed",t);var tt=65280,ti=tt+8,ni=16<<20,ri=64,si=255,oi=65536,ii=4,bn={now:0,last:1,oldest:2},ai=1e4,tr=({topic:t,payload:e})=>t.length+e.length+ri,fs=t=>{let e=fn(t);return(t.
at?mt(t,e):void 0)??j([8,12,7,14][te(t)-3]??3,Ze(t))},ms=t=>{let e=R(t,10);return e>si&&T("a topic is too long"),le(t,e)},qt=class{constructor(e){this.channel=e;
this.requests=new Map;this.last=0;let{requests:n}=this;if(e.topics)return e.topics;e.topics=this,e.mount({packet:(r,s,o,i)=>{if(o<tt||o>ti)return!1;!s&&o===tt+5&&
(this.refused??=fs(K(i)));for(let a of s?[n.get(s)]:n.values())a?.packet(r,s,o-tt,K(i));return!0},down(r,s){for(let o of[...n.values()])o.down(r,s)}})}subscribe(e,{
group:n="",from:r}={}){return this.request(n||r===void 0?0:6,e,n,r)}async publish(e,n){await this.channel.connected(r=>{r.write(0,tt+2,s=>{Ke(s,xe(e)),pe(s,Yn(n))}),
this.published??=r})}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.refused=void 0,e)throw e}request(e,n,r="",s){let{channel:o,
requests:i}=this;return new Promise((a,c)=>{if(i.size>=65535)throw j(8,"too many requests");do this.last=this.last%65535+1;while(i.has(this.last));let d=this.last,
u,p=0,y=0,b=!1,v,k,C=new AbortController,M=()=>{C.abort(),clearTimeout(v),i.delete(d)&&n!==void 0&&u?.isUp&&u.write(d,tt+1)},{first:ne,messages:he,put:fe,end:oe,
take:Pe}=gn(I=>(p-=tr(I),I),M),ie=I=>{clearTimeout(v),i.delete(d),this.published=k??this.published,c(I),oe(I)},Q=r?[]:n?.split(".")??[],ce=Q.at(-1)===">",Y=I=>{
let O=I.split(".");return(ce?O.length>=Q.length:O.length===Q.length)&&Q.every((P,J)=>P===">"||P==="*"||P===O[J])},Z=typeof s=="object";if(Z&&!(/^[\da-f]{16}$/.test(
s.epoch)&&s.offset>=0&&Number.isSafeInteger(s.offset)))throw j(3,`${s.epoch}, ${s.offset} is not a position`);let ae=Z||s===void 0?bn.oldest:bn[s],ee=new Map(Z?
[[n,{...s,offset:s.offset+1}]]:[]),W=new Map,H=0,f="",g=!1,w=!1,S=!1,$=!1,E=!1,_=()=>!n?.match(/[*>]/)&&ee.size>0,me,z=I=>{me=I,u?.write(d,tt+I,O=>{if(n!==void 0&&
Ke(O,xe(n)),I===6){F(O,ae);for(let[P,J]of ee)qe(O,P),It(O,J.epoch),B(O,J.offset)}else pe(O,xe(r))})},q=()=>{let I=ee.size>0;return ee=new Map,ae=bn.now,g=!1,S=!0,
I},be=I=>{o.connected(O=>{u=O,e===3&&((this.published??O)!==O&&(this.refused=new U(15,"the connection was lost")),k=this.published,this.published=void 0);try{z(
e)}catch(P){if(!w||!q())throw P;z(6)}v=et(ai,()=>{M(),ie(ln(1,"; the server may have no broker"))})},I,C.signal).catch(O=>{w&&O.code===9&&oe(!0),ie(O)})},lt=()=>{
clearTimeout(v),E=!0,w&&(S||!$)&&(b=!0),a(he)},D=(I,O,P)=>{let J=P.bytes[P.at],ye=I&&!E;if(ye&&O===5&&J===ii)S=!0,z(0);else if(ye&&(O===5||O===6&&J)&&w&&q())z(6);else if(ye&&
O===6&&J===0){te(P),$=te(P)===1;let de=Ce(P,16);H=R(P,10);let m=f!==""&&f!==de;f=de,lt(),S=!1,b||=_()?!H:m}else if(O===7)for(;G(P);){let de=ms(P),m={epoch:Ce(P,
16),offset:R(P,10)};if(Number.isSafeInteger(m.offset)||T("an integer is beyond 2^53"),!E||!I&&!Y(de))continue;let h=W.get(de);I&&!h?(H--,h=ee.get(de)??(g?{...m,
offset:1}:void 0)):!I&&h?.epoch!==m.epoch&&(h=void 0),h&&$&&(I||!S)&&(h.epoch===m.epoch&&h.offset<=m.offset?y+=m.offset-h.offset:b=!0),W.size>=oi&&!W.has(de)&&(W.
clear(),S=!0),W.set(de,m)}else return!1;return!0};i.set(d,{packet(I,O,P,J){if(!(I!==u||me===6&&D(O,P,J)))if(P===2){let ye=ms(J);if(!O&&(!E||!Y(ye)))return;let de=pt(
J),m=W.get(ye);m&&W.set(ye,{...m,offset:m.offset+1});let h={topic:ye,payload:de,position:m,lagged:y,reconnected:b};for(p+=tr(h),fe(h),y=0,b=!1;p>ni;){let x=Pe();
p-=tr(x);let A=ne();A.lagged+=x.lagged+1,A.reconnected||=x.reconnected}}else P===4?E&&(S||!$)&&(y+=R(J,10)):O&&(G(J)?ie(fs(J)):lt())},down(I,O){if(I===u){if(n===
void 0||!E&&!w)return ie(O);if(E)if(H>0&&!S){S=!g&&!_();for(let[P,J]of W)ee.set(P,J)}else S?q():(ee=W,ae=bn.oldest,g=!0);clearTimeout(v),W=new Map,E=!1,w=!0,be(
1/0)}}}),be()})}};var vn="frisbee.1";function nr(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let s=new n(String(t),[vn,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===vn)return r.open();o=`the \
server does not speak ${vn}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i.slice()),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var li=64;var wn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of Ae(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of Ae(e))i===
2?n=Oe(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=ui(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>li)throw new we("types are nested too deeply");let a=[],c=[],d=[],u=[],p="",y=!1;
for(let{number:C,bytes:M}of Ae(e))C===1?p=Oe(M):C===2?a.push(M):C===3?c.push(M):C===4?d.push(M):C===7?y=vs(M,7):C===8&&u.push({name:hs(M),docs:o.get(`${s},8,${u.
length}`)??""});let b=[...r,p],v=gs(n,b),k=a.map((C,M)=>ci(C,o.get(`${s},2,${M}`)??""));this.messages.set(v,{name:v,package:n,path:b,docs:o.get(s)??"",fields:k,
oneofs:u,isEntry:y}),c.forEach((C,M)=>this.declare(C,n,b,`${s},3,${M}`,o,i+1)),d.forEach((C,M)=>this.declareEnum(C,n,b,`${s},4,${M}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:u,bytes:p}of Ae(e)){if(u===1&&(a=Oe(p)),u!==2)continue;let y=0;for(let b of Ae(p))b.number===2&&(y=b.low|0);i.push({name:hs(p),number:y,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=gs(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},bs=t=>t===11||t===10||t===
14,gs=(t,e)=>[...t?[t]:[],...e].join(".");function ci(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,u=!1;for(let p of Ae(t))p.number===1?n=Oe(p.bytes):p.number===
3?o=p.low:p.number===4?i=p.low:p.number===5?a=p.low:p.number===6?s=Oe(p.bytes).replace(/^\./,""):p.number===8?u=vs(p.bytes,3):p.number===9?c=p.low:p.number===10?
r=Oe(p.bytes):p.number===17&&(d=p.low!==0);if(a<1||a>18)throw new we(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:u,
docs:e,jsonName:r||n.replace(/_(\w)/g,(p,y)=>y.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var di=new Uint8Array,Oe=t=>le(K(t),t.length);function*Ae(t){
let e=K(t);for(;G(e);){let n=R(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(R(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:di,
low:o>>>0}}else if(s===2)yield{number:r,bytes:$e(e,R(e)),low:0};else if(s===1||s===5)$e(e,s===1?8:4);else throw new we(`a field of the wire type ${s}`)}}function hs(t){
for(let{number:e,bytes:n}of Ae(t))if(e===1)return Oe(n);return""}function vs(t,e){for(let{number:n,low:r}of Ae(t))if(n===e)return r!==0;return!1}function ui(t){
let e=new Map;for(let{number:n,bytes:r}of Ae(t)){if(n!==1)continue;let s="",o="",i="";for(let c of Ae(r))if(c.number===1){let d=K(c.bytes),u=[];for(;G(d);)u.push(
R(d));s=u.join(",")}else c.number===3?o=Oe(c.bytes):c.number===4&&(i=Oe(c.bytes));let a=o||i;a&&e.set(s,xn(a))}return e}var xn=t=>t.replace(/^ /gm,"").trim();var We=t=>`f${t.number}`,bt=t=>`o${t}`,rr={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
ht=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=fi(this.schema,
r),o=s.map(c=>`${We(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>bs(c.kind)),a=L(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=rr[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${rr[o.kind]}${rr[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${bt(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=pi(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},pi=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function fi(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function ws(t,e,n,r){let s=r.map(({operation:i,request:a,response:c,sends:d,receives:u,isIdempotent:p})=>({
operation:i,request:t.of(a),reply:t.of(c),sends:d,receives:u,idempotent:p})),o=Ye(e,n,"",Object.fromEntries(s.map((i,a)=>[`m${a}`,i])));return s.map(i=>({service:o,
method:i}))}var sr={POLYGLOT:0,PROTOBUF:1},Jt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},mi=L("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),yi=L("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),gi=L("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[vi]),hi=L("fr\
pc.reflection.v1.ListRequest","etag:s"),bi=L("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e docs:s isDeprecated:b formats:*s",()=>[Jt]),vi=L("frpc.reflection.v1.Service","name:s fingerprint:s layout:y codec:e file:s docs:s isDeprecated:b methods:*m \
operations:*u",()=>[sr,bi]),vt=Ye("frpc.reflection.v1.Reflection","2827b98f5f97380f22de961eb0322afd","AQgAAQEJAAMBCQIIA0sEAAQBCQQIAkkDSQADAQkCCAMMAAkBCQIJAwwEDg\
UFCQYJBwgISwYJTQECAAIACgEJAg0DCQQIBQkGCAcOBwkJCggISQEDAAICAgRMaXN0AgABBUZpbGVzAgIDHWZycGMucmVmbGVjdGlvbi52MS5SZWZsZWN0aW9u",{list:{operation:65e3,request:hi,reply:gi,
receives:!0,idempotent:!0},files:{operation:65001,request:yi,reply:mi,receives:!0,idempotent:!0}});var xs=32<<20,Le=t=>`${t.service.name}/${t.name}`,Sn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=nr(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Ht(o,
{stayConnected:!0}),this.channel.name(vt),this.topics=new qt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let y of n.serverStreaming(
vt,vt.methods.list,{etag:e?.etag??""},{metadata:r})){if(y.notModified)return;o||=y.etag;for(let b of y.services){let v=s.get(b.name);v?v.methods.push(...b.methods):
s.set(b.name,b)}}let i=[],a=0;for await(let{data:y}of n.serverStreaming(vt,vt.methods.files,{},{metadata:r}))if(i.push(y),a+=y.length,a>xs)throw new U(Ve.RESOURCE_EXHAUSTED,
`the schema has more than ${xs} bytes`);let c=new Uint8Array(a),d=0;for(let y of i)c.set(y,d),d+=y.length;let u=new wn(c),p=new ht(u);return{etag:o,schema:u,services:[
...s.values()].map(y=>wi(y,p))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function wi(t,e){let n,r=o=>{if(t.codec!==sr.POLYGLOT)throw new Error(
"its messages use the protobuf codec, which this page does not support");if(!t.file)throw new Error("the server does not have the schema of this service; build \
it with `reflection(true)`");return n??=ws(e,t.name,t.fingerprint,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.idempotency!==
Jt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:xn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=t.methods.map(
(o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.idempotency===
Jt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===Jt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:xn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var An=t=>Object.entries(Ve).find(([,e])=>e===t)?.[0]??String(t);var xi=50;function En(t,e,n){let r=t.slice(-xi).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Restore the request",onclick:()=>e(
s)},l("span",{className:"muted"},ut(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},An(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},ue(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"No calls yet.")}var V=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},se=()=>Object.create(null),ir=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),ar=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
nt=t=>ar.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Ge(t){try{return JSON.parse(t||"{}")}catch(e){throw new V(
"",e.message)}}function rt(t,e,n,r=""){let s=Ni(t,e,n,r);if(s)return s;if(!ir(n))throw new V(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(y=>y.jsonName===a||y.name===a),u=r?`${r}.${a}`:a;if(!d)throw new V(u,`${e} has no such field${Si(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let p=Ai(t,d,c,u);if(d.oneof===void 0)i[We(d)]=p;else{let y=bt(d.oneof);if(i[y])throw new V(u,`${o.oneofs[d.oneof]?.name} has two \
members`);i[y]={case:We(d),value:p}}}return i}var Si=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Ai(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!ir(n))throw new V(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[Ei(o,a,r),or(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return or(t,e,n,r);if(!Array.isArray(n))throw new V(r,"a list is an array");return n.map((a,c)=>or(t,e,a,`${r}[${c}]`))}function Ei(t,e,n){
if(t.kind!==8)return Gt(t,e,n);if(e!=="true"&&e!=="false")throw new V(n,`${e} is not true or false`);return e==="true"}var As=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),ki=t=>[3,4,6,16,18].includes(
t),lr=t=>t in As;function or(t,e,n,r){if(e.kind===11)return rt(t,e.type,n,r);if(e.kind!==14)return Gt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new V(r,`${s} has no value ${Vt(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Vt=t=>JSON.stringify(t).slice(0,60);function Gt(t,e,n=""){let{kind:r}=t,s=As[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new V(n,`${Vt(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new V(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new V(n,`${i} is not from ${s[0]} to ${s[1]}`);return ki(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new V(n,`${Vt(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new V(n,`${Vt(e)} is not true or false`);return e}if(typeof e!="string")throw new V(n,`${Vt(e)} is not a\
 string`);return r===12?Ee(e,n):e}function Ni(t,e,n,r){let s=ar.test(e)&&t.message(e).fields[0];if(s)return{f1:Gt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return Ti(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new V(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new V(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!ir(n))throw new V(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Wt(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new V(r,"a ListValue is an array");return{f1:n.map(o=>Wt(o,0))};case"google.protobuf.Value":return Wt(n,0)}}function Ti(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new V(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Wt(t,e){if(e>90)throw new V(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Wt(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,Wt(s,e+1)]))})}function Xt(t,e,n){let r=$i(t,e,n);if(r!==void 0)
return r;let s=se();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[bt(o.oneof)],a=o.oneof===void 0?n[We(o)]:i?.case===We(o)?i.value:void 0;if(a===
void 0)continue;let c=Ci(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function Ci(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=se();for(let[o,i]of n)s[String(o)]=kn(t,r,i);return s}return Array.isArray(n)?n.map(s=>kn(t,e,s)):kn(t,e,n)}function kn(t,e,n){return e.
kind===11?Xt(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Fe(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?Mi(n):n}function Mi(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function $i(t,e,n){let r=ar.test(e)&&t.message(e).fields[0];if(r)return kn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${Ss(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Ss(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return Es(n);case"google.protobuf.ListValue":return n.f1.map(Nn);case"google.protobuf.Value":return Nn(n)}}function Es(t){
let e=se();for(let[n,r]of t.f1)e[n]=Nn(r);return e}function Nn(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?Es(e.value):e.case==="f6"?e.value.f1.map(
Nn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var Ss=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Fe(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function Ee(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new V(e,"it is no base64")}}function wt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var st=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var St=t=>Object.entries(t).flatMap(([e,n])=>[n].flat().map(r=>[e,r])),xt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("bu\
tton",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){
let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll("input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?Ee(
s,o):s)}return e}set(e){N(this.rows);for(let[n,r]of St(e))this.add(n,typeof r=="string"?r:Fe(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key",
"aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,
autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("button",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},
"×"));return this.rows.append(o),r}},cr=t=>l("dl",{className:"pairs"},...St(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Fe(n))]));var ot=t=>ur(JSON.stringify(t)),ur=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ue=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${ur(t).replace(/'/g,"'\\''")}'`,ks=t=>St(t).map(([e,n])=>[e,typeof n=="string"?n:Fe(n)]);function Ns({method:t,requests:e,metadata:n,
timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&i.push(`-H ${Ue(`\
connect-timeout-ms: ${Math.round(r)}`)}`);for(let[u,p]of ks(n))i.push(`-H ${Ue(`${u}: ${p}`)}`);let a=Ue(`${s}/${Le(t)}`);if(!o)return[...i,`-d ${Ue(ot(e[0]??{}))}`,
a].join(` \\
  `);let c=e.map(ot);return[`printf '${c.map(u=>`\\0${Ii(new TextEncoder().encode(u).length)}%s`).join("")}' ${c.map(Ue).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var Ii=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function Ts({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Ue(a)}`,Ue(Le(t))];for(let d of e)c.push(Ue(ot(d)));for(let[d,u]of ks(n))c.
push(`-H ${Ue(`${d}=${u}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var $n=t=>t.replace(/\W/g,"_")||"_",Cs=t=>$n(t).replace(/^_(?=\d)/,"-"),Ms=t=>$n(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),jt=t=>Ms(t).map(e=>e.toLowerCase()).join("_")||"_",it=t=>Ms(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",Tn=t=>it(t).replace(/^./,e=>e.toLowerCase()),Ri=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),Mn=t=>Ri.has(jt(t))?/^(self|super|crate)$/.test(jt(t))?`${jt(t)}_`:`r#${jt(t)}`:jt(t),ke=t=>ur(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function $s(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=$n(n.service.name.
split(".").pop()??""),c=r.map(b=>Rs(e,n.request,b,0)),d=Mn(n.name),u=[`let client = ${a}Client::connect(${ke(new URL(i).host)}).await?;`],p=c[0]??`${it(n.request)}\
::default()`;n.sends&&(u.push("let (requests, source) = frpc::RequestStream::channel(16);"),p="source");let y=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...St(s).map(([b,v])=>typeof v=="string"?`request.metadata_mut().insert(${ke(b)}, ${ke(v)})?;`:`request.metadata_mut().insert_\
bin(${ke(b)}, &[${[...v].join(", ")}][..])?;`)];return y.length>0&&(u.push(`let mut request = frpc::Request::new(${p});`,...y),p="request"),n.receives?(u.push(`\
let mut replies = client.${d}(${p}).await?.into_inner();`),u.push(...c.slice(0,n.sends?void 0:0).map(b=>`requests.send(${b}).await?;`),...n.sends?["drop(request\
s);"]:[]),u.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(u.push(`let call = client.${d}(${p});`,"let se\
nding = async {",...c.map(b=>`    requests.send(${b}).await?;`),"    drop(requests);","    Ok(())","};"),u.push("let (reply, ()) = tokio::try_join!(call, sendin\
g)?;",'println!("{:?}", reply.into_inner());')):u.push(`let reply = client.${d}(${p}).await?.into_inner();`,'println!("{reply:?}");'),u.join(`
`)}function Is({path:t,package:e}){let n=[...t.slice(0,-1).map(Mn),it(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var dr=(t,e)=>`${"\
    ".repeat(e)}${t}`;function Rs(t,e,n,r){let s=t.message(e),o=Is(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let p of s.fields){
let y=i[i[p.jsonName]===void 0?p.name:p.jsonName];if(y===void 0||y===null&&p.type!=="google.protobuf.Value")continue;let b=p.oneof===void 0?void 0:s.oneofs[p.oneof],
v=Oi(t,s,p,y,r+1),k=b?b.name:p.name;c.add(k);let C=[...s.path.map(Mn),it(b?.name??"")].join("::");a.push(dr(`${Mn(k)}: ${b?`Some(${C}::${it(p.name)}(${v}))`:v},`,
r+1))}let d=new Set(s.fields.map(p=>p.oneof===void 0?p.name:s.oneofs[p.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(dr(`..${o}::default()`,r+1));let u=`${o} { ${a.map(p=>p.trim().replace(/,$/,"")).join(", ")} }`;return u.length<90&&!u.includes(`
`)?u:`${o} {
${a.join(`
`)}
${dr("}",r)}`}function Oi(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([p,y])=>`(${o.kind===9?`${ke(p)}.to_\
owned()`:Cs(p)}, ${Cn(t,i,y,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>Cn(t,n,d,s)).join(", ")}]`;let a=Cn(t,n,r,s),c=n.kind===11&&!nt(n.type)&&
Os(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function Os(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&Os(t,s.type,n,r))??!1)}function Cn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${ke(String(n))}.parse()?`:nt(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?Cn(t,s,n,r):nt(e.type)?Li(e.type,n):Rs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=it(s.path[s.path.length-1]??""),a=it(o.name);return`${Is(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...Ee(String(n))].join(", ")}]`:e.kind===9?`${ke(String(n))}.to_owned()`:e.kind===1||e.kind===2?Us(Number(n),e.kind===1?"f64":"f32"):Cs(String(n))}var At="\
frpc::prost_types::";function Li(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${At}FieldMask { paths: vec![${n.map(r=>`${ke(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${At}Struct { fields: ${Fs(e)} }`:t===
"google.protobuf.ListValue"?`${At}ListValue { values: ${Ls(e)} }`:pr(e)}function pr(t){if(t===null)return`${At}Value::from(${At}value::Kind::NullValue(0))`;let e=typeof t==
"string"?ke(t):typeof t=="number"?Us(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?Ls(t):Fs(t);return`${At}Value::from(${e})`}var Ls=t=>`vec![${t.map(
pr).join(", ")}]`,Fs=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${ke(e)}.to_owned(), ${pr(n)})`).join(", ")}])`,Us=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function Ds(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=$n(n.service.name.split(".").pop()??""),c=r.map(b=>_s(e,n.request,rt(e,n.request,b))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${St(s).map(([b,v])=>`${ot(b)}: ${typeof v=="string"?ot(v):Bs(v)}`).join(", ")} }`]],u=n.
sends?`[${c.join(", ")}]`:c[0]??"{}",p=`client.${Tn(n.name)}(${u}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${ot(
`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${p}) console.log(reply);`:`console.log(await ${p});`}`}var Bs=t=>`new Uint8Array([${[...t].join(", ")}])`;function _s(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=We(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${Tn(i.name)}: ${Fi(t,i,n[a])}`);continue}let c=n[bt(
i.oneof)];c?.case===a&&o.push(`${Tn(s[i.oneof]?.name??"")}: { case: "${Tn(i.name)}", value: ${Qt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function Fi(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Qt(t,r,o)}, ${Qt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Qt(t,e,o)).join(", ")}]`:Qt(t,e,n)}function Qt(t,e,n){return n instanceof Uint8Array?Bs(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?_s(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?ot(n):String(n)}var Ps=new WeakMap;function Et(t,e){return Ps.set(t,e),t}var Kt=t=>Ps.get(t)??se();var Hs=16<<20,fr=t=>l("textarea",{rows:1,spellcheck:!1,...t});function mr(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function yr(t){let e=re(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return Et({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=fr({id:e});return Et({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>mr(s,()=>void(s.value.
trim()&&Gt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:lr(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!Ui(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!lr(n)?Number(i):i};return Et({element:s,id:e,get:()=>s.
value.trim()?Di(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var Ui=t=>t===3||t===4||t===6||t===16||t===18,Di=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function qs(t){let e=re(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return Et(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Js(){
let t=re(),e,n=fr({id:t,oninput:()=>y()}),r=l("select",{"aria-label":"written as",onchange:()=>p()},...["text","base64","hex"].map(v=>l("option",{},v))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let v=i.files?.[0];if(v){if(v.size>Hs){o.textContent=`${v.
name} has more than ${Hs>>20} MiB`;return}e=new Uint8Array(await v.arrayBuffer()),o.textContent=`${v.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,b.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=v=>{if(v==="text")return new TextEncoder().encode(n.value);if(v==="base64")return Ee(n.
value.replace(/\s/g,""));let k=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(k))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
k.match(/../g)??[],C=>parseInt(C,16))},u=(v,k)=>{let C=k==="text"?wt(v):void 0;r.value=s=k==="text"&&C===void 0?"base64":k,n.value=r.value==="text"?C??"":r.value===
"hex"?st(v):Fe(v),y()},p=()=>{try{u(d(s),r.value)}catch{s=r.value,y()}},y=()=>mr(n,()=>void d(r.value)),b=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return Et({element:b,id:t,get(){let v=e??d(r.value);return v.length>0?Fe(v):void 0},set(v){c(),u(
typeof v=="string"?Ee(v):new Uint8Array,r.value)}},"")}function at(t,e,n){let r=re(),s=fr({id:r,placeholder:e,oninput:()=>mr(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var Bi=3,Rn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=Xs(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??se()}set(e){this.editor.set(e)}example(){this.set(Ws(this.schema,this.name,[]))}};function Ws(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(nt(e)&&s)return Vs(t,s,n);let o=se(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,u=a.oneof===void 0||r.fields.find(
v=>v.oneof===a.oneof)===a,p=d.kind===11&&(i.includes(d.type)||i.length>Bi);if(!u||p||d.kind===10||a.isDeprecated)continue;let y=Vs(t,d,i),b=c?.fields[0];b?o[a.jsonName]=
Object.assign(se(),{[b.kind===9?"key":b.kind===8?"true":"1"]:y}):o[a.jsonName]=a.isRepeated?[y]:y}return o}function Vs(t,e,n){switch(e.kind){case 11:return Ws(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function _i(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${In(r)}, ${In(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${In(e)}`}var Pi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],In=t=>Pi[t.kind]||(t.type.split(".").pop()??"");function kt(t,e){
return e.kind===14?qs(t.enumeration(e.type)):e.kind===12?Js():e.kind!==11?yr(e):Hi(t,e.type)}function Hi(t,e){switch(e){case"google.protobuf.Timestamp":return at(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return at("text","1.5s");case"google.protobuf.Fiel\
dMask":return at("text","name,homeAddress.city");case"google.protobuf.Struct":return at("json",'{ "key": "value" }');case"google.protobuf.Value":return at("json",
"any JSON");case"google.protobuf.ListValue":return at("json","[1, 2]")}let n=nt(e)?t.message(e).fields[0]:void 0;if(!n)return Xs(t,e);let r=kt(t,n);return{...r,
get:()=>r.get()??Gs(n)}}var Gs=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function Xs(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=Gi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=qi(t,i);s.append(js(i.name,_i(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=se();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:se();for(let{take:c}of r)c(a)}}}
function js(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function qi(t,e){let n=t.entry(e);return n?Wi(t,n):e.isRepeated?Vi(()=>kt(t,e)):
e.isOptional||e.kind===11?Ji(()=>kt(t,e),()=>e.kind===11?se():Gs(e)):kt(t,e)}function Ji(t,e){let n=re(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?N(o,(r??=t()).element):N(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Qs=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function Vi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,Qs(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Ks(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Kt(o)):void 0,set(o){e=[],N(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Ks=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function Wi(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let u={key:yr({...n,kind:n.kind===8?9:n.kind}),value:kt(
t,r)};u.key.element.classList.add("key"),u.key.element.setAttribute("aria-label","key"),c!==void 0&&u.key.set(c),d!==void 0&&u.value.set(d),s.push(u);let p=l("d\
iv",{className:"item"},u.key.element,u.value.element,Qs(()=>{s=s.filter(y=>y!==u),p.remove()}));return o.append(p),u.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Ks(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=se();for(let{key:d,value:u}of s)c[String(
d.get()??Kt(d))]=u.get()??Kt(u);return c},set(c){if(s=[],N(o),typeof c=="object"&&c!==null)for(let[d,u]of Object.entries(c))i(d,u)}}}function Gi(t,e,n){let r=e.
fields.filter(y=>y.oneof===n),s=re(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(y=>l("option",{value:y.jsonName},`${y.name}: ${In(y)}`))),c=y=>{a.value=y;let b=r.find(k=>k.jsonName===y);if(!b)return void N(o);let v=i.get(y)??kt(t,b);return i.
set(y,v),v.id&&document.getElementById(v.id)?.setAttribute("aria-label",b.name),N(o,v.element,b.docs&&l("p",{className:"docs"},b.docs)),v},{name:d,docs:u}=e.oneofs[n]??
{name:"oneof",docs:""},p={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:js(d,"oneof",u,p,!1),get(){let y=i.get(a.value);return a.
value&&y?Object.assign(se(),{[a.value]:y.get()??Kt(y)}):se()},set(y){let b=y,v=r.find(k=>(b[k.jsonName]??b[k.name])!==void 0);c(v?.jsonName??"")?.set(v&&(b[v.jsonName]??
b[v.name]))}}}var gr=1e5,Xi=90;function zs(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return N(t,n,r,s),()=>{N(n,...ji(e)),N(r,e.isOver&&e.status&&Ki(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),cr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),u=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+u>e.messages.length;)s.firstElementChild?.remove();for(let p of e.messages.slice(d))(i||!p.isSent)&&s.append(
Yi(p,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function ji(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${An(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},ue(t.took),o&&`, ${o}`)]}function Qi(t){return t!==Ve.CANCELLED&&t!==Ve.DEADLINE_EXCEEDED&&t!==Ve.UNAVAILABLE}function Ki({
status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block failure"},l("p",{},t?.message??""),t&&!(t.mayHaveRun&&Qi(t.code))&&l("p",{className:"\
muted"},t.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} bytes`),e.length>0&&l("pre",{className:"code"},wt(e)??st(
e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).length>0&&cr(t.metadata))}function zi(t){let e=t.replace(
/\n\s*/g," ");return e.length<=Xi?e:t}function Yi(t,e){let n=e?zi(t.json):t.json,r=l("pre",{className:"code",tabIndex:0},en(n.slice(0,gr)),n.length>gr&&`
… ${n.length-gr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${ue(t.at)}`),l("span",{className:"grow"}),dt(()=>n)),r)}var Zi=500,ea=16<<20,On=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new hr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=U.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Xt(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>Zi||this.chars>ea&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},hr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var ta=["Form","JSON","Copy as"],Ys={curl:Ns,frpc:Ts,Rust:$s,TypeScript:Ds};function br({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var Ln=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new xt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:re(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=qn(ta,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new Rn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called by this page: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),N(this.output,
l("p",{className:"empty"},"No calls yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=rt(this.
catalog.schema,this.method.request,Ge(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.
run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){e!==
void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Ge(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=r===
void 0?"":String(r)}header(){let{method:e}=this,n=br(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Ge(this.json.value))}),this.tab=e,e==="Form"?N(this.body,this.form?.element):e==="JSON"?N(this.body,this.json):this.attempt(()=>N(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Ge(a.json)),s=n.sends&&r&&r.
length>0?r:[Ge(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=qn(Object.keys(Ys),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Ys[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),dt(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new On(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:zs(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Le(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));N(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var na={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},ra=L("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),sa=L("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),oa=L("frpc.introspection.v1.CloseCount","kind:s count:w"),ia=L("frpc.introspection.v1.CodeCount","code:i count:\
w"),vr=L("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[na]),aa=L("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[ra,ha,vr,pa]),la=L("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),ca=L("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[vr]),da=L("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),ua=L("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[ia]),pa=L("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),fa=L("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[ua]),Zs=L("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m translated:*m",()=>[oa,sa,xa,fa,
ba]),ma=L("frpc.introspection.v1.ServerConnections","connections:*m server:m",()=>[vr,Zs]),ya=L("frpc.introspection.v1.ServersReply","servers:*m",()=>[Zs]),ga=L(
"frpc.introspection.v1.ServersRequest",""),ha=L("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),ba=L("frpc.intros\
pection.v1.TranslatedService","name:s calls:w skippedFields:w layouts:*s"),va=L("frpc.introspection.v1.WatchReply","servers:*m",()=>[ma]),wa=L("frpc.introspecti\
on.v1.WatchRequest","intervalMs:u connections:u"),xa=L("frpc.introspection.v1.Worker","tasks:w ready:w polls:w threadsGivenUp:w"),Fn=Ye("frpc.introspection.v1.I\
ntrospection","bd16b32c178276e1068b286a315fbc97","ARYAAAABAUsIAAMBCQIEAw0AAgIEAUsJAAIBCQIEAAUFCQNLCgRLCwErCQIrDAACAQ0CDQABAUsNAAwBCQIEAwQEBAUEBgQHBAhLDglLDwpLEA\
tLEQxLEgAMAQQCCQMJBAQFDhMGBAcECAQJBAoECwgMCAAFAQ0CCQMEBAQFCAAGAQ0CCAMDBAgFBAYEAAUBDQINAw0EDQUNAAICSwkBKwgAAgEJAgQABAEJAgkDCQQEAAQBBAIEAwQEBAADAQkCDQMrFAAEAQkDBA\
QEAkkBBAACAgIABgEEAwQEBAUEBgQCSxUAAgEFAgQEB1NlcnZlcnMAAAELQ29ubmVjdGlvbnMAAgMKQ29ubmVjdGlvbgAEBQVXYXRjaAIGByNmcnBjLmludHJvc3BlY3Rpb24udjEuSW50cm9zcGVjdGlvbg==",
{servers:{operation:65030,request:ga,reply:ya,idempotent:!0},connections:{operation:65031,request:da,reply:ca,idempotent:!0},connection:{operation:65032,request:la,
reply:aa,idempotent:!0},watch:{operation:65033,request:wa,reply:va,receives:!0,idempotent:!0}});var Tt=12e4,wr=2e3,[Xe,je,Qe,Ct]=[480,120,44,16];function xr(t){let e=ve("svg",{viewBox:`0 0 ${Xe} ${je}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=ve("text",{x:Qe+(Xe-Qe)*n,y:je-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function Sr(t,e,n){let r=ve("text",{x:Qe-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(ve("line",{x1:Qe,x2:Xe,y1:e,y2:e,class:"grid"}),r)}var Nt=je-Ct-
8;function eo(t,e){let n=xr("Calls and errors in the last two minutes"),r=Tt/wr,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/wr);for(let{beganAt:c,
took:d,code:u}of t){let p=s[r-1-(o-Math.floor((c+d)/wr))];p&&p[u===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])Sr(
n,je-Ct-Nt*c,String(Math.round(i*c)));let a=(Xe-Qe)/r;return s.forEach(({ok:c,failed:d},u)=>{let p=(y,b,v)=>{b>0&&n.append(ve("rect",{x:Qe+u*a+.75,width:a-1.5,y:je-
Ct-(y+b)/i*Nt,height:b/i*Nt,class:v}))};p(0,d,"failed"),p(d,c,"ok")}),n}function Mt(t,e){return[...t.filter(({at:n})=>e.at-n<Tt),e]}var to=(t,e,n,r)=>e.map((s,o)=>ve(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),no=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function Un(t,e,n,r,s,o){let i=xr(`${t}, in the last two minutes`),a=no(e,s),c=d=>je-Ct-d/a*Nt;for(let d of[0,.5,1])Sr(i,c(a*d),o(a*d));return i.append(...to(e,
n,d=>Xe-(Xe-Qe)*(r-d)/Tt,c)),i}function Ar(t,e,n,r){let s=no(e,1e-9),o=ve("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...to(e,n,i=>120-120*(r-i)/Tt,i=>19-i/s*18)),o}function ro(t,e){let n=xr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<Tt),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)Sr(n,je-Ct-Nt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},u)=>{let p=Xe-(Xe-Qe)*(e-a-c)/Tt,y=je-Ct-Nt*((s[u]??0)-o)/(i-o);n.append(ve("circle",{cx:p,
cy:y,r:2.5,class:d===0?"ok":"failed"}))}),n}function so(t){let e=t.slice(-40),n=ve("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(ve("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var oo=1e3,Sa=256,Aa=50,Dn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===Fn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(Fn,Fn.methods.watch,{intervalMs:oo,connections:Sa},{signal:s,metadata:r});for await(let{servers:i}of o)
N(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||N(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},oo)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(p=>[p.name,ka(p,s?.methods.
get(p.name),r,s?.at)])),i=p=>Er([...o.values()].map(({rates:y})=>y.at(-1)?.values[p]??0)),a=Er(n.map(p=>Number(p.streams))),c=Er(n.map(p=>Number(p.queued))),d={
at:r,methods:o,rates:s?Mt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:Mt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:Mt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let u=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Na(e),l("div",{className:"plots"},
Nr(["Calls of all clients per second, ",Ea("errors")," below"],Un("Calls and errors of all clients per second",d.rates,["curve","curve failed"],r,4,io)),Nr(["Co\
nnections, and ",ao("streams"),u],Un("Connections and streams",d.open,["curve","curve second"],r,4,io)),Nr(["Queued bytes",u,", and ",ao("held for clients")],Un(
"Queued bytes, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,p=>zt(BigInt(Math.round(p)))))),this.table(e,o,r),lo(["connection","age","call\
s","oldest call","streams","queued","memory"],n.slice(0,Aa).map(Ta)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.get(o);return a&&a.calls>
0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),lo(["method","in a second","cal\
ls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:u,times:p})=>[o,a.toFixed(a<10?1:0),c,
d,kr(i?.p50Ns),kr(i?.p99Ns),kr(i?.maxNs),Ar(`Calls and errors of ${o}, in the last two minutes`,u,["curve","curve failed"],r),Ar(`Average latencies of ${o}, in \
the last two minutes`,p,["curve"],r)]))}},Er=t=>t.reduce((e,n)=>e+n,0),io=t=>String(Math.round(t)),kr=(t=0n)=>ue(Number(t)/1e6),Ea=t=>l("span",{className:"faile\
d"},t),ao=t=>l("span",{className:"second"},t),Nr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function ka({figures:t},e,n,r=n){let s=(t?.failed??[]).reduce((d,{
count:u})=>d+u,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,c=Number(o-e.calls);
return{calls:o,failed:s,spent:i,rates:Mt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?Mt(e.times,{at:n,values:[Number(i-e.spent)/c/1e6]}):e.times}}
function Na({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i,translated:a}){let c=[["server",t],["connections",`${e} open, ${n} in all`],["held\
 for clients",`${zt(s)} of at most ${zt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((d,{tasks:u})=>d+u,0n)}\
 tasks`],...a.map(({name:d,layouts:u,calls:p,skippedFields:y})=>[`other versions of ${d}`,`${u.length} in use, ${p} calls, ${y} fields skipped`])];return l("dl",
{className:"facts"},...c.map(([d,u])=>l("div",{},l("dt",{},d),l("dd",{},u))))}var Ta=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,queued:o,memory:i})=>[t||
"unknown",ue(Number(e)),n,n>0n?ue(Number(r)):"",s,zt(o),zt(i)];function lo(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",{},l("tr",{},...t.map(
(n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"count":""},r instanceof Node?
r:String(r))))))))}function zt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:`${(e/1e9).toFixed(1)}\
 GB`}var Ca=1e3,Bn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new Dn(e,r);let i=new xt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"For example a token. Kep\
t until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),Ca)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((u,p)=>u+
p.methods.length,0)??0,a=[["connection",n==="open"?`open since ${ut(r.since)}`:n],["connections made",String(r.connections)],["sent",co(r.sent)],["received",co(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];N(this.facts,...a.map(([u,p])=>l("div",{},l("dt",{},u),l("dd",{},p))));let c=Date.
now();N(this.plots,l("figure",{},l("figcaption",{},"Calls per two seconds, ",l("span",{className:"failed"},"errors")," below"),eo(s.all,c)),l("figure",{},l("fig\
caption",{},"Latency of each call; of a stream, its duration"),ro(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,N(this.methods,s.all.length>0&&this.table()),N(this.history,En(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(ue(o)),e(ue(i)),e(ue(a)),l("td",{},so(c)))})))}};function co(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var uo=500,po=2e4,_n=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:re()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:re(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:re(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:re(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:u=>{u.preventDefault(),this.problem.textContent="",c().catch(p=>this.problem.textContent=p.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. In a pattern, * matches one token, and a fin\
al > all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.
watch(n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>N(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new ht(e.schema)},N(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Stop watching ${e}`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=Ee(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=jn(this.schema.tables.of(r),rt(this.schema.catalog.schema,r,Ge(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
uo&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${ut(Date.now())}`),l("span",{className:"grow"}),dt(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?en(o):o)))}for(this.waiting=[];this.log.childElementCount>uo;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Xt(this.schema.catalog.schema,n,Qn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${st(e.subarray(0,po))}`}let r=e.subarray(0,po);return(n==="hex"?void 0:wt(r))??st(r)}};var Ma=[["/","filter the methods"],["↑ ↓","move through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","cancel t\
he call"],["?","show the keys"]],[fo,Tr,mo,Yt,Mr]=[Se("services"),Se("main"),Se("state"),Se("filter"),Se("keys")],De=new Sn(`${location.origin.replace(/^http/,"\
ws")}/`,()=>$a()),Hn=new tn,Pn=new Map,go=new _n(De),Be,Zt="",yo=!1,_e,Cr=0,$r=new Bn(De,Hn,()=>Be,t=>vo(t),()=>void ho(!0));async function ho(t){let e=++Cr,n=t?
void 0:Be;try{let r=await De.catalog(n);if(e!==Cr)return;if(Zt="",r){Be=r;for(let[s,o]of Pn)o.isBusy||Pn.delete(s);go.know(r)}}catch(r){if(e!==Cr)return;Zt=r.message}
Ir(),Rr(),yo=await De.hasBroker(),Se("to-topics").hidden=!yo}function $a(){mo.textContent=De.wire==="open"?"connected":De.wire==="lost"?"connection lost":"conne\
cting",mo.className=`state ${De.wire}`,De.wire==="open"&&setTimeout(()=>void ho(!1))}function Ir(){let t=Yt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>Le(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Be?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),N(fo,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Yt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Le(c),u=br(c),p=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:u.name,"aria-label":u.name,role:"img"},u.sign));return d===n&&p.setAttribute(
"aria-current","page"),l("li",{},p)}))))),r.length===0&&N(fo,l("p",{className:"empty"},Be?"No matching methods.":Zt?"No services.":"Loading the services…"))}function Rr(){
let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute("aria-cu\
rrent","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),_e=void 0;let e=Be?.services.flatMap(n=>n.methods).find(n=>Le(n)===t);
if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")N(Tr,go.element);else if(e&&Be)_e=Pn.get(t)??new Ln(De,Be,e,Hn),
Pn.set(t,_e),N(Tr,_e.element,Ra(t));else{let n=t&&Be?`The server has no method ${t}.`:"";N(Tr,Zt&&Ia(),n&&l("p",{className:"notice"},n),$r.element),$r.draw()}}function Ia(){
return l("div",{className:"notice"},l("p",{},`The schema of the server could not be loaded: ${Zt}.`),l("p",{className:"muted"},"The console needs a server with \
Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Ra(t){let e=l("div",{}),n=()=>N(
e,En(Hn.all.filter(r=>r.path===t),vo,!0));return n(),bo=n,l("section",{className:"past"},l("h2",{},"History"),e)}var bo=()=>{};Hn.listen(()=>{bo(),$r.draw()});function vo(t){
location.hash===`#/${encodeURI(t.path)}`?_e?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>_e?.restore(t),{once:!0}))}function Oa(t){
let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,
n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.key==="Enter"&&r)t.shiftKey?_e?.
end():_e?.send();else if(t.key==="Escape"&&!Mr.open){if(!_e?.cancel())return}else if(t.key==="/"&&!n)Yt.focus();else if(t.key==="?"&&!n)Mr.showModal();else if((t.
key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))Oa(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});addEventListener("ha\
shchange",Rr);Yt.addEventListener("input",Ir);Se("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains(
"listing")&&Yt.focus()});Se("help").addEventListener("click",()=>Mr.showModal());N(Se("key-list"),...Ma.flatMap(([t,e])=>[l("dt",{},...t.split(" ").map(n=>l("kb\
d",{},n))),l("dd",{},e)]));Ir();Rr();})();
