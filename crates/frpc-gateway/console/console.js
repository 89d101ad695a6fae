"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Ir(r,...n),r}function Ir(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function C(t,...e){t.replaceChildren(),Ir(t,...e)}function fe(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function ve(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var xo=0,se=()=>`e${++xo}`;function Bn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function it(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Kt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var zt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function de(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var at=t=>new Date(t).toTimeString().slice(0,
8);var So=new TextEncoder,Eo=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Rr=40,me=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
T=t=>{throw new me(t)},j=t=>({bytes:t,at:0,depth:0,memory:0}),Nt=(t=64)=>j(new Uint8Array(t)),Yt=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,ye=t=>So.encode(
t);function Zt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function B(t,e){t.at===t.bytes.
length&&Zt(t,1),t.bytes[t.at++]=e}function Or(t,e){B(t,e>>8),B(t,e)}function P(t,e){for(;e>127;e=Math.floor(e/128))B(t,e|128);B(t,e)}function ue(t,e){Zt(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}var Ct=(t,e)=>e.match(/../g)?.forEach(n=>B(t,parseInt(n,16)));function je(t,e){P(t,e.length),ue(t,e)}function _e(t,e){let{at:n}=t,
{length:r}=e,s=r>Rr?128:0;B(t,r);for(let o=0;o<r&&s<128;o++)B(t,s=e.charCodeAt(o));s>127&&(t.at=n,je(t,ye(e)))}function ge(t,e,n){B(t,e);let{at:r}=t;n();let s=t.
bytes.slice(r,t.at);return t.at=r,je(t,s),s.length>0}var Mt=({bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.length-e,Pe=({bytes:t,at:e})=>t[e],ee=t=>t.bytes[t.
at++]??T("truncated");function Ae(t,e=32){let n="";for(;n.length<e;)n+=ee(t).toString(16).padStart(2,"0");return n}function ke(t,e){let n=ee(t);n!==e&&T(`found \
byte ${n}, expected ${e}`)}function L(t,e=5){let n=0;for(let r=1,s=e;s-- >0;r*=128){let o=ee(t);if(n+=(o&127)*r,o<128)return e>5?n:n>>>0}return T("a number is t\
oo long")}function Qe(t){let{at:e}=t,n=L(t,10);return(J(t)||t.bytes[e+9]>1)&&T("a number is too long"),n}function Ke(t,e=L(t)){return e>J(t)&&T("truncated"),t.bytes.
subarray(t.at,t.at+=e)}var Tt=t=>j(Ke(t,L(t,10))),lt=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function oe(t,e=L(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=Rr)
for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=Ke(t,e);try{return Eo.decode(i)}catch{T("a text is not UTF-8")}}return t.at+=e,s}var He=Ao();var D=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,en(n),{cause:n})}};function Ao(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var en=t=>t instanceof Error?t.message:String(t),X=(t,e)=>new D(t,e,{mayHaveRun:!1}),
Fr=t=>{let e=D.from(t);return e.mayHaveRun?e:new D(e.code,e.message,{...e,mayHaveRun:!0})},tn=t=>t>0&&t<=16?t:2,$t=(t,e,n)=>new D(t,n?e:`not sent: ${e}`,{mayHaveRun:!!n}),
nn=t=>$t(1,"the caller cancelled the call",t),Lr=(t,e="")=>$t(4,`deadline exceeded${e}`,t);var an=100,ko=64<<20,No=12,Hn=8,qn=56,_n=new Uint8Array(8),Ur=new DataView(_n.buffer);function U(t,e,n){let r;return{name:t,fields:()=>r??=Co(e,n?.()??[])}}function Jn(t,e){
let n=Nt(256);return Ot(n,t,e),Mt(n)}function Vn(t,e){return e[0]===18&&T(`${t.name} has the layout ${Ae(j(e.subarray(1)))}, which is unknown`),Ft(j(e),t)}function Ot(t,e,n){
t.depth=an,_r(t,e,n)}function Ft(t,e){return t.depth=an,t.memory=Math.max(ko,J(t)*No),Pr(t,e)??Hr(t,e)}function Co(t,e){let n=new Map,r=0;return(t?t.split(" "):
[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);if(!o)throw new Error(`invalid table entry: ${s}`);let[,i,a,c,d,u]=o,p=u==="m"?$o(e[r++]):
u==="e"?Ro(e[r++]):on[u],y=on[d[1]??""],h=y?[2,y.wire,p.wire,10]:d==="*"?[1,p.wire,10]:void 0,v=a?n.get(a):void 0;a&&!v&&n.set(a,v=[]);let $={name:a??i,of:p,isOptional:d===
"?",key:y,head:h,case:i,number:+c,all:v};return v?.push($),$})}var sn=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function _r(t,e,n){if(!t.
depth--)throw Br(e.name,`nests deeper than ${an}`);B(t,8),B(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)Mo(t,s,a);else if(t.isFlat||
s===o[0]){let c=a,d=o.find(p=>p.case===c?.case);if(c&&!d)throw new Error(`has no member ${c.case}`);t.isFlat||(B(t,3),P(t,d?d.number:0));let u=t.isFlat?s:d;u&&ct(
t,u.of,u===d?c?.value:void 0)}}}catch(s){throw s instanceof D?s:Br(`${e.name}.${r}`,s.message)}t.depth++}function Mo(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&
(r||e.isOptional)&&(n=sn(e)),r){let i=n,a=n,c=s?i.size:a.length;Ce(c>=0,n);for(let d of r)B(t,d);if(P(t,c),s)for(let[d,u]of i)ct(t,s,d),ct(t,o,u);else for(let d of a)
ct(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?B(t,0):ct(t,o,n)}function ct(t,e,n){e.table||B(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Pr(t,e){if(Pe(
t)===0)return void t.at++;ke(t,8),ee(t),t.depth--||T(`${e.name} nests deeper than ${an}`);let n=e.fields();Wn(t,qn+Hn*n.length);let r={},s="";for(let o of n){let{
name:i,all:a,of:c}=o,d=a&&a[0]===o;if(d&&(r[i]=void 0),!a)r[i]=To(t,o);else if(d&&Pe(t)===3){t.at++,s+=` ${i} `;let u=L(t),p=a.find(y=>y.number===u);p?r[i]={case:p.
case,value:Pn(t,p.of)}:u&&T(`${e.name}.${i} has no member ${u}`)}else if(!s.includes(` ${i} `)){let u=It(t,c);(u instanceof Uint8Array?u.length:!Object.is(u,c.zero()))&&
(r[i]={case:o.case,value:u})}}return t.depth++,r}function To(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&Pe(t)===0)return t.at++,sn(e);if(!n)return It(t,
s);for(let a of n)ke(t,a);let o=L(t),i=sn(e);for(;o-- >0;)Wn(t,r?qn:Hn),r?i.set(It(t,r),Pn(t,s)):i.push(Pn(t,s));return i}function It(t,{wire:e,table:n,take:r,isEnum:s}){
return s&&Pe(t)===12?It(t,on.i):(n||ke(t,e),r(t))}var Pn=(t,e)=>It(t,e)??Hr(t,e.table);function Hr(t,e){let n={},r=e.fields();Wn(t,qn+Hn*r.length);for(let s of r)
n[s.name]=s.all?void 0:sn(s);return n}function Wn(t,e){(t.memory-=e)<0&&T("exceeds the memory limit")}var Ne=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),
$o=t=>Ne(3,()=>{},(e,n)=>n?_r(e,t,n):B(e,0),e=>Pr(e,t),t),Io=65536;function Ro(t){let e=Object.values(t);return{...Ne(10,()=>e[0],(r,s)=>{let o=e.indexOf(s),i=s+
2147483648,a=s<0&&i>=e.length;Ce(o>=0||s===(s|0)&&(a||!r.isFlat),s),o>=0||a&&(r.isFlat||i<Io)?P(r,o<0?i:o):(r.at--,ct(r,on.i,s))},r=>{let s=L(r),o=s-2147483648;
return s>=e.length&&(o>=0||e.includes(o))&&T(`an enum has the index ${s}`),e[s]??o}),isEnum:!0}}var rn=(t,e)=>Ne(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(
s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return P(n,i);Ce((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)
B(n,Number(a&127n)|128);P(n,Number(a))},n=>{let{at:r}=n,s=L(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)
o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||T("an integer is beyond 2^53"),Number(s)):BigInt(
s)}),Dr=(t,e)=>Ne(t,()=>0,(n,r)=>{Ce(typeof r=="number",r),Ur[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)B(n,_n[s])},n=>{for(let r=0;r<e;r++)_n[r]=
ee(n);return Ur[e>4?"getFloat64":"getFloat32"](0)}),on={b:Ne(7,()=>!1,(t,e)=>{Ce(typeof e=="boolean",e),B(t,+e)},t=>{let e=ee(t);return e>1&&T(`a bool is ${e}`),
e>0}),i:Ne(12,()=>0,(t,e)=>{Ce(e===(e|0),e),P(t,(e<<1^e>>31)>>>0)},t=>{let e=L(t);return e>>>1^-(e&1)}),u:Ne(10,()=>0,(t,e)=>{Ce(e===e>>>0,e),P(t,e)},t=>L(t)),l:rn(
!0,!1),w:rn(!1,!1),L:rn(!0,!0),W:rn(!1,!0),f:Dr(14,4),d:Dr(15,8),s:Ne(5,()=>"",(t,e)=>{Ce(typeof e=="string",e),B(t,10),_e(t,e)},t=>(ke(t,10),oe(t))),y:Ne(4,()=>new Uint8Array,
(t,e)=>{Ce(Yt(e),e),B(t,10),je(t,e)},t=>(ke(t,10),new Uint8Array(Ke(t))))},Br=(t,e)=>X(3,`${t} ${e}`);function Ce(t,e){if(!t)throw new Error(`cannot be the ${typeof e}\
 ${String(e)}`)}var ze=(t,e,n,r)=>({name:t,fingerprint:e,layout:n,methods:r,operations:Object.values(r).map(({operation:s})=>s).sort((s,o)=>s-o)});function ln(t,e){_e(t,e.name),
Ct(t,e.fingerprint);let n=0;for(let r of e.operations)P(t,r-n),n=r}function qr(t,e,n=""){for(let r of atob(n))B(t,r.charCodeAt(0));n||(B(t,0),Ct(t,e))}function Jr(t){
let e=oe(t,L(t,10)),n=[],r={fingerprint:Ae(t),operations:n};for(let s=0;J(t);)n.push(s+=L(t,10));return[e,r]}var Vr=16,Wr=65536,Oo=1e3,Gr=256,Xr=61440,Xn={metadata:{}},jr=t=>[t].flat(),Gn=t=>t.endsWith("-bin"),Qr=(t,e)=>Gn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${t}
${Gn(t)?"":e}`);function jn(t){if(typeof t=="string")return ye(t);if(!Yt(t))throw X(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Kr(t,e){
let{at:n}=t;ge(t,Vr,()=>zr(t,e))||(t.at=n)}function zr(t,{timeout:e,metadata:n={},status:r}){let{at:s}=t;e!==void 0&&ge(t,1,()=>P(t,Math.min(Math.max(0,Math.round(
e*1e3)),Number.MAX_SAFE_INTEGER)));let o=0,i=0;for(let[a,c]of Object.entries(n))for(let d of jr(c)){if(!Qr(a,d))throw X(3,`invalid metadata ${a}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(o+=a.length+d.length+8,++i>Gr||o>Xr)throw X(8,"too much metadata");ge(t,2,()=>{_e(t,a),ue(t,jn(d))})}
if(r){let{code:a,details:c,mayHaveRun:d}=r;ge(t,3,()=>{P(t,a),t.at-s+c.length+32<=Wr&&ue(t,c)}),d||ge(t,5,()=>{})}}function Yr(t,e=!1){if(Pe(t)!==Vr)return Xn;t.
at++;let n=Tt(t);return J(n)>Wr&&T("a prefix is too long"),cn(n,e)}function cn(t,e=!1){let n=Object.create(null),r={metadata:n},s=0,o=0,i=0;for(;J(t);){let a=ee(
t),c=Tt(t);if(a>127){let d=`prefix item ${a} must be understood and is unknown`;throw e?X(12,d):new me(d)}if([1,3,5,6,8].includes(a)&&(i>>a&1&&T(`prefix item ${a}\
 occurs twice`),i|=1<<a),a===1)r.timeout=Qe(c)/1e3;else if(a===2){let d=oe(c,L(c,10)),u=Gn(d)?lt(c):oe(c,J(c));o+=d.length+u.length+8,(!Qr(d,u)||++s>Gr||o>Xr)&&
T("invalid metadata"),n[d]=d in n?[...jr(n[d]),u]:u}else a===3?(r.code=L(c,10),r.details=lt(c)):a===5?r.isRefused=!0:a===8&&(r.text=Lt(c))}return r}var Lt=(t,e)=>new TextDecoder().
decode(lt(t).subarray(0,e)),Zr=({metadata:t,code:e,details:n,isRefused:r},s="")=>new D(tn(e??0),s,{metadata:t,mayHaveRun:!r,...n&&{details:n}});function dn(t,e){
if(Pe(t)===6)return t.at++,ke(t,5),ke(t,10),Zr(e,oe(t))}function es(t){let e=cn(t);return e.code??e.isRefused?Zr(e,e.text):void 0}function ts(t,e){zr(t,{status:e,
metadata:e.metadata}),ge(t,8,()=>ue(t,ye(e.message.slice(0,Oo))))}var Qn=5<<20,Fo=1024,Lo=1024,ns=65536,Uo=128,Do=32768,dt=10,Ye=16384,rs=32768,Bo=Ye/2,_o=256,un=262144,Po=1e5,Ho=64<<20,ss=8<<20,qo=10,Jo=65536,Vo=2e3,Wo=5,Go=1e4,
os="the server is going away",is=200,Xo=2147483647,Ut=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),Xo));function as(t,e,n,r,s){let o=Nt(16384),i=new Map,a=new Map,
c=new Set(n),d=[],u=0,p=0,y=0,h=0,v=0,$=32767,A=[0,Qn,1/0,Ye,0],O=!1,he=!1,Q,te=dt,Le=0,pe=!1,z=0,Y=!1,ne=!1,H=0,V,re=m=>{if(!(O||!Ee))try{m(Ee)}catch(w){_(en(w));
try{Ee.close()}catch{}}},le=()=>{o.at&&(Y=!1,ne=!0,re(m=>m.send(Mt(o))),o.at=z=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),re(m=>{let w=m.buffered();
w>Ho?M("too many unsent bytes"):w>ss&&!k.isFull&&(k.isFull=!0,ae())}))},ae=()=>re(m=>{if(m.buffered()>ss/2)return void Ut(qo,ae);k.isFull=!1;for(let w of i.values())
w.room();e.room(k)}),Z=()=>{o.at!==z?(z=o.at,queueMicrotask(Z)):(pe=!1,le())},f=(m,w,x,I)=>{let{at:K}=o;try{Zt(o,dt),o.at+=dt,x?.(o,I);let Ue=o.at,De=Ue-K-dt,Be=w===
3?ns:Math.max(A[1],Lo);if(De>Be)throw X(8,`the message has ${De} bytes of at most ${Be}`);o.at=K;for(let ot of[15,m,w,De>>>16,De])Or(o,ot);o.at=Ue}catch(Ue){throw o.
at=K,Ue}o.at>Jo?le():pe||(pe=!0,z=0,queueMicrotask(Z))},g=(m,{code:w,message:x},I=7)=>f(m,I,K=>{P(K,w),ue(K,ye(x.slice(0,is)))}),b=(m,w)=>{f(m,5,P,0),g(m,w)},S=m=>{
if(!O){if(H=0,Q){if(ue(Q,m),Q.at<te)return;m=Mt(Q),Q=void 0}try{let w=0,x=I=>m[w+I]<<8|m[w+I+1];for(;!O&&!(m.length<(te=w+dt));w=te){x(0)!==15&&T("a header with\
out its magic");let I=x(6)*65536+x(8);if(I>(x(4)===3?ns:Qn)&&T(`a packet of ${I} bytes`),m.length<(te+=I))break;R(x(2),x(4),m.subarray(w+dt,te))}w<m.length&&(te-=
w,ue(Q=Nt(),m.subarray(w)))}catch(w){let x=w.message;k.isUp&&g(4,new D(13,x),3),M(`the server broke the protocol: ${x}`)}}},R=(m,w,x)=>{let I=j(x),K=w===3&&(m===
5||m===6),Ue=K?L(I,10):m;Ue>65535&&T(`stream ${Ue}`);let De=i.get(Ue);if(w>=10){k.isUp||T("a packet before HELLO");let Be=m>=rs,ot=d[m%Ye];if(!Be&&ot?.id===m&&ot.
operation===w)return ce(m),e.answered(),ot.isGivenUp?p--:e.replied(ot,x),E();if(s.filter(wo=>wo.packet(k,m,w,x)).length)return;if(Be&&G)return G.packet(m,w,x,!1)}else if(w<
2){x.length&&T("a PING with a body"),w===1?k.isUp||M("the server is a compat peer"):Y||(Y=!0,f(0,1));return}else if(w===3&&!K){if(!m&&!k.isUp)return W(I);if(m===
4)return M(`closed by the server with code ${L(I,10)}: ${Lt(I,is)}`);if(m===1)return N(I);m>=Do&&T(`packet type ${m} must be understood and is unknown`)}else{if(w===
4)return F();if(w===6)return G?.cancel(m,L(I,10));if(w===8)T("a stray HAND_OFF");else{if(De&&w<8)return e.answered(),K?De.items(m===6,I):De.packet(w,x);if(w===2){
let Be=m-$&32767;if(m>=32768&&Be&&Be<=16384)return $=m,G?G.packet(m,2,x,!0):b(m,X(12,"no service is served"))}}}++Le>Po&&M("too many stray packets")},N=m=>{let w=J(
m);for((!w||w>Fo)&&T(`ASK of ${w} bytes`);J(m);){let x=Ae(m),I=[...c,...r?.services??[]].find(K=>K.fingerprint===x);f(2,3,K=>qr(K,x,I?.layout))}},W=m=>{(oe(m,4)!==
"fris"||!ee(m))&&T("no HELLO");let w=new Set,x=0;try{for(;J(m);){x=ee(m);let I=Tt(m);if(x>=Uo&&T("must be understood and is unknown"),[1,2,3,4,5,6,8,34,35].includes(
x)&&(w.has(x)&&T("occurs twice"),w.add(x)),x&&x in A)A[x]=Qe(I);else if(x===8)Qe(I);else if(x===32||x===33){let K=Jr(I);x===32&&a.set(...K)}}}catch(I){T(`HELLO \
item ${x}: ${I.message}`)}A[3]=Math.min(A[3],Ye),k.isUp=!0,clearTimeout(Xe),e.room(k)},ce=m=>{d[m%Ye]=void 0,u--===A[3]&&e.room(k)},be=(m,w)=>{i.set(w,m),m.begin(
k,w,A[4])},E=()=>{he&&u===p&&!i.size&&!G?.progress.size&&queueMicrotask(()=>M(os))},F=()=>{he||(he=!0,e.closing(k,os),E())},M=m=>{O||(le(),re(w=>w.close()),_(m))},
_=m=>{if(O)return;O=!0,clearInterval(V),clearTimeout(Xe),e.closing(k,m),k.isUp=!1;let w=new D(14,`the connection was lost: ${m}`);for(let x of d)x&&!x.isGivenUp&&
e.lost(x,w);for(let x of i.values())x.lost(w);G?.down(w);for(let x of s)x.down(k,w)},k={isUp:!1,isFull:!1,write:f,reset:g,refuse:b,announce(m){let w=a.get(m.name),
x=w?.fingerprint===m.fingerprint&&`${w.operations}`==`${m.operations}`;if(!c.has(m)){for(let I of c)if(I.operations.some(K=>m.operations.includes(K)))throw X(9,
`${I.name} has operations of ${m.name}: use another channel`);x||f(3,3,ln,m),c.add(m)}},call(m,w){if(k.isFull||u>=A[3])return!1;do y=(y+1)%rs;while(d[y%Ye]);let x=m.
id=y;d[x%Ye]=m,u++;try{f(x,m.operation,w,m)}catch(I){throw ce(x),I}return!0},cancel(m){O||(m.isGivenUp=!0,f(m.id,6,P,m.operation),++p>=Bo&&F(),E())},open(m,w){if(!A[2])
throw X(12,"the server does not accept streams");if(k.isFull||h>=Math.min(A[2],28672))return!1;do v=v%32767+1;while(i.has(v));let x=v;i.set(x,m),h++;try{f(x,2,w)}catch(I){
throw k.over(x),I}return m.begin(k,x,A[4]),!0},accept:be,over(m){i.delete(m),m<32768&&(h--,e.room(k)),E()},drain:F,closeIfIdle:E},G=r?.on(k),Xe=Ut(Go,()=>M("han\
dshake timeout")),kt=()=>{o.isFlat=Ee?.isFlat,f(0,3,m=>{ue(m,ye("fris"));let w=G?_o:0;[Qn,w,w,un].forEach((x,I)=>ge(m,I+1,()=>P(m,x)));for(let x of r?.services??
[])ge(m,32,()=>ln(m,x));for(let x of n)ge(m,33,()=>ln(m,x))}),f(1,0),le(),!O&&(V=setInterval(()=>{if(++H>Wo)return M("keepalive timeout");(H>1||!ne)&&f(0,0),ne=
!1;let m=performance.now();for(let w of d)w&&w.until<=m&&!w.isGivenUp&&e.expired(w)},Vo))},Ee,Tr=m=>Ee?m():queueMicrotask(m),$r=m=>Tr(()=>_(m));try{Ee=t({open:()=>Tr(
kt),data:S,close:$r})}catch(m){$r(en(m))}return k}function pn(t,e){let n=[],r=0,s=!1,o=()=>{},i=y=>{s||=y,o()},a=()=>n[r],c=()=>{let y=a();return y!==void 0&&(n[r++]=void 0,r>999&&r*2>n.length&&(n.splice(0,r),r=
0)),y},d=()=>{n=[],r=0},u=(async function*(){try{for(;;){let y=c();if(y!==void 0){let h=t(y);h!==void 0&&(yield h)}else if(s){if(s!==!0)throw s;return}else await new Promise(
h=>o=h)}}finally{e()}})(),{return:p}=u;return u.return=()=>(e(),d(),i(!0),p.call(u,void 0)),{messages:u,first:a,take:c,clear:d,put:y=>{n.push(y),o()},end:i}}var Kn=64,jo=4,Qo=4096,fn=(t,e)=>t instanceof me?new D(13,`not a valid ${e.name}: ${t.message}`):D.from(t);function ls(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,u=!0,p=!0,
y=!1,h=!1,v=!1,$=()=>{},A,O=()=>!u&&!p,{messages:he,clear:Q,put:te,end:Le}=pn(f=>{let g=f.length+Kn;c-=g,d+=g,p&&d*jo>=un&&(o?.write(i,5,P,d),d=0);try{let b=j(f),
S=dn(b,Xn);if(S)throw S;return Ft(b,e)}catch(b){throw fn(b,e)}},()=>n?V(!0):le()),pe=Object.assign(he,{metadata:{}}),z=()=>{O()&&($(),A?.(),o?.over(i),o=A=void 0,
r())},Y=f=>{p=!1,Le(f),z()},ne=()=>{u&&(u=!1,o?.write(i,7),z())},H=f=>{u=!1,Y(f)},V=(f,g=nn(1))=>{O()||o?.reset(i,g),Q(),H(f)},re=f=>V(f,f),le=()=>{Q(),y=!0},ae=f=>{
if(!(!o||!u)){if(f instanceof D)return Z(6,g=>ts(g,f)),u=!1,z();o.write(i,2,g=>{let{at:b}=g;Ot(g,t,f),a-=g.at-b+Kn})}},Z=(f,g)=>o?.write(f,3,b=>{P(b,i),g(b)});return{
messages:pe,begin(f,g,b){o=f,i=g,a=b},packet(f,g){if(f===2)return h=!0,!p||y?void 0:c+d>=un?re(new D(8,"the peer exceeded its credit")):(c+=g.length+Kn,te(new Uint8Array(
g)));let b=j(g);if(f===5){let S=Qe(b);v||=!S,(a+=S)>0&&$()}else if(g.length){let S=tn(L(b,10));H(new D(S,Lt(b,Qo),{mayHaveRun:!v}))}else Y(!0)},items(f,g){if(p){
!f&&h&&T("late HEADERS"),h=!0;try{if(f)return Y(es(g)??!0);s?.(pe.metadata=cn(g).metadata)}catch(b){re(fn(b,e))}}},send:ae,async pump(f,g,b){try{let S=f,R=S?.[Symbol.
asyncIterator]?.()??S?.[Symbol.iterator]?.();if(!R)throw X(3,`messages are an iterable, not ${String(f)}`);A=async()=>{try{await R.return?.()}catch{}},n||Z(5,()=>{});
for(let N;;){for(;(a<=0||o?.isFull)&&!O();)await new Promise(W=>$=W);if(O())return;if(!N)N=await R.next();else{if(N.done)break;ae(N.value),N=void 0}}A=void 0,ne(),
O()||b?.()}catch(S){if(!n)throw A?.(),A=void 0,S;V(g?Fr(S):D.from(S))}},room:()=>$(),finish:ne,discard:le,fail:re,lost:H}}var Ko=3e4,zo=5e3,Yo=20,cs=2e3,ds=10,Dt=class{constructor(e,{timeout:n,reconnectTimeout:r=zo,metadata:s,serve:o,stayConnected:i}={}){let a=n??Ko,c,d=0,u=ds,p=0,
y,h=!1,v="",$=[new Set,new Set,new Set],A=({service:f,method:{sends:g,receives:b}})=>$[f?g||b?1:0:2],O=new Set,he=[],Q=()=>{c||y||h||!($.some(({size:f})=>f)||i)||
(p=performance.now(),c=as(e,te,[...O],o,he))},te={room:f=>queueMicrotask(()=>{for(let g of $)for(let b of g){if(c!==f||!Le(b,f))break;c===f&&g.delete(b)}}),closing(f,g){
if(c===f){if(c=void 0,v=g,f.isUp)for(let b of $)b.forEach(z);f.isUp&&performance.now()-p>=cs?d=0:h||(clearTimeout(y),y=Ut(Math.random()*Math.min(Yo*2**Math.min(
d++,16),cs),()=>{y=void 0,Q()})),Q()}},answered:()=>void(d=0),replied(f,g){let b=f,{method:{reply:S},options:{onMetadata:R}}=b;ne(b);try{let N=j(g),W=Yr(N),ce=dn(
N,W);if(ce)throw ce;N.at&&R?.(W.metadata),b.resolve(Ft(N,S)),u<ds&&(u+=.1)}catch(N){b.reject(fn(N,S))}},expired:f=>Y(f),lost(f,g){let b=f;if(b.link=void 0,!b.method.
idempotent||b.sent>1||u<1)return H(b,g);u--,pe(b)}},Le=(f,g)=>{let{service:b}=f;try{return b&&g.announce(b),f.start(f,g)&&!!++f.sent}catch(S){return H(f,D.from(
S)),!0}},pe=f=>{if(!(c?.isUp&&Le(f,c))){if(h)return H(f,us(f.sent));A(f).add(f),Q(),z(f)}},z=f=>{f.reconnectsUntil=performance.now()+(f.options.reconnectTimeout??
r),Y(f)},Y=f=>{let{until:g,sent:b,reconnectsUntil:S}=f,R=performance.now(),N=A(f).has(f)&&!c?.isUp&&`no connection to the server${v&&`: ${v}`}`;clearTimeout(f.timer),
R>=g?H(f,Lr(b,N?`; ${N}`:"")):R>=S&&N?H(f,$t(14,N,b)):f.timer=Ut((R<S?Math.min(g,S):g)-R,()=>Y(f))},ne=f=>{A(f).delete(f),clearTimeout(f.timer),f.options.signal?.
removeEventListener("abort",f.abort)},H=(f,g)=>{ne(f),f.link?.cancel(f),f.reject(g)},V=(f,{sentTimeout:g,until:b,options:{metadata:S}})=>{(g!==void 0||s||S)&&Kr(
f,{timeout:g&&b-performance.now(),metadata:{...s,...S}})},re=(f,g)=>{V(f,g),Ot(f,g.method.request,g.request)},le=(f,g)=>{let b=g.call(f,re);return b&&(f.link=g),
b},ae=(f,g,b,S,R,N,W,ce)=>{let{signal:be}=S,E={id:0,operation:g.operation,until:performance.now()+ +(R??(f?a:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,
link:void 0,service:f,method:g,request:b,options:S,sentTimeout:R,start:N,resolve:W,reject:ce,abort:be&&(()=>H(E,nn(E.sent)))};return isNaN(E.until)?ce(X(3,"the \
timeout is not a number")):be?.aborted?E.abort?.():(be?.addEventListener("abort",E.abort),R!==void 0&&Y(E),(R===void 0||R>0)&&pe(E)),E},Z=(f,g,b,S={})=>{let R,N=ls(
g.request,g.reply,!0,()=>R&&ne(R),S.onMetadata);return R=ae(f,g,b,S,S.timeout,(W,ce)=>{let be=ce.open(N,E=>{V(E,W),B(E,9),P(E,W.operation)});if(be){let E=W.sentTimeout===
void 0;E&&(W.until=1/0),N.pump(b,g.sends,()=>{!E||g.receives||(W.until=performance.now()+a,Y(W))})}return be},()=>{},N.fail),N};this.unary=(f,g,b,S={})=>new Promise(
(R,N)=>void ae(f,g,b,S,S.timeout??n,le,R,N)),this.serverStreaming=(f,g,b,S)=>Z(f,g,[b],S).messages,this.twoWay=(f,g,b,S)=>Z(f,g,b,S).messages,this.clientStreaming=
async(f,g,b,S)=>{let{messages:R}=Z(f,g,b,S),{done:N,value:W}=await R.next();if(N)throw new D(13,"there is no reply");return R.return?.(),W},this.name=f=>void O.
add(f),this.mount=f=>void he.push(f),this.connected=(f,g)=>new Promise((b,S)=>{ae(void 0,{},void 0,{reconnectTimeout:g},void 0,(R,N)=>N.isFull?!1:(f?.(N),ne(R),
b(N),!0),b,S)}),this.close=()=>{h=!0,clearTimeout(y);for(let f of $)for(let g of f)H(g,us(g.sent));c?.drain()},i&&queueMicrotask(Q)}},us=t=>$t(9,"the channel is\
 closed",t);var ut=65280,Zo=16<<20,zn=64,ei=255,ti=65536,ni=4,mn={now:0,last:1,oldest:2},ps=t=>X([8,12,7][ee(t)-3]??3,oe(t,J(t))),fs=t=>{let e=L(t,10);return e>ei&&T("a top\
ic is too long"),oe(t,e)},ms=new WeakMap,Bt=class{constructor(e){this.channel=e;this.requests=new Map;this.last=0;let{requests:n}=this,r=ms.get(e);if(r)return r;
ms.set(e,this),e.mount({packet:(s,o,i,a)=>{if(i<ut)return!1;!o&&i===ut+5&&(this.refused??=ps(j(a)));for(let c of o?[n.get(o)]:n.values())c?.packet(s,o,i-ut,j(a));
return!0},down(s,o){for(let i of[...n.values()])i.down(s,o)}})}subscribe(e,{group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){await this.channel.
connected(r=>{r.write(0,ut+2,s=>{je(s,ye(e)),ue(s,jn(n))}),this.published??=r})}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.
refused=void 0,e)throw e}request(e,n,r="",s){let{channel:o,requests:i}=this;return new Promise((a,c)=>{if(i.size>=65535)throw X(8,"too many requests");do this.last=
this.last%65535+1;while(i.has(this.last));let d=this.last,u,p=0,y=0,h=!1,{first:v,messages:$,put:A,end:O,take:he}=pn(E=>(p-=E.payload.length+zn,E),()=>{i.delete(
d)&&n!==void 0&&u?.isUp&&u.write(d,ut+1)}),Q=E=>{i.delete(d),c(E),O(E)},te=r?[]:n?.split(".")??[],Le=te.at(-1)===">",pe=E=>{let F=E.split(".");return(Le?F.length>=
te.length:F.length===te.length)&&te.every((M,_)=>M===">"||M==="*"||M===F[_])},z=e===0&&!r&&s!==void 0,Y=typeof s=="object";if(Y&&!(/^[\da-f]{16}$/.test(s.epoch)&&
s.offset>=0))throw X(3,`${s.epoch}, ${s.offset} is not a position`);let ne=Y||s===void 0?mn.oldest:mn[s],H=new Map(Y?[[n,{...s,offset:s.offset+1}]]:[]),V=new Map,
re=0,le="",ae=!1,Z=!1,f=!1,g=!1,b=!1,S=()=>!n?.match(/[*>]/)&&H.size>0,R=E=>{u?.write(d,ut+E,F=>{if(n!==void 0&&je(F,ye(n)),E===6){B(F,ne);for(let[M,_]of H)_e(F,
M),Ct(F,_.epoch),P(F,_.offset)}else ue(F,ye(r))})},N=()=>{let E=H.size>0;return H=new Map,ne=mn.now,ae=!1,f=!0,E},W=E=>{o.connected(F=>{if(i.has(d)){u=F,e===3&&
((this.published??F)!==F&&(this.refused=new D(15,"the connection was lost")),this.published=void 0);try{R(z?6:e)}catch(M){if(!Z||!N())throw M;R(6)}}},E).catch(F=>{
Z&&F.code===9&&O(!0),Q(F)})},ce=()=>{b=!0,Z&&(f||!(z&&g))&&(h=!0),a($)},be=(E,F,M)=>{if(F===5&&E&&!b&&z&&M.bytes[M.at]===ni)f=!0,R(0);else if((F===5||F===6&&M.bytes[M.
at])&&E&&!b&&Z&&N())R(6);else if(F===6&&E&&M.bytes[M.at]===0){ee(M),g=ee(M)===1;let _=Ae(M,16);re=L(M,10);let k=le!==""&&le!==_;le=_,ce(),f=!1,h||=S()?!re:k}else if(F===
7)for(;J(M);){let _=fs(M),k={epoch:Ae(M,16),offset:L(M,10)};if(Number.isSafeInteger(k.offset)||T("an integer is beyond 2^53"),!b||!E&&!pe(_))continue;let G=V.get(
_);E&&!G?(re--,G=H.get(_)??(ae?{...k,offset:1}:void 0)):!E&&G?.epoch!==k.epoch&&(G=void 0),G&&g&&(E||!f)&&(G.epoch===k.epoch&&G.offset<=k.offset?y+=k.offset-G.offset:
h=!0),V.size>=ti&&!V.has(_)&&(V.clear(),f=!0),V.set(_,k)}else return!1;return!0};i.set(d,{packet(E,F,M,_){if(!(E!==u||z&&be(F,M,_)))if(M===2){let k=fs(_);if(!F&&
(!b||!pe(k)))return;let G=lt(_),Xe=V.get(k);for(Xe&&V.set(k,{...Xe,offset:Xe.offset+1}),p+=G.length+zn,A({topic:k,payload:G,position:Xe,lagged:y,reconnected:h}),
y=0,h=!1;p>Zo;){let kt=he();p-=kt.payload.length+zn;let Ee=v();Ee.lagged+=kt.lagged+1,Ee.reconnected||=kt.reconnected}}else M===4?b&&!(z&&g&&!f)&&(y+=L(_,10)):F&&
(J(_)?Q(ps(_)):ce())},down(E,F){if(E===u){if(n===void 0||!b&&!Z)return Q(F);if(b)if(re>0&&!f){f=!ae&&!S();for(let[M,_]of V)H.set(M,_)}else f?N():(H=V,ne=mn.oldest,
ae=!0);V=new Map,b=!1,Z=!0,W(1/0)}}}),W()})}};var yn="frisbee.1";function Yn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let s=new n(String(t),[yn,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===yn)return r.open();o=`the \
server does not speak ${yn}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var ri=64;var gn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of we(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of we(e))i===
2?n=Me(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=ii(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>ri)throw new me("types are nested too deeply");let a=[],c=[],d=[],u=[],p="",y=!1;
for(let{number:A,bytes:O}of we(e))A===1?p=Me(O):A===2?a.push(O):A===3?c.push(O):A===4?d.push(O):A===7?y=vs(O,7):A===8&&u.push({name:hs(O),docs:o.get(`${s},8,${u.
length}`)??""});let h=[...r,p],v=gs(n,h),$=a.map((A,O)=>si(A,o.get(`${s},2,${O}`)??""));this.messages.set(v,{name:v,package:n,path:h,docs:o.get(s)??"",fields:$,
oneofs:u,isEntry:y}),c.forEach((A,O)=>this.declare(A,n,h,`${s},3,${O}`,o,i+1)),d.forEach((A,O)=>this.declareEnum(A,n,h,`${s},4,${O}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:u,bytes:p}of we(e)){if(u===1&&(a=Me(p)),u!==2)continue;let y=0;for(let h of we(p))h.number===2&&(y=h.low|0);i.push({name:hs(p),number:y,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=gs(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},bs=t=>t===11||t===10||t===
14,gs=(t,e)=>[...t?[t]:[],...e].join(".");function si(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,u=!1;for(let p of we(t))p.number===1?n=Me(p.bytes):p.number===
3?o=p.low:p.number===4?i=p.low:p.number===5?a=p.low:p.number===6?s=Me(p.bytes).replace(/^\./,""):p.number===8?u=vs(p.bytes,3):p.number===9?c=p.low:p.number===10?
r=Me(p.bytes):p.number===17&&(d=p.low!==0);if(a<1||a>18)throw new me(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:u,
docs:e,jsonName:r||n.replace(/_(\w)/g,(p,y)=>y.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var oi=new Uint8Array,Me=t=>oe(j(t),t.length);function*we(t){
let e=j(t);for(;J(e);){let n=L(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(L(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:oi,
low:o>>>0}}else if(s===2)yield{number:r,bytes:Ke(e,L(e)),low:0};else if(s===1||s===5)Ke(e,s===1?8:4);else throw new me(`a field of the wire type ${s}`)}}function hs(t){
for(let{number:e,bytes:n}of we(t))if(e===1)return Me(n);return""}function vs(t,e){for(let{number:n,low:r}of we(t))if(n===e)return r!==0;return!1}function ii(t){
let e=new Map;for(let{number:n,bytes:r}of we(t)){if(n!==1)continue;let s="",o="",i="";for(let c of we(r))if(c.number===1){let d=j(c.bytes),u=[];for(;J(d);)u.push(
L(d));s=u.join(",")}else c.number===3?o=Me(c.bytes):c.number===4&&(i=Me(c.bytes));let a=o||i;a&&e.set(s,hn(a))}return e}var hn=t=>t.replace(/^ /gm,"").trim();var qe=t=>`f${t.number}`,ft=t=>`o${t}`,Zn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
pt=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=li(this.schema,
r),o=s.map(c=>`${qe(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>bs(c.kind)),a=U(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Zn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Zn[o.kind]}${Zn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${ft(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=ai(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},ai=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function li(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function ws(t,e,n,r){let s=r.map(({operation:i,request:a,response:c,sends:d,receives:u,isIdempotent:p})=>({
operation:i,request:t.of(a),reply:t.of(c),sends:d,receives:u,idempotent:p})),o=ze(e,n,"",Object.fromEntries(s.map((i,a)=>[`m${a}`,i])));return s.map(i=>({service:o,
method:i}))}var er={POLYGLOT:0,PROTOBUF:1},_t={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},ci=U("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),di=U("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),ui=U("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[mi]),pi=U("fr\
pc.reflection.v1.ListRequest","etag:s"),fi=U("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e docs:s isDeprecated:b formats:*s",()=>[_t]),mi=U("frpc.reflection.v1.Service","name:s fingerprint:s layout:y codec:e file:s docs:s isDeprecated:b methods:*m \
operations:*u",()=>[er,fi]),mt=ze("frpc.reflection.v1.Reflection","2827b98f5f97380f22de961eb0322afd","AQgAAQEJAAMBCQIIA0sEAAQBCQQIAkkDSQADAQkCCAMMAAkBCQIJAwwEDg\
UFCQYJBwgISwYJTQECAAIACgEJAg0DCQQIBQkGCAcOBwkJCggISQEDAAICAgRMaXN0AgABBUZpbGVzAgIDHWZycGMucmVmbGVjdGlvbi52MS5SZWZsZWN0aW9u",{list:{operation:65e3,request:pi,reply:ui,
receives:!0,idempotent:!0},files:{operation:65001,request:di,reply:ci,receives:!0,idempotent:!0}});var xs=32<<20,Te=t=>`${t.service.name}/${t.name}`,bn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Yn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Dt(o,
{stayConnected:!0}),this.channel.name(mt),this.topics=new Bt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let y of n.serverStreaming(
mt,mt.methods.list,{etag:e?.etag??""},{metadata:r})){if(y.notModified)return;o||=y.etag;for(let h of y.services){let v=s.get(h.name);v?v.methods.push(...h.methods):
s.set(h.name,h)}}let i=[],a=0;for await(let{data:y}of n.serverStreaming(mt,mt.methods.files,{},{metadata:r}))if(i.push(y),a+=y.length,a>xs)throw new D(He.RESOURCE_EXHAUSTED,
`the schema has more than ${xs} bytes`);let c=new Uint8Array(a),d=0;for(let y of i)c.set(y,d),d+=y.length;let u=new gn(c),p=new pt(u);return{etag:o,schema:u,services:[
...s.values()].map(y=>yi(y,p))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function yi(t,e){let n,r=o=>{if(t.codec!==er.POLYGLOT)throw new Error(
"its messages use the protobuf codec, which this page does not support");if(!t.file)throw new Error("the server does not have the schema of this service; build \
it with `reflection(true)`");return n??=ws(e,t.name,t.fingerprint,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.idempotency!==
_t.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:hn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=t.methods.map(
(o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.idempotency===
_t.NO_SIDE_EFFECTS?"no side effects":o.idempotency===_t.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:hn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var vn=t=>Object.entries(He).find(([,e])=>e===t)?.[0]??String(t);var gi=50;function wn(t,e,n){let r=t.slice(-gi).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Restore the request",onclick:()=>e(
s)},l("span",{className:"muted"},at(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},vn(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},de(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"No calls yet.")}var q=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},ie=()=>Object.create(null),nr=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),rr=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Ze=t=>rr.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Je(t){try{return JSON.parse(t||"{}")}catch(e){throw new q(
"",e.message)}}function et(t,e,n,r=""){let s=xi(t,e,n,r);if(s)return s;if(!nr(n))throw new q(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(y=>y.jsonName===a||y.name===a),u=r?`${r}.${a}`:a;if(!d)throw new q(u,`${e} has no such field${hi(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let p=bi(t,d,c,u);if(d.oneof===void 0)i[qe(d)]=p;else{let y=ft(d.oneof);if(i[y])throw new q(u,`${o.oneofs[d.oneof]?.name} has two \
members`);i[y]={case:qe(d),value:p}}}return i}var hi=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function bi(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!nr(n))throw new q(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[vi(o,a,r),tr(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return tr(t,e,n,r);if(!Array.isArray(n))throw new q(r,"a list is an array");return n.map((a,c)=>tr(t,e,a,`${r}[${c}]`))}function vi(t,e,n){
if(t.kind!==8)return qt(t,e,n);if(e!=="true"&&e!=="false")throw new q(n,`${e} is not true or false`);return e==="true"}var Es=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),wi=t=>[3,4,6,16,18].includes(
t),sr=t=>t in Es;function tr(t,e,n,r){if(e.kind===11)return et(t,e.type,n,r);if(e.kind!==14)return qt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new q(r,`${s} has no value ${Pt(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Pt=t=>JSON.stringify(t).slice(0,60);function qt(t,e,n=""){let{kind:r}=t,s=Es[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new q(n,`${Pt(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new q(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new q(n,`${i} is not from ${s[0]} to ${s[1]}`);return wi(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new q(n,`${Pt(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new q(n,`${Pt(e)} is not true or false`);return e}if(typeof e!="string")throw new q(n,`${Pt(e)} is not a\
 string`);return r===12?xe(e,n):e}function xi(t,e,n,r){let s=rr.test(e)&&t.message(e).fields[0];if(s)return{f1:qt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return Si(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new q(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new q(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!nr(n))throw new q(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Ht(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new q(r,"a ListValue is an array");return{f1:n.map(o=>Ht(o,0))};case"google.protobuf.Value":return Ht(n,0)}}function Si(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new q(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Ht(t,e){if(e>90)throw new q(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Ht(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,Ht(s,e+1)]))})}function Jt(t,e,n){let r=ki(t,e,n);if(r!==void 0)
return r;let s=ie();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[ft(o.oneof)],a=o.oneof===void 0?n[qe(o)]:i?.case===qe(o)?i.value:void 0;if(a===
void 0)continue;let c=Ei(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function Ei(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=ie();for(let[o,i]of n)s[String(o)]=xn(t,r,i);return s}return Array.isArray(n)?n.map(s=>xn(t,e,s)):xn(t,e,n)}function xn(t,e,n){return e.
kind===11?Jt(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?$e(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?Ai(n):n}function Ai(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function ki(t,e,n){let r=rr.test(e)&&t.message(e).fields[0];if(r)return xn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${Ss(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Ss(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return As(n);case"google.protobuf.ListValue":return n.f1.map(Sn);case"google.protobuf.Value":return Sn(n)}}function As(t){
let e=ie();for(let[n,r]of t.f1)e[n]=Sn(r);return e}function Sn(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?As(e.value):e.case==="f6"?e.value.f1.map(
Sn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var Ss=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function $e(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function xe(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new q(e,"it is no base64")}}function yt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var tt=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var ht=t=>Object.entries(t).flatMap(([e,n])=>[n].flat().map(r=>[e,r])),gt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("bu\
tton",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){
let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll("input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?xe(
s,o):s)}return e}set(e){C(this.rows);for(let[n,r]of ht(e))this.add(n,typeof r=="string"?r:$e(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key",
"aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,
autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("button",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},
"×"));return this.rows.append(o),r}},or=t=>l("dl",{className:"pairs"},...ht(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:$e(n))]));var nt=t=>ar(JSON.stringify(t)),ar=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Ie=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${ar(t).replace(/'/g,"'\\''")}'`,ks=t=>ht(t).map(([e,n])=>[e,typeof n=="string"?n:$e(n)]);function Ns({method:t,requests:e,metadata:n,
timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&i.push(`-H ${Ie(`\
connect-timeout-ms: ${Math.round(r)}`)}`);for(let[u,p]of ks(n))i.push(`-H ${Ie(`${u}: ${p}`)}`);let a=Ie(`${s}/${Te(t)}`);if(!o)return[...i,`-d ${Ie(nt(e[0]??{}))}`,
a].join(` \\
  `);let c=e.map(nt);return[`printf '${c.map(u=>`\\0${Ni(new TextEncoder().encode(u).length)}%s`).join("")}' ${c.map(Ie).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var Ni=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function Cs({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Ie(a)}`,Ie(Te(t))];for(let d of e)c.push(Ie(nt(d)));for(let[d,u]of ks(n))c.
push(`-H ${Ie(`${d}=${u}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var Nn=t=>t.replace(/\W/g,"_")||"_",Ms=t=>Nn(t).replace(/^_(?=\d)/,"-"),Ts=t=>Nn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Vt=t=>Ts(t).map(e=>e.toLowerCase()).join("_")||"_",rt=t=>Ts(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",En=t=>rt(t).replace(/^./,e=>e.toLowerCase()),Ci=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),kn=t=>Ci.has(Vt(t))?/^(self|super|crate)$/.test(Vt(t))?`${Vt(t)}_`:`r#${Vt(t)}`:Vt(t),Se=t=>ar(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function $s(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=Nn(n.service.name.
split(".").pop()??""),c=r.map(h=>Rs(e,n.request,h,0)),d=kn(n.name),u=[`let client = ${a}Client::connect(${Se(new URL(i).host)}).await?;`],p=c[0]??`${rt(n.request)}\
::default()`;n.sends&&(u.push("let (requests, source) = frpc::RequestStream::channel(16);"),p="source");let y=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...ht(s).map(([h,v])=>typeof v=="string"?`request.metadata_mut().insert(${Se(h)}, ${Se(v)})?;`:`request.metadata_mut().insert_\
bin(${Se(h)}, &[${[...v].join(", ")}][..])?;`)];return y.length>0&&(u.push(`let mut request = frpc::Request::new(${p});`,...y),p="request"),n.receives?(u.push(`\
let mut replies = client.${d}(${p}).await?.into_inner();`),u.push(...c.slice(0,n.sends?void 0:0).map(h=>`requests.send(${h}).await?;`),...n.sends?["drop(request\
s);"]:[]),u.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(u.push(`let call = client.${d}(${p});`,"let se\
nding = async {",...c.map(h=>`    requests.send(${h}).await?;`),"    drop(requests);","    Ok(())","};"),u.push("let (reply, ()) = tokio::try_join!(call, sendin\
g)?;",'println!("{:?}", reply.into_inner());')):u.push(`let reply = client.${d}(${p}).await?.into_inner();`,'println!("{reply:?}");'),u.join(`
`)}function Is({path:t,package:e}){let n=[...t.slice(0,-1).map(kn),rt(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var ir=(t,e)=>`${"\
    ".repeat(e)}${t}`;function Rs(t,e,n,r){let s=t.message(e),o=Is(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let p of s.fields){
let y=i[i[p.jsonName]===void 0?p.name:p.jsonName];if(y===void 0||y===null&&p.type!=="google.protobuf.Value")continue;let h=p.oneof===void 0?void 0:s.oneofs[p.oneof],
v=Mi(t,s,p,y,r+1),$=h?h.name:p.name;c.add($);let A=[...s.path.map(kn),rt(h?.name??"")].join("::");a.push(ir(`${kn($)}: ${h?`Some(${A}::${rt(p.name)}(${v}))`:v},`,
r+1))}let d=new Set(s.fields.map(p=>p.oneof===void 0?p.name:s.oneofs[p.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(ir(`..${o}::default()`,r+1));let u=`${o} { ${a.map(p=>p.trim().replace(/,$/,"")).join(", ")} }`;return u.length<90&&!u.includes(`
`)?u:`${o} {
${a.join(`
`)}
${ir("}",r)}`}function Mi(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([p,y])=>`(${o.kind===9?`${Se(p)}.to_\
owned()`:Ms(p)}, ${An(t,i,y,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>An(t,n,d,s)).join(", ")}]`;let a=An(t,n,r,s),c=n.kind===11&&!Ze(n.type)&&
Os(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function Os(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&Os(t,s.type,n,r))??!1)}function An(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${Se(String(n))}.parse()?`:Ze(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?An(t,s,n,r):Ze(e.type)?Ti(e.type,n):Rs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=rt(s.path[s.path.length-1]??""),a=rt(o.name);return`${Is(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...xe(String(n))].join(", ")}]`:e.kind===9?`${Se(String(n))}.to_owned()`:e.kind===1||e.kind===2?Us(Number(n),e.kind===1?"f64":"f32"):Ms(String(n))}var bt="\
frpc::prost_types::";function Ti(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${bt}FieldMask { paths: vec![${n.map(r=>`${Se(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${bt}Struct { fields: ${Ls(e)} }`:t===
"google.protobuf.ListValue"?`${bt}ListValue { values: ${Fs(e)} }`:lr(e)}function lr(t){if(t===null)return`${bt}Value::from(${bt}value::Kind::NullValue(0))`;let e=typeof t==
"string"?Se(t):typeof t=="number"?Us(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?Fs(t):Ls(t);return`${bt}Value::from(${e})`}var Fs=t=>`vec![${t.map(
lr).join(", ")}]`,Ls=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${Se(e)}.to_owned(), ${lr(n)})`).join(", ")}])`,Us=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function Ds(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=Nn(n.service.name.split(".").pop()??""),c=r.map(h=>_s(e,n.request,et(e,n.request,h))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${ht(s).map(([h,v])=>`${nt(h)}: ${typeof v=="string"?nt(v):Bs(v)}`).join(", ")} }`]],u=n.
sends?`[${c.join(", ")}]`:c[0]??"{}",p=`client.${En(n.name)}(${u}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${nt(
`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${p}) console.log(reply);`:`console.log(await ${p});`}`}var Bs=t=>`new Uint8Array([${[...t].join(", ")}])`;function _s(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=qe(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${En(i.name)}: ${$i(t,i,n[a])}`);continue}let c=n[ft(
i.oneof)];c?.case===a&&o.push(`${En(s[i.oneof]?.name??"")}: { case: "${En(i.name)}", value: ${Wt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function $i(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Wt(t,r,o)}, ${Wt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Wt(t,e,o)).join(", ")}]`:Wt(t,e,n)}function Wt(t,e,n){return n instanceof Uint8Array?Bs(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?_s(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?nt(n):String(n)}var Ps=new WeakMap;function vt(t,e){return Ps.set(t,e),t}var Gt=t=>Ps.get(t)??ie();var Hs=16<<20,cr=t=>l("textarea",{rows:1,spellcheck:!1,...t});function dr(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function ur(t){let e=se(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return vt({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=cr({id:e});return vt({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>dr(s,()=>void(s.value.
trim()&&qt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:sr(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!Ii(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!sr(n)?Number(i):i};return vt({element:s,id:e,get:()=>s.
value.trim()?Ri(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var Ii=t=>t===3||t===4||t===6||t===16||t===18,Ri=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function qs(t){let e=se(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return vt(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Js(){
let t=se(),e,n=cr({id:t,oninput:()=>y()}),r=l("select",{"aria-label":"written as",onchange:()=>p()},...["text","base64","hex"].map(v=>l("option",{},v))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let v=i.files?.[0];if(v){if(v.size>Hs){o.textContent=`${v.
name} has more than ${Hs>>20} MiB`;return}e=new Uint8Array(await v.arrayBuffer()),o.textContent=`${v.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,h.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=v=>{if(v==="text")return new TextEncoder().encode(n.value);if(v==="base64")return xe(n.
value.replace(/\s/g,""));let $=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test($))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
$.match(/../g)??[],A=>parseInt(A,16))},u=(v,$)=>{let A=$==="text"?yt(v):void 0;r.value=s=$==="text"&&A===void 0?"base64":$,n.value=r.value==="text"?A??"":r.value===
"hex"?tt(v):$e(v),y()},p=()=>{try{u(d(s),r.value)}catch{s=r.value,y()}},y=()=>dr(n,()=>void d(r.value)),h=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return vt({element:h,id:t,get(){let v=e??d(r.value);return v.length>0?$e(v):void 0},set(v){c(),u(
typeof v=="string"?xe(v):new Uint8Array,r.value)}},"")}function st(t,e,n){let r=se(),s=cr({id:r,placeholder:e,oninput:()=>dr(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var Oi=3,Mn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=Xs(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??ie()}set(e){this.editor.set(e)}example(){this.set(Ws(this.schema,this.name,[]))}};function Ws(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Ze(e)&&s)return Vs(t,s,n);let o=ie(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,u=a.oneof===void 0||r.fields.find(
v=>v.oneof===a.oneof)===a,p=d.kind===11&&(i.includes(d.type)||i.length>Oi);if(!u||p||d.kind===10||a.isDeprecated)continue;let y=Vs(t,d,i),h=c?.fields[0];h?o[a.jsonName]=
Object.assign(ie(),{[h.kind===9?"key":h.kind===8?"true":"1"]:y}):o[a.jsonName]=a.isRepeated?[y]:y}return o}function Vs(t,e,n){switch(e.kind){case 11:return Ws(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Fi(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${Cn(r)}, ${Cn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${Cn(e)}`}var Li=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],Cn=t=>Li[t.kind]||(t.type.split(".").pop()??"");function wt(t,e){
return e.kind===14?qs(t.enumeration(e.type)):e.kind===12?Js():e.kind!==11?ur(e):Ui(t,e.type)}function Ui(t,e){switch(e){case"google.protobuf.Timestamp":return st(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return st("text","1.5s");case"google.protobuf.Fiel\
dMask":return st("text","name,homeAddress.city");case"google.protobuf.Struct":return st("json",'{ "key": "value" }');case"google.protobuf.Value":return st("json",
"any JSON");case"google.protobuf.ListValue":return st("json","[1, 2]")}let n=Ze(e)?t.message(e).fields[0]:void 0;if(!n)return Xs(t,e);let r=wt(t,n);return{...r,
get:()=>r.get()??Gs(n)}}var Gs=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function Xs(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=Hi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=Di(t,i);s.append(js(i.name,Fi(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=ie();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:ie();for(let{take:c}of r)c(a)}}}
function js(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function Di(t,e){let n=t.entry(e);return n?Pi(t,n):e.isRepeated?_i(()=>wt(t,e)):
e.isOptional||e.kind===11?Bi(()=>wt(t,e),()=>e.kind===11?ie():Gs(e)):wt(t,e)}function Bi(t,e){let n=se(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?C(o,(r??=t()).element):C(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Qs=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function _i(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,Qs(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Ks(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Gt(o)):void 0,set(o){e=[],C(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Ks=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function Pi(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let u={key:ur({...n,kind:n.kind===8?9:n.kind}),value:wt(
t,r)};u.key.element.classList.add("key"),u.key.element.setAttribute("aria-label","key"),c!==void 0&&u.key.set(c),d!==void 0&&u.value.set(d),s.push(u);let p=l("d\
iv",{className:"item"},u.key.element,u.value.element,Qs(()=>{s=s.filter(y=>y!==u),p.remove()}));return o.append(p),u.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Ks(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=ie();for(let{key:d,value:u}of s)c[String(
d.get()??Gt(d))]=u.get()??Gt(u);return c},set(c){if(s=[],C(o),typeof c=="object"&&c!==null)for(let[d,u]of Object.entries(c))i(d,u)}}}function Hi(t,e,n){let r=e.
fields.filter(y=>y.oneof===n),s=se(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(y=>l("option",{value:y.jsonName},`${y.name}: ${Cn(y)}`))),c=y=>{a.value=y;let h=r.find($=>$.jsonName===y);if(!h)return void C(o);let v=i.get(y)??wt(t,h);return i.
set(y,v),v.id&&document.getElementById(v.id)?.setAttribute("aria-label",h.name),C(o,v.element,h.docs&&l("p",{className:"docs"},h.docs)),v},{name:d,docs:u}=e.oneofs[n]??
{name:"oneof",docs:""},p={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:js(d,"oneof",u,p,!1),get(){let y=i.get(a.value);return a.
value&&y?Object.assign(ie(),{[a.value]:y.get()??Gt(y)}):ie()},set(y){let h=y,v=r.find($=>(h[$.jsonName]??h[$.name])!==void 0);c(v?.jsonName??"")?.set(v&&(h[v.jsonName]??
h[v.name]))}}}var pr=1e5,qi=90;function zs(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return C(t,n,r,s),()=>{C(n,...Ji(e)),C(r,e.isOver&&e.status&&Wi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),or(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),u=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+u>e.messages.length;)s.firstElementChild?.remove();for(let p of e.messages.slice(d))(i||!p.isSent)&&s.append(
Xi(p,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function Ji(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${vn(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},de(t.took),o&&`, ${o}`)]}function Vi(t){return t!==He.CANCELLED&&t!==He.DEADLINE_EXCEEDED&&t!==He.UNAVAILABLE}function Wi({
status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block failure"},l("p",{},t?.message??""),t&&!(t.mayHaveRun&&Vi(t.code))&&l("p",{className:"\
muted"},t.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} bytes`),e.length>0&&l("pre",{className:"code"},yt(e)??tt(
e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).length>0&&or(t.metadata))}function Gi(t){let e=t.replace(
/\n\s*/g," ");return e.length<=qi?e:t}function Xi(t,e){let n=e?Gi(t.json):t.json,r=l("pre",{className:"code",tabIndex:0},Kt(n.slice(0,pr)),n.length>pr&&`
… ${n.length-pr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${de(t.at)}`),l("span",{className:"grow"}),it(()=>n)),r)}var ji=500,Qi=16<<20,Tn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new fr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=D.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Jt(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>ji||this.chars>Qi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},fr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Ki=["Form","JSON","Copy as"],Ys={curl:Ns,frpc:Cs,Rust:$s,TypeScript:Ds};function mr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var $n=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new gt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:se(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Bn(Ki,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new Mn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called by this page: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),C(this.output,
l("p",{className:"empty"},"No calls yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=et(this.
catalog.schema,this.method.request,Je(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.
run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){e!==
void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Je(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=r===
void 0?"":String(r)}header(){let{method:e}=this,n=mr(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Je(this.json.value))}),this.tab=e,e==="Form"?C(this.body,this.form?.element):e==="JSON"?C(this.body,this.json):this.attempt(()=>C(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Je(a.json)),s=n.sends&&r&&r.
length>0?r:[Je(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=Bn(Object.keys(Ys),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Ys[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),it(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new Tn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:zs(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Te(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));C(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var zi={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Yi=U("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Zi=U("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),ea=U("frpc.introspection.v1.CloseCount","kind:s count:w"),ta=U("frpc.introspection.v1.CodeCount","code:i count:\
w"),yr=U("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[zi]),na=U("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Yi,pa,yr,aa]),ra=U("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),sa=U("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[yr]),oa=U("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),ia=U("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[ta]),aa=U("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),la=U("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[ia]),Zs=U("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m translated:*m",()=>[ea,Zi,ga,la,
fa]),ca=U("frpc.introspection.v1.ServerConnections","connections:*m server:m",()=>[yr,Zs]),da=U("frpc.introspection.v1.ServersReply","servers:*m",()=>[Zs]),ua=U(
"frpc.introspection.v1.ServersRequest",""),pa=U("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),fa=U("frpc.intros\
pection.v1.TranslatedService","name:s calls:w skippedFields:w layouts:*s"),ma=U("frpc.introspection.v1.WatchReply","servers:*m",()=>[ca]),ya=U("frpc.introspecti\
on.v1.WatchRequest","intervalMs:u connections:u"),ga=U("frpc.introspection.v1.Worker","tasks:w ready:w polls:w threadsGivenUp:w"),In=ze("frpc.introspection.v1.I\
ntrospection","bd16b32c178276e1068b286a315fbc97","ARYAAAABAUsIAAMBCQIEAw0AAgIEAUsJAAIBCQIEAAUFCQNLCgRLCwErCQIrDAACAQ0CDQABAUsNAAwBCQIEAwQEBAUEBgQHBAhLDglLDwpLEA\
tLEQxLEgAMAQQCCQMJBAQFDhMGBAcECAQJBAoECwgMCAAFAQ0CCQMEBAQFCAAGAQ0CCAMDBAgFBAYEAAUBDQINAw0EDQUNAAICSwkBKwgAAgEJAgQABAEJAgkDCQQEAAQBBAIEAwQEBAADAQkCDQMrFAAEAQkDBA\
QEAkkBBAACAgIABgEEAwQEBAUEBgQCSxUAAgEFAgQEB1NlcnZlcnMAAAELQ29ubmVjdGlvbnMAAgMKQ29ubmVjdGlvbgAEBQVXYXRjaAIGByNmcnBjLmludHJvc3BlY3Rpb24udjEuSW50cm9zcGVjdGlvbg==",
{servers:{operation:65030,request:ua,reply:da,idempotent:!0},connections:{operation:65031,request:oa,reply:sa,idempotent:!0},connection:{operation:65032,request:ra,
reply:na,idempotent:!0},watch:{operation:65033,request:ya,reply:ma,receives:!0,idempotent:!0}});var St=12e4,gr=2e3,[Ve,We,Ge,Et]=[480,120,44,16];function hr(t){let e=fe("svg",{viewBox:`0 0 ${Ve} ${We}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=fe("text",{x:Ge+(Ve-Ge)*n,y:We-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function br(t,e,n){let r=fe("text",{x:Ge-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(fe("line",{x1:Ge,x2:Ve,y1:e,y2:e,class:"grid"}),r)}var xt=We-Et-
8;function eo(t,e){let n=hr("Calls and errors in the last two minutes"),r=St/gr,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/gr);for(let{beganAt:c,
took:d,code:u}of t){let p=s[r-1-(o-Math.floor((c+d)/gr))];p&&p[u===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])br(
n,We-Et-xt*c,String(Math.round(i*c)));let a=(Ve-Ge)/r;return s.forEach(({ok:c,failed:d},u)=>{let p=(y,h,v)=>{h>0&&n.append(fe("rect",{x:Ge+u*a+.75,width:a-1.5,y:We-
Et-(y+h)/i*xt,height:h/i*xt,class:v}))};p(0,d,"failed"),p(d,c,"ok")}),n}function At(t,e){return[...t.filter(({at:n})=>e.at-n<St),e]}var to=(t,e,n,r)=>e.map((s,o)=>fe(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),no=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function Rn(t,e,n,r,s,o){let i=hr(`${t}, in the last two minutes`),a=no(e,s),c=d=>We-Et-d/a*xt;for(let d of[0,.5,1])br(i,c(a*d),o(a*d));return i.append(...to(e,
n,d=>Ve-(Ve-Ge)*(r-d)/St,c)),i}function vr(t,e,n,r){let s=no(e,1e-9),o=fe("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...to(e,n,i=>120-120*(r-i)/St,i=>19-i/s*18)),o}function ro(t,e){let n=hr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<St),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)br(n,We-Et-xt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},u)=>{let p=Ve-(Ve-Ge)*(e-a-c)/St,y=We-Et-xt*((s[u]??0)-o)/(i-o);n.append(fe("circle",{cx:p,
cy:y,r:2.5,class:d===0?"ok":"failed"}))}),n}function so(t){let e=t.slice(-40),n=fe("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(fe("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var oo=1e3,ha=256,ba=50,On=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===In.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(In,In.methods.watch,{intervalMs:oo,connections:ha},{signal:s,metadata:r});for await(let{servers:i}of o)
C(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||C(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},oo)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(p=>[p.name,wa(p,s?.methods.
get(p.name),r,s?.at)])),i=p=>wr([...o.values()].map(({rates:y})=>y.at(-1)?.values[p]??0)),a=wr(n.map(p=>Number(p.streams))),c=wr(n.map(p=>Number(p.queued))),d={
at:r,methods:o,rates:s?At(s.rates,{at:r,values:[i(0),i(1)]}):[],open:At(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:At(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let u=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},xa(e),l("div",{className:"plots"},
Sr(["Calls of all clients per second, ",va("errors")," below"],Rn("Calls and errors of all clients per second",d.rates,["curve","curve failed"],r,4,io)),Sr(["Co\
nnections, and ",ao("streams"),u],Rn("Connections and streams",d.open,["curve","curve second"],r,4,io)),Sr(["Queued bytes",u,", and ",ao("held for clients")],Rn(
"Queued bytes, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,p=>Xt(BigInt(Math.round(p)))))),this.table(e,o,r),lo(["connection","age","call\
s","oldest call","streams","queued","memory"],n.slice(0,ba).map(Sa)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.get(o);return a&&a.calls>
0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),lo(["method","in a second","cal\
ls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:u,times:p})=>[o,a.toFixed(a<10?1:0),c,
d,xr(i?.p50Ns),xr(i?.p99Ns),xr(i?.maxNs),vr(`Calls and errors of ${o}, in the last two minutes`,u,["curve","curve failed"],r),vr(`Average latencies of ${o}, in \
the last two minutes`,p,["curve"],r)]))}},wr=t=>t.reduce((e,n)=>e+n,0),io=t=>String(Math.round(t)),xr=(t=0n)=>de(Number(t)/1e6),va=t=>l("span",{className:"faile\
d"},t),ao=t=>l("span",{className:"second"},t),Sr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function wa({figures:t},e,n,r=n){let s=(t?.failed??[]).reduce((d,{
count:u})=>d+u,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,c=Number(o-e.calls);
return{calls:o,failed:s,spent:i,rates:At(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?At(e.times,{at:n,values:[Number(i-e.spent)/c/1e6]}):e.times}}
function xa({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i,translated:a}){let c=[["server",t],["connections",`${e} open, ${n} in all`],["held\
 for clients",`${Xt(s)} of at most ${Xt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((d,{tasks:u})=>d+u,0n)}\
 tasks`],...a.map(({name:d,layouts:u,calls:p,skippedFields:y})=>[`other versions of ${d}`,`${u.length} in use, ${p} calls, ${y} fields skipped`])];return l("dl",
{className:"facts"},...c.map(([d,u])=>l("div",{},l("dt",{},d),l("dd",{},u))))}var Sa=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,queued:o,memory:i})=>[t||
"unknown",de(Number(e)),n,n>0n?de(Number(r)):"",s,Xt(o),Xt(i)];function lo(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",{},l("tr",{},...t.map(
(n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"count":""},r instanceof Node?
r:String(r))))))))}function Xt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:`${(e/1e9).toFixed(1)}\
 GB`}var Ea=1e3,Fn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new On(e,r);let i=new gt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"For example a token. Kep\
t until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),Ea)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((u,p)=>u+
p.methods.length,0)??0,a=[["connection",n==="open"?`open since ${at(r.since)}`:n],["connections made",String(r.connections)],["sent",co(r.sent)],["received",co(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];C(this.facts,...a.map(([u,p])=>l("div",{},l("dt",{},u),l("dd",{},p))));let c=Date.
now();C(this.plots,l("figure",{},l("figcaption",{},"Calls per two seconds, ",l("span",{className:"failed"},"errors")," below"),eo(s.all,c)),l("figure",{},l("fig\
caption",{},"Latency of each call; of a stream, its duration"),ro(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,C(this.methods,s.all.length>0&&this.table()),C(this.history,wn(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(de(o)),e(de(i)),e(de(a)),l("td",{},so(c)))})))}};function co(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var uo=500,po=2e4,Ln=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:se()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:se(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:se(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:se(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:u=>{u.preventDefault(),this.problem.textContent="",c().catch(p=>this.problem.textContent=p.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. In a pattern, * matches one token, and a fin\
al > all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.
watch(n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>C(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new pt(e.schema)},C(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Stop watching ${e}`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=xe(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Jn(this.schema.tables.of(r),et(this.schema.catalog.schema,r,Je(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
uo&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${at(Date.now())}`),l("span",{className:"grow"}),it(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?Kt(o):o)))}for(this.waiting=[];this.log.childElementCount>uo;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Jt(this.schema.catalog.schema,n,Vn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${tt(e.subarray(0,po))}`}let r=e.subarray(0,po);return(n==="hex"?void 0:yt(r))??tt(r)}};var Aa=[["/","filter the methods"],["↑ ↓","move through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","cancel t\
he call"],["?","show the keys"]],[fo,Er,mo,jt,kr]=[ve("services"),ve("main"),ve("state"),ve("filter"),ve("keys")],Re=new bn(`${location.origin.replace(/^http/,"\
ws")}/`,()=>ka()),Dn=new zt,Un=new Map,go=new Ln(Re),Oe,Qt="",yo=!1,Fe,Ar=0,Nr=new Fn(Re,Dn,()=>Oe,t=>vo(t),()=>void ho(!0));async function ho(t){let e=++Ar,n=t?
void 0:Oe;try{let r=await Re.catalog(n);if(e!==Ar)return;if(Qt="",r){Oe=r;for(let[s,o]of Un)o.isBusy||Un.delete(s);go.know(r)}}catch(r){if(e!==Ar)return;Qt=r.message}
Cr(),Mr(),yo=await Re.hasBroker(),ve("to-topics").hidden=!yo}function ka(){mo.textContent=Re.wire==="open"?"connected":Re.wire==="lost"?"connection lost":"conne\
cting",mo.className=`state ${Re.wire}`,Re.wire==="open"&&setTimeout(()=>void ho(!1))}function Cr(){let t=jt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>Te(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Oe?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),C(fo,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||jt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Te(c),u=mr(c),p=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:u.name,"aria-label":u.name,role:"img"},u.sign));return d===n&&p.setAttribute(
"aria-current","page"),l("li",{},p)}))))),r.length===0&&C(fo,l("p",{className:"empty"},Oe?"No matching methods.":Qt?"No services.":"Loading the services…"))}function Mr(){
let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute("aria-cu\
rrent","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Fe=void 0;let e=Oe?.services.flatMap(n=>n.methods).find(n=>Te(n)===t);
if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")C(Er,go.element);else if(e&&Oe)Fe=Un.get(t)??new $n(Re,Oe,e,Dn),
Un.set(t,Fe),C(Er,Fe.element,Ca(t));else{let n=t&&Oe?`The server has no method ${t}.`:"";C(Er,Qt&&Na(),n&&l("p",{className:"notice"},n),Nr.element),Nr.draw()}}function Na(){
return l("div",{className:"notice"},l("p",{},`The schema of the server could not be loaded: ${Qt}.`),l("p",{className:"muted"},"The console needs a server with \
Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Ca(t){let e=l("div",{}),n=()=>C(
e,wn(Dn.all.filter(r=>r.path===t),vo,!0));return n(),bo=n,l("section",{className:"past"},l("h2",{},"History"),e)}var bo=()=>{};Dn.listen(()=>{bo(),Nr.draw()});function vo(t){
location.hash===`#/${encodeURI(t.path)}`?Fe?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Fe?.restore(t),{once:!0}))}function Ma(t){
let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,
n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.key==="Enter"&&r)t.shiftKey?Fe?.
end():Fe?.send();else if(t.key==="Escape"&&!kr.open){if(!Fe?.cancel())return}else if(t.key==="/"&&!n)jt.focus();else if(t.key==="?"&&!n)kr.showModal();else if((t.
key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))Ma(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});addEventListener("ha\
shchange",Mr);jt.addEventListener("input",Cr);ve("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains(
"listing")&&jt.focus()});ve("help").addEventListener("click",()=>kr.showModal());C(ve("key-list"),...Aa.flatMap(([t,e])=>[l("dt",{},...t.split(" ").map(n=>l("kb\
d",{},n))),l("dd",{},e)]));Cr();Mr();})();
