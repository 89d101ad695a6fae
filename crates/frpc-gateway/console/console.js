"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return $r(r,...n),r}function $r(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function C(t,...e){t.replaceChildren(),$r(t,...e)}function me(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function ve(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var xo=0,re=()=>`e${++xo}`;function Un(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function ot(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Xt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Qt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function ce(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var it=t=>new Date(t).toTimeString().slice(0,
8);var So=new TextEncoder,Eo=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Ir=40,ye=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
$=t=>{throw new ye(t)},Q=t=>({bytes:t,at:0,depth:0,memory:0}),kt=(t=64)=>Q(new Uint8Array(t)),Kt=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,ge=t=>So.encode(
t);function zt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function B(t,e){t.at===t.bytes.
length&&zt(t,1),t.bytes[t.at++]=e}function Rr(t,e){B(t,e>>8),B(t,e)}function _(t,e){for(;e>127;e=Math.floor(e/128))B(t,e|128);B(t,e)}function de(t,e){zt(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}function Xe(t,e){_(t,e.length),de(t,e)}function _e(t,e){let{at:n}=t,{length:r}=e,s=r>Ir?128:0;B(t,r);for(let o=0;o<r&&s<128;o++)
B(t,s=e.charCodeAt(o));s>127&&(t.at=n,Xe(t,ge(e)))}function he(t,e,n){B(t,e);let{at:r}=t;n();let s=t.bytes.slice(r,t.at);return t.at=r,Xe(t,s),s.length>0}var Nt=({
bytes:t,at:e})=>t.subarray(0,e),V=({bytes:t,at:e})=>t.length-e,Pe=({bytes:t,at:e})=>t[e],z=t=>t.bytes[t.at++]??$("truncated");function ke(t,e){let n=z(t);n!==e&&
$(`found byte ${n}, expected ${e}`)}function F(t,e=5){let n=0;for(let r=1,s=e;s-- >0;r*=128){let o=z(t);if(n+=(o&127)*r,o<128)return e>5?n:n>>>0}return $("a num\
ber is too long")}function Qe(t){let{at:e}=t,n=F(t,10);return(V(t)||t.bytes[e+9]>1)&&$("malformed number"),n}function Ne(t,e=F(t)){return e>V(t)&&$("truncated"),
t.bytes.subarray(t.at,t.at+=e)}var Ct=t=>Q(Ne(t,F(t,10))),at=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function se(t,e=F(t)){let{bytes:n,at:r}=t,s="",o=0;
if(e<=Ir)for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=Ne(t,e);try{return Eo.decode(i)}catch{$("a text is not UTF-8")}}return t.at+=
e,s}var He=Ao();var D=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,Yt(n),{cause:n})}};function Ao(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var Yt=t=>t instanceof Error?t.message:String(t),W=(t,e)=>new D(t,e,{mayHaveRun:!1}),
Or=t=>{let e=D.from(t);return e.mayHaveRun?e:new D(e.code,e.message,{...e,mayHaveRun:!0})},Zt=t=>t>0&&t<=16?t:2,Mt=(t,e,n)=>new D(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),
en=t=>Mt(1,"the caller cancelled the call",t),Fr=(t,e="")=>Mt(4,`deadline exceeded${e}`,t);var sn=100,ko=64<<20,No=12,_n=8,Pn=56,Bn=new Uint8Array(8),Lr=new DataView(Bn.buffer);function U(t,e,n){let r;return{name:t,fields:()=>r??=Co(e,n?.()??[])}}function Hn(t,e){
let n=kt(256);return It(n,t,e),Nt(n)}function qn(t,e){let n=r=>r.toString(16).padStart(2,"0");return e[0]===18&&$(`message ${t.name} with the layout ${[...e.subarray(
1,17)].map(n).join("")} cannot be compared`),Rt(Q(e),t)}function It(t,e,n){t.depth=sn,Dr(t,e,n)}function Rt(t,e){return t.depth=sn,t.memory=Math.max(ko,V(t)*No),
_r(t,e)??Pr(t,e)}function Co(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);if(!o)throw new Error(
`invalid table entry: ${s}`);let[,i,a,c,d,u]=o,p=u==="m"?$o(e[r++]):u==="e"?Ro(e[r++]):rn[u],m=rn[d[1]??""],h=m?[2,m.wire,p.wire,10]:d==="*"?[1,p.wire,10]:void 0,
v=a?n.get(a):void 0;a&&!v&&n.set(a,v=[]);let L={name:a??i,of:p,isOptional:d==="?",key:m,head:h,case:i,number:+c,all:v};return v?.push(L),L})}var nn=({head:t,key:e,
isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Dr(t,e,n){if(!t.depth--)throw Br(e.name,`nests deeper than ${sn}`);B(t,8),B(t,0);let r="";try{for(let s of e.
fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)Mo(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(p=>p.case===c?.case);if(c&&!d)throw new Error(`has no member\
 ${c.case}`);t.isFlat||(B(t,3),_(t,d?d.number:0));let u=t.isFlat?s:d;u&&lt(t,u.of,u===d?c?.value:void 0)}}}catch(s){throw s instanceof D?s:Br(`${e.name}.${r}`,s.
message)}t.depth++}function Mo(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=nn(e)),r){let i=n,a=n,c=s?i.size:a.length;Me(c>=0,n);for(let d of r)
B(t,d);if(_(t,c),s)for(let[d,u]of i)lt(t,s,d),lt(t,o,u);else for(let d of a)lt(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?B(t,0):lt(t,o,n)}function lt(t,e,n){
e.table||B(t,e.wire),e.put(t,n===void 0?e.zero():n)}function _r(t,e){if(Pe(t)===0)return void t.at++;ke(t,8),z(t),t.depth--||$(`${e.name} nests deeper than ${sn}`);
let n=e.fields();Jn(t,Pn+_n*n.length);let r={},s="";for(let o of n){let{name:i,all:a,of:c}=o,d=a&&a[0]===o;if(d&&(r[i]=void 0),!a)r[i]=To(t,o);else if(d&&Pe(t)===
3){t.at++,s+=` ${i} `;let u=F(t),p=a.find(m=>m.number===u);p?r[i]={case:p.case,value:Dn(t,p.of)}:u&&$(`${e.name}.${i} has no member ${u}`)}else if(!s.includes(`\
 ${i} `)){let u=Tt(t,c);(u instanceof Uint8Array?u.length:!Object.is(u,c.zero()))&&(r[i]={case:o.case,value:u})}}return t.depth++,r}function To(t,e){let{head:n,
key:r,of:s}=e;if((r||e.isOptional)&&Pe(t)===0)return t.at++,nn(e);if(!n)return Tt(t,s);for(let a of n)ke(t,a);let o=F(t),i=nn(e);for(;o-- >0;)Jn(t,r?Pn:_n),r?i.
set(Tt(t,r),Dn(t,s)):i.push(Dn(t,s));return i}function Tt(t,{wire:e,table:n,take:r,isEnum:s}){return s&&Pe(t)===12?Tt(t,rn.i):(n||ke(t,e),r(t))}var Dn=(t,e)=>Tt(
t,e)??Pr(t,e.table);function Pr(t,e){let n={},r=e.fields();Jn(t,Pn+_n*r.length);for(let s of r)n[s.name]=s.all?void 0:nn(s);return n}function Jn(t,e){(t.memory-=
e)<0&&$("exceeds the memory limit")}var Ce=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),$o=t=>Ce(3,()=>{},(e,n)=>n?Dr(e,t,n):B(e,0),e=>_r(e,t),t),Io=65536;
function Ro(t){let e=Object.values(t);return{...Ce(10,()=>e[0],(r,s)=>{let o=e.indexOf(s),i=s+2147483648,a=s<0&&i>=e.length;Me(o>=0||s===(s|0)&&(a||!r.isFlat),s),
o>=0||a&&(r.isFlat||i<Io)?_(r,o<0?i:o):(r.at--,lt(r,rn.i,s))},r=>{let s=F(r),o=s-2147483648;return s>=e.length&&(o>=0||e.includes(o))&&$(`an enum has the index ${s}`),
e[s]??o}),isEnum:!0}}var tn=(t,e)=>Ce(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return _(n,i);
Me((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)B(n,Number(a&127n)|128);_(n,Number(a))},n=>{let{at:r}=n,s=F(n,10);if(s<=
Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):
o}return e?(Number.isSafeInteger(Number(s))||$("an integer is beyond 2^53"),Number(s)):BigInt(s)}),Ur=(t,e)=>Ce(t,()=>0,(n,r)=>{Me(typeof r=="number",r),Lr[e>4?
"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)B(n,Bn[s])},n=>{for(let r=0;r<e;r++)Bn[r]=z(n);return Lr[e>4?"getFloat64":"getFloat32"](0)}),rn={b:Ce(7,()=>!1,
(t,e)=>{Me(typeof e=="boolean",e),B(t,+e)},t=>{let e=z(t);return e>1&&$(`a bool is ${e}`),e>0}),i:Ce(12,()=>0,(t,e)=>{Me(e===(e|0),e),_(t,(e<<1^e>>31)>>>0)},t=>{
let e=F(t);return e>>>1^-(e&1)}),u:Ce(10,()=>0,(t,e)=>{Me(e===e>>>0,e),_(t,e)},t=>F(t)),l:tn(!0,!1),w:tn(!1,!1),L:tn(!0,!0),W:tn(!1,!0),f:Ur(14,4),d:Ur(15,8),s:Ce(
5,()=>"",(t,e)=>{Me(typeof e=="string",e),B(t,10),_e(t,e)},t=>(ke(t,10),se(t))),y:Ce(4,()=>new Uint8Array,(t,e)=>{Me(Kt(e),e),B(t,10),Xe(t,e)},t=>(ke(t,10),new Uint8Array(
Ne(t))))},Br=(t,e)=>W(3,`${t} ${e}`);function Me(t,e){if(!t)throw new Error(`cannot be the ${typeof e} ${String(e)}`)}var Ke=(t,e,n,r)=>({name:t,fingerprint:e,layout:n,methods:r,operations:Object.values(r).map(({operation:s})=>s).sort((s,o)=>s-o)}),Hr=(t,e)=>e.match(/../g)?.forEach(
n=>B(t,parseInt(n,16)));function on(t,e){_e(t,e.name),Hr(t,e.fingerprint);let n=0;for(let r of e.operations)_(t,r-n),n=r}function Vn(t){let e="";for(;e.length<32;)
e+=z(t).toString(16).padStart(2,"0");return e}function qr(t,e,n=""){for(let r of atob(n))B(t,r.charCodeAt(0));n||(B(t,0),Hr(t,e))}function Jr(t){let e=se(t,F(t,
10)),n=[],r={fingerprint:Vn(t),operations:n};for(let s=0;V(t);)n.push(s+=F(t,10));return[e,r]}var Vr=16,Wr=65536,Oo=1e3,Gr=256,jr=61440,Gn={metadata:{}},Xr=t=>[t].flat(),Wn=t=>t.endsWith("-bin"),Qr=(t,e)=>Wn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${t}
${Wn(t)?"":e}`);function jn(t){if(typeof t=="string")return ge(t);if(!Kt(t))throw W(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Kr(t,e){
let{at:n}=t;he(t,Vr,()=>zr(t,e))||(t.at=n)}function zr(t,{timeout:e,metadata:n={},status:r}){let{at:s}=t;e!==void 0&&he(t,1,()=>_(t,Math.min(Math.max(0,Math.round(
e*1e3)),Number.MAX_SAFE_INTEGER)));let o=0,i=0;for(let[a,c]of Object.entries(n))for(let d of Xr(c)){if(!Qr(a,d))throw W(3,`invalid metadata entry ${a}: keys hav\
e a-z 0-9 - _ . and values printable ASCII, or bytes under -bin`);if(o+=a.length+d.length+8,++i>Gr||o>jr)throw W(8,"too much metadata");he(t,2,()=>{_e(t,a),de(t,
jn(d))})}if(r){let{code:a,details:c,mayHaveRun:d}=r;he(t,3,()=>{_(t,a),t.at-s+c.length+32<=Wr&&de(t,c)}),d||he(t,5,()=>{})}}function Yr(t,e=!1){if(Pe(t)!==Vr)return Gn;
t.at++;let n=Ct(t);return V(n)>Wr&&$("a prefix is too long"),an(n,e)}function an(t,e=!1){let n=Object.create(null),r={metadata:n},s=0,o=0,i=0;for(;V(t);){let a=z(
t),c=Ct(t);if(a>127){let d=`prefix item ${a} must be understood and is unknown`;throw e?W(12,d):new ye(d)}if([1,3,5,6,8].includes(a)&&(i>>a&1&&$(`prefix item ${a}\
 occurs twice`),i|=1<<a),a===1)r.timeout=Qe(c)/1e3;else if(a===2){let d=se(c,F(c,10)),u=Wn(d)?at(c):se(c,V(c));o+=d.length+u.length+8,(!Qr(d,u)||++s>Gr||o>jr)&&
$("invalid metadata"),n[d]=d in n?[...Xr(n[d]),u]:u}else a===3?(r.code=F(c,10),r.details=at(c)):a===5?r.isRefused=!0:a===8&&(r.text=Ot(c))}return r}var Ot=(t,e)=>new TextDecoder().
decode(at(t).subarray(0,e)),Zr=({metadata:t,code:e,details:n,isRefused:r},s="")=>new D(Zt(e??0),s,{metadata:t,mayHaveRun:!r,...n&&{details:n}});function ln(t,e){
if(Pe(t)===6)return t.at++,ke(t,5),ke(t,10),Zr(e,se(t))}function es(t){let e=an(t);return e.code??e.isRefused?Zr(e,e.text):void 0}function ts(t,e){zr(t,{status:e,
metadata:e.metadata}),he(t,8,()=>de(t,ge(e.message.slice(0,Oo))))}var Xn=5<<20,Fo=1024,ns=65536,Lo=128,Uo=32768,ct=10,ze=16384,rs=32768,Bo=ze/2,Do=256,cn=262144,_o=1e5,Po=64<<20,ss=8<<20,Ho=10,qo=65536,Jo=2e3,Vo=5,Wo=1e4,os="t\
he server is going away",is=200,Go=2147483647,Ft=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),Go));function as(t,e,n,r,s){let o=kt(16384),i=new Map,a=new Map,c=new Set(
n),d=[],u=0,p=0,m=0,h=0,v=0,L=32767,A=[0,Xn,1/0,ze,0],R=!1,ue=!1,Z,K=ct,Ee=0,pe=!1,J=0,ee=!1,G=!1,j=0,X,te=f=>{if(!(R||!Ae))try{f(Ae)}catch(w){P(Yt(w));try{Ae.close()}catch{}}},
ne=()=>{o.at&&(ee=!1,G=!0,te(f=>f.send(Nt(o))),o.at=J=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),te(f=>{let w=f.buffered();w>Po?M("too many unsent \
bytes"):w>ss&&!E.isFull&&(E.isFull=!0,le())}))},le=()=>te(f=>{if(f.buffered()>ss/2)return void Ft(Ho,le);E.isFull=!1,e.room(E)}),g=()=>{o.at!==J?(J=o.at,queueMicrotask(
g)):(pe=!1,ne())},y=(f,w,S,T)=>{let{at:ae}=o;try{zt(o,ct),o.at+=ct,S?.(o,T);let Ue=o.at,Be=Ue-ae-ct,De=w===3?ns:Math.max(A[1],Fo);if(Be>De)throw W(8,`the messag\
e has ${Be} bytes of at most ${De}`);o.at=ae;for(let st of[15,f,w,Be>>>16,Be])Rr(o,st);o.at=Ue}catch(Ue){throw o.at=ae,Ue}o.at>qo?ne():pe||(pe=!0,J=0,queueMicrotask(
g))},b=(f,{code:w,message:S},T=7)=>y(f,T,ae=>{_(ae,w),de(ae,ge(S.slice(0,is)))}),x=(f,w)=>{y(f,5,_,0),b(f,w)},N=f=>{if(!R){if(j=0,Z){if(de(Z,f),Z.at<K)return;f=
Nt(Z),Z=void 0}try{let w=0,S=T=>f[w+T]<<8|f[w+T+1];for(;!R&&!(f.length<(K=w+ct));w=K){S(0)!==15&&$("a header without its magic");let T=S(6)*65536+S(8);if(T>(S(4)===
3?ns:Xn)&&$(`a packet of ${T} bytes`),f.length<(K+=T))break;I(S(2),S(4),f.subarray(w+ct,K))}w<f.length&&(K-=w,de(Z=kt(),f.subarray(w)))}catch(w){let S=w.message;
E.isUp&&b(4,new D(13,S),3),M(`the server broke the protocol: ${S}`)}}},I=(f,w,S)=>{let T=Q(S),ae=w===3&&(f===5||f===6),Ue=ae?F(T,10):f;Ue>65535&&$(`stream ${Ue}`);
let Be=i.get(Ue);if(w>=10){E.isUp||$("a packet before HELLO");let De=f>=rs,st=d[f%ze];if(!De&&st?.id===f&&st.operation===w)return be(f),e.answered(),st.isGivenUp?
p--:e.replied(st,S),k();if(s.filter(wo=>wo.packet(E,f,w,S)).length)return;if(De&&q)return q.packet(f,w,S,!1)}else if(w<2){S.length&&$("a PING with a body"),w===
1?E.isUp||M("the server is a compat peer"):ee||(ee=!0,y(0,1));return}else{if(w===3&&!E.isUp&&!f)return ie(T);if(w===3&&f===4)return M(`closed by the server with\
 code ${F(T,10)}: ${Ot(T,is)}`);if(w===3&&f===1)return Y(T);if(w===3&&f>=Uo)$(`packet type ${f} must be understood and is unknown`);else{if(w===4)return O();if(w===
6)return q?.cancel(f,F(T,10));if(w===8)$("a stray hand-off");else{if(Be&&(ae||w!==3&&w<8))return e.answered(),ae?Be.items(f===6,T):Be.packet(w,S);if(w===2){let De=f-
L&32767;if(f>=32768&&De&&De<=16384)return L=f,q?q.packet(f,2,S,!0):x(f,W(12,"no service is served"))}}}}++Ee>_o&&M("too many stray packets")},Y=f=>{for(;V(f);){
let w=Vn(f),S=[...c,...r?.services??[]].find(T=>T.fingerprint===w);y(2,3,T=>qr(T,w,S?.layout))}},ie=f=>{(se(f,4)!=="fris"||!z(f))&&$("no HELLO");let w=new Set,S=0;
try{for(;V(f);){S=z(f);let T=Ct(f);if(S>=Lo&&$("must be understood and is unknown"),(S&&S<7||S===8||S===34||S===35)&&(w.has(S)&&$("occurs twice"),w.add(S)),S&&S in
A)A[S]=Qe(T);else if(S===8)Qe(T);else if(S===32||S===33){let ae=Jr(T);S===32&&a.set(...ae)}}}catch(T){$(`HELLO item ${S}: ${T.message}`)}A[3]=Math.min(A[3],ze),
E.isUp=!0,clearTimeout(je),e.room(E)},be=f=>{d[f%ze]=void 0,u--===A[3]&&e.room(E)},fe=(f,w)=>{i.set(w,f),f.begin(E,w,A[4])},k=()=>{ue&&u===p&&!i.size&&!q?.progress.
size&&queueMicrotask(()=>M(os))},O=()=>{ue||(ue=!0,e.closing(E,os),k())},M=f=>{R||(ne(),te(w=>w.close()),P(f))},P=f=>{if(R)return;R=!0,clearInterval(X),clearTimeout(
je),e.closing(E,f),E.isUp=!1;let w=new D(14,`the connection was lost: ${f}`);for(let S of d)S&&!S.isGivenUp&&e.lost(S,w);for(let S of i.values())S.lost(w);q?.down(
w);for(let S of s)S.down(E,w)},E={isUp:!1,isFull:!1,write:y,reset:b,refuse:x,announce(f){let w=a.get(f.name),S=w?.fingerprint===f.fingerprint&&`${w.operations}`==
`${f.operations}`;if(!c.has(f)){for(let T of c)if(T.operations.some(ae=>f.operations.includes(ae)))throw W(9,`${T.name} has operations of ${f.name}: use another\
 channel`);S||y(3,3,on,f),c.add(f)}},call(f,w){if(E.isFull||u>=A[3])return!1;do m=(m+1)%rs;while(d[m%ze]);let S=f.id=m;d[S%ze]=f,u++;try{y(S,f.operation,w,f)}catch(T){
throw be(S),T}return!0},cancel(f){R||(f.isGivenUp=!0,y(f.id,6,_,f.operation),++p>=Bo&&O(),k())},open(f,w){if(!A[2])throw W(12,"the server does not accept stream\
s");if(E.isFull||h>=Math.min(A[2],28672))return!1;do v=v%32767+1;while(i.has(v));let S=v;i.set(S,f),h++;try{y(S,2,w)}catch(T){throw E.over(S),T}return f.begin(E,
S,A[4]),!0},accept:fe,over(f){i.delete(f),f<32768&&(h--,e.room(E)),k()},drain:O,closeIfIdle:k},q=r?.on(E),je=Ft(Wo,()=>M("handshake timeout")),At=()=>{o.isFlat=
Ae?.isFlat,y(0,3,f=>{de(f,ge("fris"));let w=q?Do:0;[Xn,w,w,cn].forEach((S,T)=>he(f,T+1,()=>_(f,S)));for(let S of r?.services??[])he(f,32,()=>on(f,S));for(let S of n)
he(f,33,()=>on(f,S))}),y(1,0),ne(),!R&&(X=setInterval(()=>{if(++j>Vo)return M("keepalive timeout");(j>1||!G)&&y(0,0),G=!1;let f=performance.now();for(let w of d)
w&&w.until<=f&&!w.isGivenUp&&e.expired(w)},Jo))},Ae,Mr=f=>Ae?f():queueMicrotask(f),Tr=f=>Mr(()=>P(f));try{Ae=t({open:()=>Mr(At),data:N,close:Tr})}catch(f){Tr(Yt(
f))}return E}function dn(t,e){let n=[],r=0,s=!1,o=()=>{},i=m=>{s||=m,o()},a=()=>n[r],c=()=>{let m=a();return m!==void 0&&(n[r++]=void 0,r>999&&r*2>n.length&&(n.splice(0,r),r=
0)),m},d=()=>{n=[],r=0},u=(async function*(){try{for(;;){let m=c();if(m!==void 0){let h=t(m);h!==void 0&&(yield h)}else if(s){if(s!==!0)throw s;return}else await new Promise(
h=>o=h)}}finally{e()}})(),{return:p}=u;return u.return=()=>(e(),d(),i(!0),p.call(u,void 0)),{messages:u,first:a,take:c,clear:d,put:m=>{n.push(m),o()},end:i}}var Qn=64,jo=4,Xo=4096,un=(t,e)=>t instanceof ye?new D(13,`not a valid ${e.name}: ${t.message}`):D.from(t);function ls(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,u=!0,p=!0,
m=!1,h=!1,v=!1,L=()=>{},A,R=()=>!u&&!p,{messages:ue,clear:Z,put:K,end:Ee}=dn(y=>{let b=y.length+Qn;c-=b,d+=b,p&&d*jo>=cn&&(o?.write(i,5,_,d),d=0);try{let x=Q(y),
N=ln(x,Gn);if(N)throw N;return Rt(x,e)}catch(x){throw un(x,e)}},()=>n?X(!0):ne()),pe=Object.assign(ue,{metadata:{}}),J=()=>{R()&&(L(),A?.(),o?.over(i),o=A=void 0,
r())},ee=y=>{p=!1,Ee(y),J()},G=()=>{u&&(u=!1,o?.write(i,7),J())},j=y=>{u=p=!1,Ee(y),J()},X=(y,b=en(!0))=>{R()||o?.reset(i,b),Z(),j(y)},te=y=>X(y,y),ne=()=>{Z(),
m=!0},le=y=>{if(!(!o||!u)){if(y instanceof D)return g(6,b=>ts(b,y)),u=!1,J();o.write(i,2,b=>{let{at:x}=b;It(b,t,y),a-=b.at-x+Qn})}},g=(y,b)=>o?.write(y,3,x=>{_(
x,i),b(x)});return{messages:pe,begin(y,b,x){o=y,i=b,a=x},packet(y,b){if(y===2)return h=!0,!p||m?void 0:c+d>=cn?te(new D(8,"the peer exceeded its credit")):(c+=b.
length+Qn,K(new Uint8Array(b)));let x=Q(b);if(y===5){let N=Qe(x);v||=!N,(a+=N)>0&&L()}else if(b.length){let N=Zt(F(x,10));j(new D(N,Ot(x,Xo),{mayHaveRun:!v}))}else
ee(!0)},items(y,b){if(p){!y&&h&&$("late HEADERS"),h=!0;try{if(y)return ee(es(b)??!0);s?.(pe.metadata=an(b).metadata)}catch(x){te(un(x,e))}}},send:le,async pump(y,b){
try{let x=y,N=x?.[Symbol.asyncIterator]?.()??x?.[Symbol.iterator]?.();if(!N)throw W(3,`messages of a stream are an iterable, not ${String(y)}`);for(A=async()=>{
try{await N.return?.()}catch{}},n||g(5,()=>{});;){for(;a<=0&&!R();)await new Promise(ie=>L=ie);if(R())return;let{done:I,value:Y}=await N.next();if(R())return;if(I)
break;le(Y)}A=void 0,G()}catch(x){if(!n)throw A?.(),A=void 0,x;X(b?Or(x):D.from(x))}},finish:G,discard:ne,fail:te,lost:j}}var Qo=3e4,Ko=5e3,zo=20,cs=2e3,ds=10,Lt=class{constructor(e,{timeout:n,reconnectTimeout:r=Ko,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=ds,u=0,p,m=!1,h="",
v=[new Set,new Set],L=({method:{sends:g,receives:y}})=>v[g||y?1:0],A=new Set,R=[],ue=()=>{a||p||m||!(v[0].size||v[1].size||i)||(u=performance.now(),a=as(e,Z,[...A],
o,R))},Z={room:g=>queueMicrotask(()=>{for(let y of v)for(let b of y){if(a!==g||!K(b,g))break;a===g&&y.delete(b)}}),closing(g,y){if(a===g){if(a=void 0,h=y,g.isUp)
for(let b of v)b.forEach(pe);g.isUp&&performance.now()-u>=cs?c=0:m||(clearTimeout(p),p=Ft(Math.random()*Math.min(zo*2**Math.min(c++,16),cs),()=>{p=void 0,ue()})),
ue()}},answered:()=>void(c=0),replied(g,y){let b=g,{method:{reply:x},options:{onMetadata:N}}=b;ee(b);try{let I=Q(y),Y=Yr(I),ie=ln(I,Y);if(ie)throw ie;I.at&&N?.(
Y.metadata),b.resolve(Rt(I,x)),d<ds&&(d+=.1)}catch(I){b.reject(un(I,x))}},expired:g=>J(g),lost(g,y){let b=g;if(b.link=void 0,!b.method.idempotent||d<1)return G(
b,y);d--,Ee(b)}},K=(g,y)=>{let{service:b}=g;try{return b&&y.announce(b),g.start(g,y)&&(g.isSent=!0)}catch(x){return G(g,D.from(x)),!0}},Ee=g=>{if(!(a?.isUp&&K(g,
a))){if(m)return G(g,us(g.isSent));L(g).add(g),ue(),pe(g)}},pe=g=>{g.reconnectsUntil=performance.now()+(g.options.reconnectTimeout??r),J(g)},J=g=>{let{until:y,isSent:b,
reconnectsUntil:x}=g,N=performance.now(),I=L(g).has(g)&&!a?.isUp&&`no connection to the server${h&&`: ${h}`}`;clearTimeout(g.timer),N>=y?G(g,Fr(b,I?`; ${I}`:"")):
N>=x&&I?G(g,Mt(14,I,b)):g.timer=Ft((N<x?Math.min(y,x):y)-N,()=>J(g))},ee=g=>{L(g).delete(g),clearTimeout(g.timer),g.options.signal?.removeEventListener("abort",
g.abort)},G=(g,y)=>{ee(g),g.link?.cancel(g),g.reject(y)},j=(g,{sentTimeout:y,until:b,options:{metadata:x}})=>{(y!==void 0||s||x)&&Kr(g,{timeout:y&&b-performance.
now(),metadata:{...s,...x}})},X=(g,y)=>{j(g,y),It(g,y.method.request,y.request)},te=(g,y)=>{let b=y.call(g,X);return b&&(g.link=y),b},ne=(g,y,b,x,N,I,Y,ie,be=1/0)=>{
let{signal:fe}=x,k={id:0,operation:y.operation,until:performance.now()+ +(N??be),isGivenUp:!1,isSent:!1,reconnectsUntil:1/0,timer:void 0,link:void 0,service:g,method:y,
request:b,options:x,sentTimeout:N,start:I,resolve:Y,reject:ie,abort:fe&&(()=>G(k,en(k.isSent)))};return Number.isNaN(k.until)?ie(W(3,"the timeout is not a numbe\
r; it is in milliseconds")):fe?.aborted?k.abort?.():(fe?.addEventListener("abort",k.abort),N!==void 0&&J(k),(N===void 0||N>0)&&Ee(k)),k},le=(g,y,b,x={})=>{let N,
I=ls(y.request,y.reply,!0,()=>N&&ee(N),x.onMetadata);return N=ne(g,y,b,x,x.timeout,(Y,ie)=>{let be=ie.open(I,fe=>{j(fe,Y),B(fe,9),_(fe,Y.operation)});return be&&
I.pump(b,y.sends),be},()=>{},I.fail),I};this.unary=(g,y,b,x={})=>new Promise((N,I)=>void ne(g,y,b,x,x.timeout??n,te,N,I,Qo)),this.serverStreaming=(g,y,b,x)=>le(
g,y,[b],x).messages,this.twoWay=(g,y,b,x)=>le(g,y,b,x).messages,this.clientStreaming=async(g,y,b,x)=>{let{messages:N}=le(g,y,b,x),{done:I,value:Y}=await N.next();
if(I)throw new D(13,"there is no reply");return N.return?.(),Y},this.name=g=>void A.add(g),this.mount=g=>void R.push(g),this.connected=(g,y)=>new Promise((b,x)=>{
ne(void 0,{},void 0,{reconnectTimeout:y},void 0,(N,I)=>I.isFull?!1:(g?.(I),ee(N),b(I),!0),b,x)}),this.close=()=>{m=!0,clearTimeout(p);for(let g of v)for(let y of g)
G(y,us(y.isSent));a?.drain()},i&&queueMicrotask(ue)}},us=t=>Mt(9,"the channel is closed",t);var dt=65280,Yo=16<<20,Kn=64,Zo=255,ei=65536,ti=4,pn={now:0,last:1,oldest:2},ps=t=>W([8,12,7][z(t)-3]??3,se(t,V(t))),fs=t=>{let e=F(t,10);return e>Zo&&$("a topi\
c is too long"),se(t,e)},ms=new WeakMap,Ut=class{constructor(e){this.channel=e;this.requests=new Map;this.last=0;let{requests:n}=this,r=ms.get(e);if(r)return r;
ms.set(e,this),e.mount({packet:(s,o,i,a)=>{if(i<dt)return!1;!o&&i===dt+5&&(this.refused??=ps(Q(a)));for(let c of o?[n.get(o)]:n.values())c?.packet(s,o,i-dt,Q(a));
return!0},down(s,o){for(let i of[...n.values()])i.down(s,o)}})}subscribe(e,{group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){await this.channel.
connected(r=>r.write(0,dt+2,s=>{Xe(s,ge(e)),de(s,jn(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.refused=void 0,e)throw e}request(e,n,r="",s){
let{channel:o,requests:i}=this;do this.last=this.last%65535+1;while(i.has(this.last));let a=this.last;return new Promise((c,d)=>{let u,p=0,m=0,h=!1,{first:v,messages:L,
put:A,end:R,take:ue}=dn(k=>(p-=k.payload.length+Kn,k),()=>{i.delete(a)&&n!==void 0&&u?.isUp&&u.write(a,dt+1)}),Z=k=>{i.delete(a),d(k),R(k)},K=r?[]:n?.split(".")??
[],Ee=K[K.length-1]===">",pe=k=>{let O=k.split(".");return(Ee?O.length>=K.length:O.length===K.length)&&K.every((M,P)=>M===">"||M==="*"||M===O[P])},J=e===0&&!r&&
s!==void 0,ee=typeof s=="object";if(ee&&!(/^[\da-f]{16}$/.test(s.epoch)&&s.offset>=0))throw W(3,`${s.epoch}, ${s.offset} is not a position`);let G=ee||s===void 0?
pn.oldest:pn[s],j=new Map(ee?[[n,{...s,offset:s.offset+1}]]:[]),X=new Map,te=0,ne="",le=!1,g=!1,y=!1,b=!1,x=!1,N=k=>{u?.write(a,dt+k,O=>{if(n!==void 0&&Xe(O,ge(
n)),k===6){B(O,G);for(let[M,P]of j){_e(O,M);for(let E=0;E<16;E+=2)B(O,parseInt(P.epoch.slice(E,E+2),16));_(O,P.offset)}}else de(O,ge(r))})},I=()=>{let k=j.size>
0;return j=new Map,G=pn.now,le=!1,y=!0,k},Y=k=>{o.connected(O=>{if(i.has(a)){u=O;try{N(J?6:e)}catch(M){if(!g||!I())throw M;N(6)}}},k).catch(O=>{g&&O.code===9&&R(
!0),Z(O)})},ie=()=>{x=!0,g&&(y||!(J&&b))&&(h=!0),c(L)},be=k=>Array.from(Ne(k,8),O=>O.toString(16).padStart(2,"0")).join(""),fe=(k,O,M)=>{if(O===5&&k&&!x&&J&&M.bytes[M.
at]===ti)y=!0,N(0);else if((O===5||O===6&&M.bytes[M.at])&&k&&!x&&g&&I())N(6);else if(O===6&&k&&M.bytes[M.at]===0){z(M),b=z(M)===1;let P=be(M);te=F(M,10);let E=ne!==
""&&ne!==P,q=!n?.match(/[*>]/)&&j.size>0;ne=P,ie(),y=!1,h||=q?!te:E}else if(O===7)for(;V(M);){let P=fs(M),E={epoch:be(M),offset:F(M,10)};if(Number.isSafeInteger(
E.offset)||$("an integer is beyond 2^53"),!x||!k&&!pe(P))continue;let q=X.get(P);k&&!q?(te--,q=j.get(P)??(le?{...E,offset:1}:void 0)):!k&&q?.epoch!==E.epoch&&(q=
void 0),q&&b&&(k||!y)&&(q.epoch===E.epoch&&q.offset<=E.offset?m+=E.offset-q.offset:h=!0),X.size>=ei&&(X.clear(),y=!0),X.set(P,E)}else return!1;return!0};i.set(a,
{packet(k,O,M,P){if(!(k!==u||J&&fe(O,M,P)))if(M===2){let E=fs(P);if(!O&&(!x||!pe(E)))return;let q=at(P),je=X.get(E);for(je&&X.set(E,{...je,offset:je.offset+1}),
p+=q.length+Kn,A({topic:E,payload:q,position:je,lagged:m,reconnected:h}),m=0,h=!1;p>Yo;){let At=ue();p-=At.payload.length+Kn;let Ae=v();Ae.lagged+=At.lagged+1,Ae.
reconnected||=At.reconnected}}else M===4?x&&!(J&&b&&!y)&&(m+=F(P,10)):O&&(V(P)?Z(ps(P)):ie())},down(k,O){if(k===u){if(n===void 0||!x&&!g)return Z(O);if(x)if(te>
0)for(let[M,P]of X)j.set(M,P);else y?I():(j=X,G=pn.oldest,le=!0);X=new Map,x=!1,g=!0,Y(1/0)}}}),Y()})}};var fn="frisbee.1";function zn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let s=new n(String(t),[fn,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===fn)return r.
open();o=`the server does not speak ${fn}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var ni=64;var mn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of we(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of we(e))i===
2?n=Te(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=oi(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>ni)throw new ye("types are nested too deeply");let a=[],c=[],d=[],u=[],p="",m=!1;
for(let{number:A,bytes:R}of we(e))A===1?p=Te(R):A===2?a.push(R):A===3?c.push(R):A===4?d.push(R):A===7?m=vs(R,7):A===8&&u.push({name:hs(R),docs:o.get(`${s},8,${u.
length}`)??""});let h=[...r,p],v=gs(n,h),L=a.map((A,R)=>ri(A,o.get(`${s},2,${R}`)??""));this.messages.set(v,{name:v,package:n,path:h,docs:o.get(s)??"",fields:L,
oneofs:u,isEntry:m}),c.forEach((A,R)=>this.declare(A,n,h,`${s},3,${R}`,o,i+1)),d.forEach((A,R)=>this.declareEnum(A,n,h,`${s},4,${R}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:u,bytes:p}of we(e)){if(u===1&&(a=Te(p)),u!==2)continue;let m=0;for(let h of we(p))h.number===2&&(m=h.low|0);i.push({name:hs(p),number:m,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=gs(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},bs=t=>t===11||t===10||t===
14,gs=(t,e)=>[...t?[t]:[],...e].join(".");function ri(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,u=!1;for(let p of we(t))p.number===1?n=Te(p.bytes):p.number===
3?o=p.low:p.number===4?i=p.low:p.number===5?a=p.low:p.number===6?s=Te(p.bytes).replace(/^\./,""):p.number===8?u=vs(p.bytes,3):p.number===9?c=p.low:p.number===10?
r=Te(p.bytes):p.number===17&&(d=p.low!==0);if(a<1||a>18)throw new ye(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:u,
docs:e,jsonName:r||n.replace(/_(\w)/g,(p,m)=>m.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var si=new Uint8Array,Te=t=>se(Q(t),t.length);function*we(t){
let e=Q(t);for(;V(e);){let n=F(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(F(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:si,
low:o>>>0}}else if(s===2)yield{number:r,bytes:Ne(e,F(e)),low:0};else if(s===1||s===5)Ne(e,s===1?8:4);else throw new ye(`a field of the wire type ${s}`)}}function hs(t){
for(let{number:e,bytes:n}of we(t))if(e===1)return Te(n);return""}function vs(t,e){for(let{number:n,low:r}of we(t))if(n===e)return r!==0;return!1}function oi(t){
let e=new Map;for(let{number:n,bytes:r}of we(t)){if(n!==1)continue;let s="",o="",i="";for(let c of we(r))if(c.number===1){let d=Q(c.bytes),u=[];for(;V(d);)u.push(
F(d));s=u.join(",")}else c.number===3?o=Te(c.bytes):c.number===4&&(i=Te(c.bytes));let a=o||i;a&&e.set(s,yn(a))}return e}var yn=t=>t.replace(/^ /gm,"").trim();var qe=t=>`f${t.number}`,pt=t=>`o${t}`,Yn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
ut=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=ai(this.schema,
r),o=s.map(c=>`${qe(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>bs(c.kind)),a=U(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Yn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Yn[o.kind]}${Yn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${pt(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=ii(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},ii=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function ai(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function ws(t,e,n,r){let s=r.map(({operation:i,request:a,response:c,sends:d,receives:u,isIdempotent:p})=>({
operation:i,request:t.of(a),reply:t.of(c),sends:d,receives:u,idempotent:p})),o=Ke(e,n,"",Object.fromEntries(s.map((i,a)=>[`m${a}`,i])));return s.map(i=>({service:o,
method:i}))}var Zn={POLYGLOT:0,PROTOBUF:1},Bt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},li=U("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),ci=U("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),di=U("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[fi]),ui=U("fr\
pc.reflection.v1.ListRequest","etag:s"),pi=U("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e docs:s isDeprecated:b formats:*s",()=>[Bt]),fi=U("frpc.reflection.v1.Service","name:s fingerprint:s layout:y codec:e file:s docs:s isDeprecated:b methods:*m \
operations:*u",()=>[Zn,pi]),ft=Ke("frpc.reflection.v1.Reflection","2827b98f5f97380f22de961eb0322afd","AQgAAQEJAAMBCQIIA0sEAAQBCQQIAkkDSQADAQkCCAMMAAkBCQIJAwwEDg\
UFCQYJBwgISwYJTQECAAIACgEJAg0DCQQIBQkGCAcOBwkJCggISQEDAAICAgRMaXN0AgABBUZpbGVzAgIDHWZycGMucmVmbGVjdGlvbi52MS5SZWZsZWN0aW9u",{list:{operation:65e3,request:ui,reply:di,
receives:!0,idempotent:!0},files:{operation:65001,request:ci,reply:li,receives:!0,idempotent:!0}});var xs=32<<20,$e=t=>`${t.service.name}/${t.name}`,gn=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=zn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Lt(o,
{stayConnected:!0}),this.channel.name(ft),this.topics=new Ut(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let m of n.serverStreaming(
ft,ft.methods.list,{etag:e?.etag??""},{metadata:r})){if(m.notModified)return;o||=m.etag;for(let h of m.services){let v=s.get(h.name);v?v.methods.push(...h.methods):
s.set(h.name,h)}}let i=[],a=0;for await(let{data:m}of n.serverStreaming(ft,ft.methods.files,{},{metadata:r}))if(i.push(m),a+=m.length,a>xs)throw new D(He.RESOURCE_EXHAUSTED,
`the schema has more than ${xs} bytes`);let c=new Uint8Array(a),d=0;for(let m of i)c.set(m,d),d+=m.length;let u=new mn(c),p=new ut(u);return{etag:o,schema:u,services:[
...s.values()].map(m=>mi(m,p))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function mi(t,e){let n,r=o=>{if(t.codec!==Zn.POLYGLOT)throw new Error(
"its messages use the protobuf codec, which this page does not support");if(!t.file)throw new Error("the server does not have the schema of this service; build \
it with `reflection(true)`");return n??=ws(e,t.name,t.fingerprint,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.idempotency!==
Bt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:yn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=t.methods.map(
(o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.idempotency===
Bt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===Bt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:yn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var hn=t=>Object.entries(He).find(([,e])=>e===t)?.[0]??String(t);var yi=50;function bn(t,e,n){let r=t.slice(-yi).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Restore the request",onclick:()=>e(
s)},l("span",{className:"muted"},it(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},hn(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},ce(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"No calls yet.")}var H=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},oe=()=>Object.create(null),tr=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),nr=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Ye=t=>nr.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Je(t){try{return JSON.parse(t||"{}")}catch(e){throw new H(
"",e.message)}}function Ze(t,e,n,r=""){let s=wi(t,e,n,r);if(s)return s;if(!tr(n))throw new H(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(m=>m.jsonName===a||m.name===a),u=r?`${r}.${a}`:a;if(!d)throw new H(u,`${e} has no such field${gi(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let p=hi(t,d,c,u);if(d.oneof===void 0)i[qe(d)]=p;else{let m=pt(d.oneof);if(i[m])throw new H(u,`${o.oneofs[d.oneof]?.name} has two \
members`);i[m]={case:qe(d),value:p}}}return i}var gi=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function hi(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!tr(n))throw new H(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[bi(o,a,r),er(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return er(t,e,n,r);if(!Array.isArray(n))throw new H(r,"a list is an array");return n.map((a,c)=>er(t,e,a,`${r}[${c}]`))}function bi(t,e,n){
if(t.kind!==8)return Pt(t,e,n);if(e!=="true"&&e!=="false")throw new H(n,`${e} is not true or false`);return e==="true"}var Es=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),vi=t=>[3,4,6,16,18].includes(
t),rr=t=>t in Es;function er(t,e,n,r){if(e.kind===11)return Ze(t,e.type,n,r);if(e.kind!==14)return Pt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new H(r,`${s} has no value ${Dt(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Dt=t=>JSON.stringify(t).slice(0,60);function Pt(t,e,n=""){let{kind:r}=t,s=Es[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new H(n,`${Dt(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new H(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new H(n,`${i} is not from ${s[0]} to ${s[1]}`);return vi(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new H(n,`${Dt(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new H(n,`${Dt(e)} is not true or false`);return e}if(typeof e!="string")throw new H(n,`${Dt(e)} is not a\
 string`);return r===12?xe(e,n):e}function wi(t,e,n,r){let s=nr.test(e)&&t.message(e).fields[0];if(s)return{f1:Pt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return xi(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new H(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new H(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!tr(n))throw new H(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,_t(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new H(r,"a ListValue is an array");return{f1:n.map(o=>_t(o,0))};case"google.protobuf.Value":return _t(n,0)}}function xi(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new H(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function _t(t,e){if(e>90)throw new H(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>_t(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,_t(s,e+1)]))})}function Ht(t,e,n){let r=Ai(t,e,n);if(r!==void 0)
return r;let s=oe();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[pt(o.oneof)],a=o.oneof===void 0?n[qe(o)]:i?.case===qe(o)?i.value:void 0;if(a===
void 0)continue;let c=Si(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function Si(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=oe();for(let[o,i]of n)s[String(o)]=vn(t,r,i);return s}return Array.isArray(n)?n.map(s=>vn(t,e,s)):vn(t,e,n)}function vn(t,e,n){return e.
kind===11?Ht(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Ie(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?Ei(n):n}function Ei(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function Ai(t,e,n){let r=nr.test(e)&&t.message(e).fields[0];if(r)return vn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${Ss(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${Ss(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return As(n);case"google.protobuf.ListValue":return n.f1.map(wn);case"google.protobuf.Value":return wn(n)}}function As(t){
let e=oe();for(let[n,r]of t.f1)e[n]=wn(r);return e}function wn(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?As(e.value):e.case==="f6"?e.value.f1.map(
wn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var Ss=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Ie(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function xe(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new H(e,"it is no base64")}}function mt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var et=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var gt=t=>Object.entries(t).flatMap(([e,n])=>[n].flat().map(r=>[e,r])),yt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("bu\
tton",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){
let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll("input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?xe(
s,o):s)}return e}set(e){C(this.rows);for(let[n,r]of gt(e))this.add(n,typeof r=="string"?r:Ie(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key",
"aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,
autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("button",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},
"×"));return this.rows.append(o),r}},sr=t=>l("dl",{className:"pairs"},...gt(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Ie(n))]));var tt=t=>ir(JSON.stringify(t)),ir=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Re=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${ir(t).replace(/'/g,"'\\''")}'`,ks=t=>gt(t).map(([e,n])=>[e,typeof n=="string"?n:Ie(n)]);function Ns({method:t,requests:e,metadata:n,
timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&i.push(`-H ${Re(`\
connect-timeout-ms: ${Math.round(r)}`)}`);for(let[u,p]of ks(n))i.push(`-H ${Re(`${u}: ${p}`)}`);let a=Re(`${s}/${$e(t)}`);if(!o)return[...i,`-d ${Re(tt(e[0]??{}))}`,
a].join(` \\
  `);let c=e.map(tt);return[`printf '${c.map(u=>`\\0${ki(new TextEncoder().encode(u).length)}%s`).join("")}' ${c.map(Re).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ki=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function Cs({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Re(a)}`,Re($e(t))];for(let d of e)c.push(Re(tt(d)));for(let[d,u]of ks(n))c.
push(`-H ${Re(`${d}=${u}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var An=t=>t.replace(/\W/g,"_")||"_",Ms=t=>An(t).replace(/^_(?=\d)/,"-"),Ts=t=>An(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),qt=t=>Ts(t).map(e=>e.toLowerCase()).join("_")||"_",nt=t=>Ts(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",xn=t=>nt(t).replace(/^./,e=>e.toLowerCase()),Ni=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),En=t=>Ni.has(qt(t))?/^(self|super|crate)$/.test(qt(t))?`${qt(t)}_`:`r#${qt(t)}`:qt(t),Se=t=>ir(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function $s(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=An(n.service.name.
split(".").pop()??""),c=r.map(h=>Rs(e,n.request,h,0)),d=En(n.name),u=[`let client = ${a}Client::connect(${Se(new URL(i).host)}).await?;`],p=c[0]??`${nt(n.request)}\
::default()`;n.sends&&(u.push("let (requests, source) = frpc::RequestStream::channel(16);"),p="source");let m=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...gt(s).map(([h,v])=>typeof v=="string"?`request.metadata_mut().insert(${Se(h)}, ${Se(v)})?;`:`request.metadata_mut().insert_\
bin(${Se(h)}, &[${[...v].join(", ")}][..])?;`)];return m.length>0&&(u.push(`let mut request = frpc::Request::new(${p});`,...m),p="request"),n.receives?(u.push(`\
let mut replies = client.${d}(${p}).await?.into_inner();`),u.push(...c.slice(0,n.sends?void 0:0).map(h=>`requests.send(${h}).await?;`),...n.sends?["drop(request\
s);"]:[]),u.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(u.push(`let call = client.${d}(${p});`,"let se\
nding = async {",...c.map(h=>`    requests.send(${h}).await?;`),"    drop(requests);","    Ok(())","};"),u.push("let (reply, ()) = tokio::try_join!(call, sendin\
g)?;",'println!("{:?}", reply.into_inner());')):u.push(`let reply = client.${d}(${p}).await?.into_inner();`,'println!("{reply:?}");'),u.join(`
`)}function Is({path:t,package:e}){let n=[...t.slice(0,-1).map(En),nt(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var or=(t,e)=>`${"\
    ".repeat(e)}${t}`;function Rs(t,e,n,r){let s=t.message(e),o=Is(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let p of s.fields){
let m=i[i[p.jsonName]===void 0?p.name:p.jsonName];if(m===void 0||m===null&&p.type!=="google.protobuf.Value")continue;let h=p.oneof===void 0?void 0:s.oneofs[p.oneof],
v=Ci(t,s,p,m,r+1),L=h?h.name:p.name;c.add(L);let A=[...s.path.map(En),nt(h?.name??"")].join("::");a.push(or(`${En(L)}: ${h?`Some(${A}::${nt(p.name)}(${v}))`:v},`,
r+1))}let d=new Set(s.fields.map(p=>p.oneof===void 0?p.name:s.oneofs[p.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(or(`..${o}::default()`,r+1));let u=`${o} { ${a.map(p=>p.trim().replace(/,$/,"")).join(", ")} }`;return u.length<90&&!u.includes(`
`)?u:`${o} {
${a.join(`
`)}
${or("}",r)}`}function Ci(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([p,m])=>`(${o.kind===9?`${Se(p)}.to_\
owned()`:Ms(p)}, ${Sn(t,i,m,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>Sn(t,n,d,s)).join(", ")}]`;let a=Sn(t,n,r,s),c=n.kind===11&&!Ye(n.type)&&
Os(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function Os(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&Os(t,s.type,n,r))??!1)}function Sn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${Se(String(n))}.parse()?`:Ye(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?Sn(t,s,n,r):Ye(e.type)?Mi(e.type,n):Rs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=nt(s.path[s.path.length-1]??""),a=nt(o.name);return`${Is(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...xe(String(n))].join(", ")}]`:e.kind===9?`${Se(String(n))}.to_owned()`:e.kind===1||e.kind===2?Us(Number(n),e.kind===1?"f64":"f32"):Ms(String(n))}var ht="\
frpc::prost_types::";function Mi(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${ht}FieldMask { paths: vec![${n.map(r=>`${Se(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${ht}Struct { fields: ${Ls(e)} }`:t===
"google.protobuf.ListValue"?`${ht}ListValue { values: ${Fs(e)} }`:ar(e)}function ar(t){if(t===null)return`${ht}Value::from(${ht}value::Kind::NullValue(0))`;let e=typeof t==
"string"?Se(t):typeof t=="number"?Us(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?Fs(t):Ls(t);return`${ht}Value::from(${e})`}var Fs=t=>`vec![${t.map(
ar).join(", ")}]`,Ls=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${Se(e)}.to_owned(), ${ar(n)})`).join(", ")}])`,Us=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function Bs(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=An(n.service.name.split(".").pop()??""),c=r.map(h=>_s(e,n.request,Ze(e,n.request,h))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${gt(s).map(([h,v])=>`${tt(h)}: ${typeof v=="string"?tt(v):Ds(v)}`).join(", ")} }`]],u=n.
sends?`[${c.join(", ")}]`:c[0]??"{}",p=`client.${xn(n.name)}(${u}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${tt(
`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${p}) console.log(reply);`:`console.log(await ${p});`}`}var Ds=t=>`new Uint8Array([${[...t].join(", ")}])`;function _s(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=qe(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${xn(i.name)}: ${Ti(t,i,n[a])}`);continue}let c=n[pt(
i.oneof)];c?.case===a&&o.push(`${xn(s[i.oneof]?.name??"")}: { case: "${xn(i.name)}", value: ${Jt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function Ti(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Jt(t,r,o)}, ${Jt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Jt(t,e,o)).join(", ")}]`:Jt(t,e,n)}function Jt(t,e,n){return n instanceof Uint8Array?Ds(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?_s(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?tt(n):String(n)}var Ps=new WeakMap;function bt(t,e){return Ps.set(t,e),t}var Vt=t=>Ps.get(t)??oe();var Hs=16<<20,lr=t=>l("textarea",{rows:1,spellcheck:!1,...t});function cr(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function dr(t){let e=re(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return bt({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=lr({id:e});return bt({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>cr(s,()=>void(s.value.
trim()&&Pt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:rr(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!$i(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!rr(n)?Number(i):i};return bt({element:s,id:e,get:()=>s.
value.trim()?Ii(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var $i=t=>t===3||t===4||t===6||t===16||t===18,Ii=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function qs(t){let e=re(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return bt(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Js(){
let t=re(),e,n=lr({id:t,oninput:()=>m()}),r=l("select",{"aria-label":"written as",onchange:()=>p()},...["text","base64","hex"].map(v=>l("option",{},v))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let v=i.files?.[0];if(v){if(v.size>Hs){o.textContent=`${v.
name} has more than ${Hs>>20} MiB`;return}e=new Uint8Array(await v.arrayBuffer()),o.textContent=`${v.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,h.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=v=>{if(v==="text")return new TextEncoder().encode(n.value);if(v==="base64")return xe(n.
value.replace(/\s/g,""));let L=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(L))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
L.match(/../g)??[],A=>parseInt(A,16))},u=(v,L)=>{let A=L==="text"?mt(v):void 0;r.value=s=L==="text"&&A===void 0?"base64":L,n.value=r.value==="text"?A??"":r.value===
"hex"?et(v):Ie(v),m()},p=()=>{try{u(d(s),r.value)}catch{s=r.value,m()}},m=()=>cr(n,()=>void d(r.value)),h=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return bt({element:h,id:t,get(){let v=e??d(r.value);return v.length>0?Ie(v):void 0},set(v){c(),u(
typeof v=="string"?xe(v):new Uint8Array,r.value)}},"")}function rt(t,e,n){let r=re(),s=lr({id:r,placeholder:e,oninput:()=>cr(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var Ri=3,Nn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=js(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??oe()}set(e){this.editor.set(e)}example(){this.set(Ws(this.schema,this.name,[]))}};function Ws(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Ye(e)&&s)return Vs(t,s,n);let o=oe(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,u=a.oneof===void 0||r.fields.find(
v=>v.oneof===a.oneof)===a,p=d.kind===11&&(i.includes(d.type)||i.length>Ri);if(!u||p||d.kind===10||a.isDeprecated)continue;let m=Vs(t,d,i),h=c?.fields[0];h?o[a.jsonName]=
Object.assign(oe(),{[h.kind===9?"key":h.kind===8?"true":"1"]:m}):o[a.jsonName]=a.isRepeated?[m]:m}return o}function Vs(t,e,n){switch(e.kind){case 11:return Ws(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Oi(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${kn(r)}, ${kn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${kn(e)}`}var Fi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],kn=t=>Fi[t.kind]||(t.type.split(".").pop()??"");function vt(t,e){
return e.kind===14?qs(t.enumeration(e.type)):e.kind===12?Js():e.kind!==11?dr(e):Li(t,e.type)}function Li(t,e){switch(e){case"google.protobuf.Timestamp":return rt(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return rt("text","1.5s");case"google.protobuf.Fiel\
dMask":return rt("text","name,homeAddress.city");case"google.protobuf.Struct":return rt("json",'{ "key": "value" }');case"google.protobuf.Value":return rt("json",
"any JSON");case"google.protobuf.ListValue":return rt("json","[1, 2]")}let n=Ye(e)?t.message(e).fields[0]:void 0;if(!n)return js(t,e);let r=vt(t,n);return{...r,
get:()=>r.get()??Gs(n)}}var Gs=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function js(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=Pi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=Ui(t,i);s.append(Xs(i.name,Oi(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=oe();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:oe();for(let{take:c}of r)c(a)}}}
function Xs(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function Ui(t,e){let n=t.entry(e);return n?_i(t,n):e.isRepeated?Di(()=>vt(t,e)):
e.isOptional||e.kind===11?Bi(()=>vt(t,e),()=>e.kind===11?oe():Gs(e)):vt(t,e)}function Bi(t,e){let n=re(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?C(o,(r??=t()).element):C(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Qs=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function Di(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,Qs(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Ks(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Vt(o)):void 0,set(o){e=[],C(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Ks=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function _i(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let u={key:dr({...n,kind:n.kind===8?9:n.kind}),value:vt(
t,r)};u.key.element.classList.add("key"),u.key.element.setAttribute("aria-label","key"),c!==void 0&&u.key.set(c),d!==void 0&&u.value.set(d),s.push(u);let p=l("d\
iv",{className:"item"},u.key.element,u.value.element,Qs(()=>{s=s.filter(m=>m!==u),p.remove()}));return o.append(p),u.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Ks(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=oe();for(let{key:d,value:u}of s)c[String(
d.get()??Vt(d))]=u.get()??Vt(u);return c},set(c){if(s=[],C(o),typeof c=="object"&&c!==null)for(let[d,u]of Object.entries(c))i(d,u)}}}function Pi(t,e,n){let r=e.
fields.filter(m=>m.oneof===n),s=re(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(m=>l("option",{value:m.jsonName},`${m.name}: ${kn(m)}`))),c=m=>{a.value=m;let h=r.find(L=>L.jsonName===m);if(!h)return void C(o);let v=i.get(m)??vt(t,h);return i.
set(m,v),v.id&&document.getElementById(v.id)?.setAttribute("aria-label",h.name),C(o,v.element,h.docs&&l("p",{className:"docs"},h.docs)),v},{name:d,docs:u}=e.oneofs[n]??
{name:"oneof",docs:""},p={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Xs(d,"oneof",u,p,!1),get(){let m=i.get(a.value);return a.
value&&m?Object.assign(oe(),{[a.value]:m.get()??Vt(m)}):oe()},set(m){let h=m,v=r.find(L=>(h[L.jsonName]??h[L.name])!==void 0);c(v?.jsonName??"")?.set(v&&(h[v.jsonName]??
h[v.name]))}}}var ur=1e5,Hi=90;function zs(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return C(t,n,r,s),()=>{C(n,...qi(e)),C(r,e.isOver&&e.status&&Vi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),sr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),u=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+u>e.messages.length;)s.firstElementChild?.remove();for(let p of e.messages.slice(d))(i||!p.isSent)&&s.append(
Gi(p,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function qi(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${hn(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},ce(t.took),o&&`, ${o}`)]}function Ji(t){return t!==He.CANCELLED&&t!==He.DEADLINE_EXCEEDED&&t!==He.UNAVAILABLE}function Vi({
status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block failure"},l("p",{},t?.message??""),t&&!(t.mayHaveRun&&Ji(t.code))&&l("p",{className:"\
muted"},t.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} bytes`),e.length>0&&l("pre",{className:"code"},mt(e)??et(
e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).length>0&&sr(t.metadata))}function Wi(t){let e=t.replace(
/\n\s*/g," ");return e.length<=Hi?e:t}function Gi(t,e){let n=e?Wi(t.json):t.json,r=l("pre",{className:"code",tabIndex:0},Xt(n.slice(0,ur)),n.length>ur&&`
… ${n.length-ur} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${ce(t.at)}`),l("span",{className:"grow"}),ot(()=>n)),r)}var ji=500,Xi=16<<20,Cn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new pr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=D.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Ht(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>ji||this.chars>Xi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},pr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Qi=["Form","JSON","Copy as"],Ys={curl:Ns,frpc:Cs,Rust:$s,TypeScript:Bs};function fr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var Mn=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new yt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:re(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Un(Qi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new Nn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called by this page: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),C(this.output,
l("p",{className:"empty"},"No calls yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=Ze(this.
catalog.schema,this.method.request,Je(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.
run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){e!==
void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Je(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=r===
void 0?"":String(r)}header(){let{method:e}=this,n=fr(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
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
length>0?r:[Je(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=Un(Object.keys(Ys),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Ys[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),ot(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new Cn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:zs(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:$e(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));C(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var Ki={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},zi=U("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Yi=U("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),Zi=U("frpc.introspection.v1.CloseCount","kind:s count:w"),ea=U("frpc.introspection.v1.CodeCount","code:i count:\
w"),mr=U("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[Ki]),ta=U("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[zi,ua,mr,ia]),na=U("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),ra=U("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[mr]),sa=U("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),oa=U("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[ea]),ia=U("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),aa=U("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[oa]),Zs=U("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m translated:*m",()=>[Zi,Yi,ya,aa,
pa]),la=U("frpc.introspection.v1.ServerConnections","connections:*m server:m",()=>[mr,Zs]),ca=U("frpc.introspection.v1.ServersReply","servers:*m",()=>[Zs]),da=U(
"frpc.introspection.v1.ServersRequest",""),ua=U("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),pa=U("frpc.intros\
pection.v1.TranslatedService","name:s calls:w skippedFields:w layouts:*s"),fa=U("frpc.introspection.v1.WatchReply","servers:*m",()=>[la]),ma=U("frpc.introspecti\
on.v1.WatchRequest","intervalMs:u connections:u"),ya=U("frpc.introspection.v1.Worker","tasks:w ready:w polls:w threadsGivenUp:w"),Tn=Ke("frpc.introspection.v1.I\
ntrospection","bd16b32c178276e1068b286a315fbc97","ARYAAAABAUsIAAMBCQIEAw0AAgIEAUsJAAIBCQIEAAUFCQNLCgRLCwErCQIrDAACAQ0CDQABAUsNAAwBCQIEAwQEBAUEBgQHBAhLDglLDwpLEA\
tLEQxLEgAMAQQCCQMJBAQFDhMGBAcECAQJBAoECwgMCAAFAQ0CCQMEBAQFCAAGAQ0CCAMDBAgFBAYEAAUBDQINAw0EDQUNAAICSwkBKwgAAgEJAgQABAEJAgkDCQQEAAQBBAIEAwQEBAADAQkCDQMrFAAEAQkDBA\
QEAkkBBAACAgIABgEEAwQEBAUEBgQCSxUAAgEFAgQEB1NlcnZlcnMAAAELQ29ubmVjdGlvbnMAAgMKQ29ubmVjdGlvbgAEBQVXYXRjaAIGByNmcnBjLmludHJvc3BlY3Rpb24udjEuSW50cm9zcGVjdGlvbg==",
{servers:{operation:65030,request:da,reply:ca,idempotent:!0},connections:{operation:65031,request:sa,reply:ra,idempotent:!0},connection:{operation:65032,request:na,
reply:ta,idempotent:!0},watch:{operation:65033,request:ma,reply:fa,receives:!0,idempotent:!0}});var xt=12e4,yr=2e3,[Ve,We,Ge,St]=[480,120,44,16];function gr(t){let e=me("svg",{viewBox:`0 0 ${Ve} ${We}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=me("text",{x:Ge+(Ve-Ge)*n,y:We-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function hr(t,e,n){let r=me("text",{x:Ge-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(me("line",{x1:Ge,x2:Ve,y1:e,y2:e,class:"grid"}),r)}var wt=We-St-
8;function eo(t,e){let n=gr("Calls and errors in the last two minutes"),r=xt/yr,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/yr);for(let{beganAt:c,
took:d,code:u}of t){let p=s[r-1-(o-Math.floor((c+d)/yr))];p&&p[u===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])hr(
n,We-St-wt*c,String(Math.round(i*c)));let a=(Ve-Ge)/r;return s.forEach(({ok:c,failed:d},u)=>{let p=(m,h,v)=>{h>0&&n.append(me("rect",{x:Ge+u*a+.75,width:a-1.5,y:We-
St-(m+h)/i*wt,height:h/i*wt,class:v}))};p(0,d,"failed"),p(d,c,"ok")}),n}function Et(t,e){return[...t.filter(({at:n})=>e.at-n<xt),e]}var to=(t,e,n,r)=>e.map((s,o)=>me(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),no=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function $n(t,e,n,r,s,o){let i=gr(`${t}, in the last two minutes`),a=no(e,s),c=d=>We-St-d/a*wt;for(let d of[0,.5,1])hr(i,c(a*d),o(a*d));return i.append(...to(e,
n,d=>Ve-(Ve-Ge)*(r-d)/xt,c)),i}function br(t,e,n,r){let s=no(e,1e-9),o=me("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...to(e,n,i=>120-120*(r-i)/xt,i=>19-i/s*18)),o}function ro(t,e){let n=gr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<xt),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)hr(n,We-St-wt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},u)=>{let p=Ve-(Ve-Ge)*(e-a-c)/xt,m=We-St-wt*((s[u]??0)-o)/(i-o);n.append(me("circle",{cx:p,
cy:m,r:2.5,class:d===0?"ok":"failed"}))}),n}function so(t){let e=t.slice(-40),n=me("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(me("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var oo=1e3,ga=256,ha=50,In=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===Tn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(Tn,Tn.methods.watch,{intervalMs:oo,connections:ga},{signal:s,metadata:r});for await(let{servers:i}of o)
C(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||C(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},oo)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(p=>[p.name,va(p,s?.methods.
get(p.name),r,s?.at)])),i=p=>vr([...o.values()].map(({rates:m})=>m.at(-1)?.values[p]??0)),a=vr(n.map(p=>Number(p.streams))),c=vr(n.map(p=>Number(p.queued))),d={
at:r,methods:o,rates:s?Et(s.rates,{at:r,values:[i(0),i(1)]}):[],open:Et(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:Et(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let u=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},wa(e),l("div",{className:"plots"},
xr(["Calls of all clients per second, ",ba("errors")," below"],$n("Calls and errors of all clients per second",d.rates,["curve","curve failed"],r,4,io)),xr(["Co\
nnections, and ",ao("streams"),u],$n("Connections and streams",d.open,["curve","curve second"],r,4,io)),xr(["Queued bytes",u,", and ",ao("held for clients")],$n(
"Queued bytes, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,p=>Wt(BigInt(Math.round(p)))))),this.table(e,o,r),lo(["connection","age","call\
s","oldest call","streams","queued","memory"],n.slice(0,ha).map(xa)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.get(o);return a&&a.calls>
0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),lo(["method","in a second","cal\
ls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:u,times:p})=>[o,a.toFixed(a<10?1:0),c,
d,wr(i?.p50Ns),wr(i?.p99Ns),wr(i?.maxNs),br(`Calls and errors of ${o}, in the last two minutes`,u,["curve","curve failed"],r),br(`Average latencies of ${o}, in \
the last two minutes`,p,["curve"],r)]))}},vr=t=>t.reduce((e,n)=>e+n,0),io=t=>String(Math.round(t)),wr=(t=0n)=>ce(Number(t)/1e6),ba=t=>l("span",{className:"faile\
d"},t),ao=t=>l("span",{className:"second"},t),xr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function va({figures:t},e,n,r=n){let s=(t?.failed??[]).reduce((d,{
count:u})=>d+u,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,c=Number(o-e.calls);
return{calls:o,failed:s,spent:i,rates:Et(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?Et(e.times,{at:n,values:[Number(i-e.spent)/c/1e6]}):e.times}}
function wa({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i,translated:a}){let c=[["server",t],["connections",`${e} open, ${n} in all`],["held\
 for clients",`${Wt(s)} of at most ${Wt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((d,{tasks:u})=>d+u,0n)}\
 tasks`],...a.map(({name:d,layouts:u,calls:p,skippedFields:m})=>[`other versions of ${d}`,`${u.length} in use, ${p} calls, ${m} fields skipped`])];return l("dl",
{className:"facts"},...c.map(([d,u])=>l("div",{},l("dt",{},d),l("dd",{},u))))}var xa=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,queued:o,memory:i})=>[t||
"unknown",ce(Number(e)),n,n>0n?ce(Number(r)):"",s,Wt(o),Wt(i)];function lo(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",{},l("tr",{},...t.map(
(n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"count":""},r instanceof Node?
r:String(r))))))))}function Wt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:`${(e/1e9).toFixed(1)}\
 GB`}var Sa=1e3,Rn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new In(e,r);let i=new yt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"For example a token. Kep\
t until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),Sa)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((u,p)=>u+
p.methods.length,0)??0,a=[["connection",n==="open"?`open since ${it(r.since)}`:n],["connections made",String(r.connections)],["sent",co(r.sent)],["received",co(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];C(this.facts,...a.map(([u,p])=>l("div",{},l("dt",{},u),l("dd",{},p))));let c=Date.
now();C(this.plots,l("figure",{},l("figcaption",{},"Calls per two seconds, ",l("span",{className:"failed"},"errors")," below"),eo(s.all,c)),l("figure",{},l("fig\
caption",{},"Latency of each call; of a stream, its duration"),ro(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,C(this.methods,s.all.length>0&&this.table()),C(this.history,bn(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(ce(o)),e(ce(i)),e(ce(a)),l("td",{},so(c)))})))}};function co(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var uo=500,po=2e4,On=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:re()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:re(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:re(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:re(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:u=>{u.preventDefault(),this.problem.textContent="",c().catch(p=>this.problem.textContent=p.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. In a pattern, * matches one token, and a fin\
al > all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.
watch(n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>C(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new ut(e.schema)},C(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Stop watching ${e}`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=xe(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Hn(this.schema.tables.of(r),Ze(this.schema.catalog.schema,r,Je(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
uo&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${it(Date.now())}`),l("span",{className:"grow"}),ot(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?Xt(o):o)))}for(this.waiting=[];this.log.childElementCount>uo;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Ht(this.schema.catalog.schema,n,qn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${et(e.subarray(0,po))}`}let r=e.subarray(0,po);return(n==="hex"?void 0:mt(r))??et(r)}};var Ea=[["/","filter the methods"],["↑ ↓","move through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","cancel t\
he call"],["?","show the keys"]],[fo,Sr,mo,Gt,Ar]=[ve("services"),ve("main"),ve("state"),ve("filter"),ve("keys")],Oe=new gn(`${location.origin.replace(/^http/,"\
ws")}/`,()=>Aa()),Ln=new Qt,Fn=new Map,go=new On(Oe),Fe,jt="",yo=!1,Le,Er=0,kr=new Rn(Oe,Ln,()=>Fe,t=>vo(t),()=>void ho(!0));async function ho(t){let e=++Er,n=t?
void 0:Fe;try{let r=await Oe.catalog(n);if(e!==Er)return;if(jt="",r){Fe=r;for(let[s,o]of Fn)o.isBusy||Fn.delete(s);go.know(r)}}catch(r){if(e!==Er)return;jt=r.message}
Nr(),Cr(),yo=await Oe.hasBroker(),ve("to-topics").hidden=!yo}function Aa(){mo.textContent=Oe.wire==="open"?"connected":Oe.wire==="lost"?"connection lost":"conne\
cting",mo.className=`state ${Oe.wire}`,Oe.wire==="open"&&setTimeout(()=>void ho(!1))}function Nr(){let t=Gt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>$e(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Fe?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),C(fo,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Gt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=$e(c),u=fr(c),p=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:u.name,"aria-label":u.name,role:"img"},u.sign));return d===n&&p.setAttribute(
"aria-current","page"),l("li",{},p)}))))),r.length===0&&C(fo,l("p",{className:"empty"},Fe?"No matching methods.":jt?"No services.":"Loading the services…"))}function Cr(){
let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute("aria-cu\
rrent","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Le=void 0;let e=Fe?.services.flatMap(n=>n.methods).find(n=>$e(n)===t);
if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")C(Sr,go.element);else if(e&&Fe)Le=Fn.get(t)??new Mn(Oe,Fe,e,Ln),
Fn.set(t,Le),C(Sr,Le.element,Na(t));else{let n=t&&Fe?`The server has no method ${t}.`:"";C(Sr,jt&&ka(),n&&l("p",{className:"notice"},n),kr.element),kr.draw()}}function ka(){
return l("div",{className:"notice"},l("p",{},`The schema of the server could not be loaded: ${jt}.`),l("p",{className:"muted"},"The console needs a server with \
Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function Na(t){let e=l("div",{}),n=()=>C(
e,bn(Ln.all.filter(r=>r.path===t),vo,!0));return n(),bo=n,l("section",{className:"past"},l("h2",{},"History"),e)}var bo=()=>{};Ln.listen(()=>{bo(),kr.draw()});function vo(t){
location.hash===`#/${encodeURI(t.path)}`?Le?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Le?.restore(t),{once:!0}))}function Ca(t){
let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,
n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.key==="Enter"&&r)t.shiftKey?Le?.
end():Le?.send();else if(t.key==="Escape"&&!Ar.open){if(!Le?.cancel())return}else if(t.key==="/"&&!n)Gt.focus();else if(t.key==="?"&&!n)Ar.showModal();else if((t.
key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))Ca(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});addEventListener("ha\
shchange",Cr);Gt.addEventListener("input",Nr);ve("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains(
"listing")&&Gt.focus()});ve("help").addEventListener("click",()=>Ar.showModal());C(ve("key-list"),...Ea.flatMap(([t,e])=>[l("dt",{},...t.split(" ").map(n=>l("kb\
d",{},n))),l("dd",{},e)]));Nr();Cr();})();
