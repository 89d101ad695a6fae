"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Er(r,...n),r}function Er(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function $(t,...e){t.replaceChildren(),Er(t,...e)}function me(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function be(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var no=0,re=()=>`e${++no}`;function Mn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function nt(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function _t(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var qt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function ae(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var rt=t=>new Date(t).toTimeString().slice(0,
8);var ro=new TextEncoder,so=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),kr=40,ke=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
_=t=>{throw new ke(t)},V=t=>({bytes:t,at:0,depth:0,memory:0}),vt=(t=64)=>V(new Uint8Array(t)),Ht=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,ve=t=>ro.encode(
t);function Jt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function U(t,e){t.at===t.bytes.
length&&Jt(t,1),t.bytes[t.at++]=e}function Nr(t,e){U(t,e>>8),U(t,e)}function P(t,e){for(;e>127;e=Math.floor(e/128))U(t,e|128);U(t,e)}function le(t,e){Jt(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}function Je(t,e){P(t,e.length),le(t,e)}function Ne(t,e){let{at:n}=t,{length:r}=e,s=r>kr?128:0;U(t,r);for(let o=0;o<r&&s<128;o++)
U(t,s=e.charCodeAt(o));s>127&&(t.at=n,Je(t,ve(e)))}function ye(t,e,n){U(t,e);let{at:r}=t;n();let s=t.bytes.slice(r,t.at);return t.at=r,Je(t,s),s.length>0}var wt=({
bytes:t,at:e})=>t.subarray(0,e),J=({bytes:t,at:e})=>t.length-e,Ve=({bytes:t,at:e})=>t[e],Y=t=>t.bytes[t.at++]??_("truncated");function Me(t,e){let n=Y(t);n!==e&&
_(`found byte ${n}, expected ${e}`)}function O(t,e=5){let n=0;for(let r=1;e-- >0;r*=128){let s=Y(t);if(s<128)return n+s*r;n+=(s-128)*r}return _("a number is too\
 long")}function ce(t,e=O(t)){return e>J(t)&&_("truncated"),t.bytes.subarray(t.at,t.at+=e)}var We=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function Q(t,e=O(
t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=kr)for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=ce(t,e);try{return so.decode(i)}catch{_("a t\
ext is not UTF-8")}}return t.at+=e,s}var Vt=oo();var D=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,Wt(n),{cause:n})}};function oo(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var Wt=t=>t instanceof Error?t.message:String(t),W=(t,e)=>new D(t,e,{mayHaveRun:!1}),
Mr=t=>{let e=D.from(t);return e.mayHaveRun?e:new D(e.code,e.message,{...e,mayHaveRun:!0})},jt=t=>t>0&&t<=16?t:2,xt=(t,e,n)=>new D(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),
Gt=t=>xt(1,"the caller cancelled the call",t),$r=(t,e="")=>xt(4,`deadline exceeded${e}`,t);var zt=100,io=64<<20,ao=12,An=8,Cn=56,$n=new Uint8Array(8),Tr=new DataView($n.buffer);function R(t,e,n){let r;return{name:t,fields:()=>r??=lo(e,n?.()??[])}}function In(t,e){
let n=vt(256);return kt(n,t,e),wt(n)}var Rn=(t,e)=>Nt(V(e),t,0);function kt(t,e,n){t.depth=zt,Rr(t,e,n)}function Nt(t,e,n){return t.depth=zt,t.memory=Math.max(io,
J(t)*ao),Or(t,e,n)??Fr(t,e)}function lo(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);
if(!o)throw new Error(`invalid table entry: ${s}`);let[,i,a,c,d,p]=o,u=p==="m"?po(e[r++]):p==="e"?fo(e[r++]):Cr[p],f=Cr[d[1]??""],h=f?[2,f.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,v=a?n.get(a):void 0;a&&!v&&n.set(a,v=[]);let A={name:a??i,of:u,isOptional:d==="?",key:f,head:h,case:i,number:+c,all:v};return v?.push(A),
A})}var Et=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Rr(t,e,n){if(!t.depth--)throw Ir(e.name,`nests deeper than ${zt}`);U(t,
8),U(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)co(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(U(t,3),P(t,d?d.number:0));let p=t.isFlat?s:d;p&&St(t,p.of,p===d?c?.value:void 0)}}}catch(s){throw s instanceof
D?s:Ir(`${e.name}.${r}`,s.message)}t.depth++}function co(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=Et(e)),r){let i=n,a=n,c=s?i.size:a.
length;Te(c>=0,n);for(let d of r)U(t,d);if(P(t,c),s)for(let[d,p]of i)St(t,s,d),St(t,o,p);else for(let d of a)St(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?
U(t,0):St(t,o,n)}function St(t,e,n){e.table||U(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Or(t,e,n){if(Ve(t)===0)return void t.at++;Me(t,8),Y(t),t.depth--||
_(`${e.name} nests deeper than ${zt}`);let r=e.fields();On(t,Cn+An*r.length);let s={},o="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(s[a]=void 0),
n>0&&!J(t))n--,c||(s[a]=Et(i));else if(!c)s[a]=uo(t,i);else if(p&&Ve(t)===3){t.at++,o+=` ${a} `;let u=O(t),f=c.find(h=>h.number===u);f?s[a]={case:f.case,value:Tn(
t,f.of)}:u&&_(`${e.name}.${a} has no member ${u}`)}else if(!o.includes(` ${a} `)){let u=Kt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(s[a]=
{case:i.case,value:u})}}return t.depth++,s}function uo(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&Ve(t)===0)return t.at++,Et(e);if(!n)return Kt(t,s);for(let a of n)
Me(t,a);let o=O(t),i=Et(e);for(;o-- >0;)On(t,r?Cn:An),r?i.set(Kt(t,r),Tn(t,s)):i.push(Tn(t,s));return i}function Kt(t,{wire:e,table:n,take:r}){return n||Me(t,e),
r(t)}var Tn=(t,e)=>Kt(t,e)??Fr(t,e.table);function Fr(t,e){let n={},r=e.fields();On(t,Cn+An*r.length);for(let s of r)n[s.name]=s.all?void 0:Et(s);return n}function On(t,e){
(t.memory-=e)<0&&_("exceeds the memory limit")}var $e=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),po=t=>$e(3,()=>{},(e,n)=>n?Rr(e,t,n):U(e,0),e=>Or(e,t,
0),t);function fo(t){let e=Object.values(t);return $e(10,()=>e[0],(n,r)=>{let s=e.indexOf(r),o=r+2147483648;Te(s>=0||r===(r|0)&&r<0&&o>=e.length,r),P(n,s<0?o:s)},
n=>{let r=O(n)>>>0,s=r-2147483648;return r>=e.length&&(s>=0||e.includes(s))&&_(`an enum has the index ${r}`),e[r]??s})}var Xt=(t,e)=>$e(t?13:11,()=>e?0:0n,(n,r)=>{
let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return P(n,i);Te((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>
63n:s;for(;a>>53n;a>>=7n)U(n,Number(a&127n)|128);P(n,Number(a))},n=>{let{at:r}=n,s=O(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<
n.at;i+=7n)o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||_("an integer is beyond 2^53"),Number(
s)):BigInt(s)}),Ar=(t,e)=>$e(t,()=>0,(n,r)=>{Te(typeof r=="number",r),Tr[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)U(n,$n[s])},n=>{for(let r=0;r<e;r++)
$n[r]=Y(n);return Tr[e>4?"getFloat64":"getFloat32"](0)}),Cr={b:$e(7,()=>!1,(t,e)=>{Te(typeof e=="boolean",e),U(t,+e)},t=>{let e=Y(t);return e>1&&_(`a bool is ${e}`),
e>0}),i:$e(12,()=>0,(t,e)=>{Te(e===(e|0),e),P(t,(e<<1^e>>31)>>>0)},t=>{let e=O(t);return e>>>1^-(e&1)}),u:$e(10,()=>0,(t,e)=>{Te(e===e>>>0,e),P(t,e)},t=>O(t)>>>
0),l:Xt(!0,!1),w:Xt(!1,!1),L:Xt(!0,!0),W:Xt(!1,!0),f:Ar(14,4),d:Ar(15,8),s:$e(5,()=>"",(t,e)=>{Te(typeof e=="string",e),U(t,10),Ne(t,e)},t=>(Me(t,10),Q(t))),y:$e(
4,()=>new Uint8Array,(t,e)=>{Te(Ht(e),e),U(t,10),Je(t,e)},t=>(Me(t,10),new Uint8Array(ce(t))))},Ir=(t,e)=>W(3,`${t} ${e}`);function Te(t,e){if(!t)throw new Error(
`cannot be the ${typeof e} ${String(e)}`)}var Ln=16,Lr=65536,Ur=256,mo=61440,yo={metadata:{}},Fn=t=>t.endsWith("-bin"),Dr=(t,e)=>Fn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${t} ${Fn(
t)?"":e}`);function Un(t){if(typeof t=="string")return ve(t);if(!Ht(t))throw W(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Dn(t,{
isBackward:e,timeout:n,metadata:r={},status:s}){let{at:o}=t;ye(t,Ln,()=>{e&&ye(t,4,()=>{}),n!==void 0&&ye(t,1,()=>P(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.
MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Dr(c,d))throw W(3,`invalid metadata entry ${c}: keys have a-z 0-9 - _ . and values prin\
table ASCII, or bytes under -bin`);if(a+=c.length+d.length+8,p>=Ur||a>mo)throw W(8,"too much metadata");ye(t,2,()=>{Ne(t,c),le(t,Un(d))})}),s){let{code:c,details:d,
mayHaveRun:p}=s;ye(t,3,()=>{P(t,c),t.at-o+d.length+32<=Lr&&le(t,d)}),p||ye(t,5,()=>{})}})||(t.at=o)}function Yt(t){if(Ve(t)!==Ln)return yo;t.at++;let e=V(ce(t));
J(e)>Lr&&_("a prefix is too long");let n=Object.create(null),r={metadata:n},s=0;for(;J(e);){let o=Y(e),i=V(ce(e));if(o===1)r.timeout=O(i,10)/1e3;else if(o===2){
let a=Q(i),c=Fn(a)?We(i):Q(i,J(i));(!Dr(a,c)||a in n||++s>Ur)&&_("invalid metadata"),n[a]=c}else o===3?(r.code=jt(O(i,10)),r.details=We(i)):o===5&&(r.isRefused=
!0)}return r}function Pr(t){let e=1;for(;t[e]>127;)e++;return t[0]===Ln&&t[e+1]===4&&t[e+2]===0}function Zt(t,{metadata:e,code:n,details:r,isRefused:s}){if(Ve(t)===
6)return t.at++,Me(t,5),Me(t,10),new D(n??2,Q(t),{metadata:e,mayHaveRun:!s,...r&&{details:r}})}function Br(t,e,n){Dn(t,{isBackward:n,status:e,metadata:e.metadata}),
le(t,[6,5,10]),Ne(t,e.message)}var je=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)});function _r(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw W(9,`incompatibl\
e layouts of ${t.name}`);return 1}var qr=({added:t=[0,0]},e,n)=>e*t[n];function Pn(t,e){let n=s=>s.match(/../g)?.forEach(o=>U(t,parseInt(o,16)));Ne(t,e.name),n(
e.fingerprint),P(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let s of[...e.operations].sort((o,i)=>o-i))P(t,s-r),r=s}function Hr(t){let e=()=>{let r="";
for(;r.length<16;)r+=Y(t).toString(16).padStart(2,"0");return r},n={service:Q(t),fingerprint:e(),compatible:[],operations:[]};for(let r=O(t);r>0;r--)n.compatible.
push(e());for(let r=0;J(t);)n.operations.push(r+=O(t));return n}var Bn=5<<20,ho=1024,bo=65536,ot=10,Ge=16384,vo=Ge/2,wo=256,Qt=262144,xo=1e5,So=64<<20,Jr=8<<20,Eo=10,ko=65536,No=2e3,Mo=5,$o=1e4,Vr="the server is going away",
To=2147483647,Mt=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),To));function Wr(t,e,n,r,s){let o=vt(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,f=0,h=0,v=0,A=32767,
k=[0,Bn,1/0,Ge,0],C=!1,de=!1,ee,X=ot,Ee=0,oe=!1,j=0,G=!1,ie=!1,te=0,K,Z=y=>{if(!(C||!he))try{y(he)}catch(w){B(Wt(w));try{he.close()}catch{}}},ne=()=>{o.at&&(G=!1,
ie=!0,Z(y=>y.send(wt(o))),o.at=j=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),Z(y=>{let w=y.buffered();w>So?I("too many unsent bytes"):w>Jr&&!N.isFull&&
(N.isFull=!0,m())}))},m=()=>Z(y=>{if(y.buffered()>Jr/2)return void Mt(Eo,m);N.isFull=!1,e.room(N)}),b=()=>{o.at!==j?(j=o.at,queueMicrotask(b)):(oe=!1,ne())},g=(y,w,S,L)=>{
let{at:Ue}=o;try{Jt(o,ot),o.at+=ot,S?.(o,L);let pe=o.at,tt=pe-Ue-ot,Sr=Math.max(k[1],ho);if(tt>Sr)throw W(8,`the message has ${tt} bytes of at most ${Sr}`);o.at=
Ue;for(let to of[15,y,w,tt>>>16,tt])Nr(o,to);o.at=pe}catch(pe){throw o.at=Ue,pe}o.at>ko?ne():oe||(oe=!0,j=0,queueMicrotask(b))},x=(y,{code:w,message:S})=>g(y,7,
L=>{P(L,w),le(L,ve(S.slice(0,256)))}),E=(y,w)=>{g(y,5,P,0),x(y,w)},T=y=>{if(!C){if(te=0,ee){if(le(ee,y),ee.at<X)return;y=wt(ee),ee=void 0}try{let w=0,S=L=>y[w+L]<<
8|y[w+L+1];for(;!C&&!(y.length<(X=w+ot));w=X){S(0)!==15&&_("a header without its magic");let L=S(6)*65536+S(8);if(L>Bn&&_(`a packet of ${L} bytes`),y.length<(X+=
L))break;z(S(2),S(4),y.subarray(w+ot,X))}w<y.length&&(X-=w,le(ee=vt(),y.subarray(w)))}catch(w){I(`the server broke the protocol: ${w.message}`)}}},z=(y,w,S)=>{let L=V(
S),Ue=i.get(y);if(w>=10)if(N.isUp||_("a packet before HELLO"),Pr(S)){if(H)return H.packet(y,w,S,!1)}else{let pe=d[y%Ge];if(pe?.id===y&&pe.operation===w)return ge(
y),e.answered(),pe.isGivenUp?u--:e.replied(pe,S),M();if(s.filter(tt=>tt.packet(N,y,w,S)).length)return}else if(w<2){S.length&&_("a PING with a body"),w===1?N.isUp||
I("the server is a compat peer"):G||(G=!0,g(0,1));return}else{if(w===3&&!N.isUp)return ue(L);if(w===4)return F();if(w===6)return H?.cancel(y,O(L));if(w===8)_("a\
 stray hand-off");else{if(Ue&&w!==3&&w<8)return e.answered(),Ue.packet(w,S);if(w===2){let pe=y-A&32767;if(y>=32768&&pe&&pe<=16384)return A=y,H?H.packet(y,2,S,!0):
E(y,W(12,"no service is served"))}}}++Ee>xo&&I("too many stray packets")},ue=y=>{for((J(y)>bo||Q(y,4)!=="fris"||!Y(y))&&_("no HELLO");J(y);){let w=Y(y),S=V(ce(y));
if(w in k)k[w]=O(S,10);else if(w===32||w===33)try{let L=Hr(S);(w===32?a:c).set(L.service,L)}catch{}}k[3]=Math.min(k[3],Ge),N.isUp=!0,clearTimeout(He),e.room(N)},
ge=y=>{d[y%Ge]=void 0,p--===k[3]&&e.room(N)},fe=(y,w,S)=>{i.set(w,y),y.begin(N,w,k[4],S)},M=()=>{de&&p===u&&!i.size&&!H?.progress.size&&queueMicrotask(()=>I(Vr))},
F=()=>{de||(de=!0,e.closing(N,Vr),M())},I=y=>{C||(ne(),Z(w=>w.close()),B(y))},B=y=>{if(C)return;C=!0,clearInterval(K),clearTimeout(He),e.closing(N,y),N.isUp=!1;
let w=new D(14,`the connection was lost: ${y}`);for(let S of d)S&&!S.isGivenUp&&e.lost(S,w);for(let S of i.values())S.lost(w);H?.down(w);for(let S of s)S.down(N,
w)},N={isUp:!1,isFull:!1,write:g,reset:x,refuse:E,fits(y){let w=a.get(y.name);if(w)return w.fingerprint===y.fingerprint||n.includes(y)?_r(y,w):void 0;for(let S of a.
values())if(S.operations.some(L=>y.operations.includes(L)))throw W(12,`the server has ${S.service} instead of ${y.name}`);return 0},call(y,w){if(N.isFull||p>=k[3])
return!1;do f=f+1&65535;while(d[f%Ge]);let S=y.id=f;d[S%Ge]=y,p++;try{g(S,y.operation,w,y)}catch(L){throw ge(S),L}return!0},cancel(y){C||(y.isGivenUp=!0,g(y.id,
6,P,y.operation),++u>=vo&&F(),M())},open(y,w,S){if(!k[2])throw W(12,"the server does not accept streams");if(N.isFull||h>=Math.min(k[2],28672))return!1;do v=v%32767+
1;while(i.has(v));let L=v;i.set(L,y),h++;try{g(L,2,S)}catch(Ue){throw N.over(L),Ue}return y.begin(N,L,k[4],w),!0},accept:fe,over(y){i.delete(y),y<32768&&(h--,e.
room(N)),M()},drain:F,closeIfIdle:M},H=r?.on(N,c),He=Mt($o,()=>I("handshake timeout")),et=()=>{o.isFlat=he?.isFlat,g(0,3,y=>{le(y,ve("fris"));let w=H?wo:0;[Bn,
w,w,Qt].forEach((S,L)=>ye(y,L+1,()=>P(y,S)));for(let S of r?.services??[])ye(y,32,()=>Pn(y,S));for(let S of n)ye(y,33,()=>Pn(y,S))}),g(1,0),ne(),!C&&(K=setInterval(
()=>{if(++te>Mo)return I("keepalive timeout");(te>1||!ie)&&g(0,0),ie=!1;let y=performance.now();for(let w of d)w&&w.until<=y&&!w.isGivenUp&&e.expired(w)},No))},
he,wr=y=>he?y():queueMicrotask(y),xr=y=>wr(()=>B(y));try{he=t({open:()=>wr(et),data:T,close:xr})}catch(y){xr(Wt(y))}return N}function en(t,e){let n=[],r=0,s=!1,o=()=>{},i=f=>{s||=f,o()},a=()=>n[r],c=()=>{let f=a();return f!==void 0&&(n[r++]=void 0,r>999&&r*2>n.length&&(n.splice(0,r),r=
0)),f},d=()=>{n=[],r=0},p=(async function*(){try{for(;;){let f=c();if(f!==void 0){let h=t(f);h!==void 0&&(yield h)}else if(s){if(s!==!0)throw s;return}else await new Promise(
h=>o=h)}}finally{e()}})(),{return:u}=p;return p.return=()=>(e(),d(),i(!0),u.call(p,void 0)),{messages:p,first:a,take:c,clear:d,put:f=>{n.push(f),o()},end:i}}var _n=64,Ao=4,Co=4096,qn=(t,e)=>t instanceof ke?new D(13,`not a valid ${e.name}: ${t.message}`):D.from(t);function jr(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
f=!0,h=!1,v=!1,A=()=>{},k,C=()=>!u&&!f,{messages:de,clear:ee,put:X,end:Ee}=en(m=>{let b=m.length+_n;d-=b,p+=b,f&&p*Ao>=Qt&&(o?.write(i,5,P,p),p=0);try{let g=V(m),
x=Yt(g);if(g.at&&(s?.(oe.metadata=x.metadata),!J(g)))return;let E=Zt(g,x);if(E)throw E;return Nt(g,e,a)}catch(g){throw qn(g,e)}},()=>n?te(!0):Z()),oe=Object.assign(
de,{metadata:{}}),j=()=>{C()&&(A(),k?.(),o?.over(i),o=k=void 0,r())},G=()=>{u&&(u=!1,o?.write(i,7),j())},ie=m=>{u=f=!1,Ee(m),j()},te=(m,b=Gt(!0))=>{C()||o?.reset(
i,b),ee(),ie(m)},K=m=>te(m,m),Z=()=>{ee(),h=!0},ne=m=>{if(!o||!u)return;let b=m instanceof D;o.write(i,2,g=>{let{at:x}=g;b?Br(g,m,!1):kt(g,t,m),c-=g.at-x+_n}),b&&
G()};return{messages:oe,begin(m,b,g,x){o=m,i=b,c=g,a=x},packet(m,b){if(m===2)return!f||h?void 0:d+p>=Qt?K(new D(8,"the peer exceeded its credit")):(d+=b.length+
_n,X(new Uint8Array(b)));let g=V(b);if(m===5){let x=O(g,10);v||=!x,(c+=x)>0&&A()}else if(b.length){let x=jt(O(g));ie(new D(x,new TextDecoder().decode(We(g).subarray(
0,Co)),{mayHaveRun:!v}))}else f=!1,Ee(!0),j()},send:ne,async pump(m,b){try{let g=m,x=g?.[Symbol.asyncIterator]?.()??g?.[Symbol.iterator]?.();if(!x)throw W(3,`me\
ssages of a stream are an iterable, not ${String(m)}`);for(k=async()=>{try{await x.return?.()}catch{}};;){for(;c<=0&&!C();)await new Promise(z=>A=z);if(C())return;
let{done:E,value:T}=await x.next();if(C())return;if(E)break;ne(T)}k=void 0,G()}catch(g){if(!n)throw k?.(),k=void 0,g;te(b?Mr(g):D.from(g))}},finish:G,discard:Z,
fail:K,lost:ie}}var Io=3e4,Ro=5e3,Oo=20,Gr=2e3,Xr=10,$t=class{constructor(e,{timeout:n,patience:r=Ro,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=Xr,p=0,u,f=!1,h="",v=[new Set,
new Set],A=({method:{sends:m,receives:b}})=>v[m||b?1:0],k=new Set,C=[],de=()=>{a||u||f||!(v[0].size||v[1].size||i)||(p=performance.now(),a=Wr(e,ee,[...k],o,C))},
ee={room:m=>queueMicrotask(()=>{for(let b of v)for(let g of b){if(a!==m||!X(g,m))break;a===m&&b.delete(g)}}),closing(m,b){a===m&&(a=void 0,h=b,m.isUp&&performance.
now()-p>=Gr?c=0:f||(clearTimeout(u),u=Mt(Math.random()*Math.min(Oo*2**Math.min(c++,16),Gr),()=>{u=void 0,de()})),de())},answered:()=>void(c=0),replied(m,b){let g=m,
{method:{reply:x},options:{onMetadata:E}}=g;j(g);try{let T=V(b),z=Yt(T),ue=Zt(T,z);if(ue)throw ue;T.at&&E?.(z.metadata),g.resolve(Nt(T,x,g.missing)),d<Xr&&(d+=.1)}catch(T){
g.reject(qn(T,x))}},expired:m=>oe(m),lost(m,b){let g=m;if(g.link=void 0,!g.method.idempotent||d<1)return G(g,b);d--,Ee(g)}},X=(m,b)=>{let{service:g,method:x}=m;
try{let E=g?b.fits(g):0;return E!==void 0?(m.missing=qr(x,E,1),m.start(m,b)&&(m.isSent=!0)):(k.add(g),c=0,b.drain(),!1)}catch(E){return G(m,D.from(E)),!0}},Ee=m=>{
if(!(a?.isUp&&X(m,a))){if(f)return G(m,Kr(m.isSent));m.patientUntil=performance.now()+(m.options.patience??r),A(m).add(m),de(),oe(m)}},oe=m=>{let{until:b,isSent:g,
patientUntil:x}=m,E=performance.now(),T=A(m).has(m)&&!a?.isUp&&`no connection to the server${h&&`: ${h}`}`;clearTimeout(m.timer),E>=b?G(m,$r(g,T?`; ${T}`:"")):E>=
x&&T?G(m,xt(14,T,g)):m.timer=Mt((E<x?Math.min(b,x):b)-E,()=>oe(m))},j=m=>{A(m).delete(m),clearTimeout(m.timer),m.options.signal?.removeEventListener("abort",m.abort)},
G=(m,b)=>{j(m),m.link?.cancel(m),m.reject(b)},ie=(m,{sentTimeout:b,until:g,options:{metadata:x}})=>{(b!==void 0||s||x)&&Dn(m,{timeout:b&&g-performance.now(),metadata:{
...s,...x}})},te=(m,b)=>{ie(m,b),kt(m,b.method.request,b.request)},K=(m,b)=>{let g=b.call(m,te);return g&&(m.link=b),g},Z=(m,b,g,x,E,T,z,ue,ge=1/0)=>{let{signal:fe}=x,
M={id:0,operation:b.operation,until:performance.now()+ +(E??ge),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:m,method:b,request:g,
options:x,sentTimeout:E,start:T,resolve:z,reject:ue,abort:fe&&(()=>G(M,Gt(M.isSent)))};return Number.isNaN(M.until)?ue(W(3,"the timeout is not a number; it is i\
n milliseconds")):fe?.aborted?M.abort?.():(fe?.addEventListener("abort",M.abort),E!==void 0&&oe(M),(E===void 0||E>0)&&Ee(M)),M},ne=(m,b,g,x={})=>{let E,T=jr(b.request,
b.reply,!0,()=>E&&j(E),x.onMetadata);return E=Z(m,b,g,x,x.timeout,(z,ue)=>{let ge=ue.open(T,z.missing,fe=>{ie(fe,z),U(fe,9),P(fe,z.operation)});return ge&&T.pump(
g,b.sends),ge},()=>{},T.fail),T};this.unary=(m,b,g,x={})=>new Promise((E,T)=>void Z(m,b,g,x,x.timeout??n,K,E,T,Io)),this.serverStreaming=(m,b,g,x)=>ne(m,b,[g],x).
messages,this.twoWay=(m,b,g,x)=>ne(m,b,g,x).messages,this.clientStreaming=async(m,b,g,x)=>{let{messages:E}=ne(m,b,g,x),{done:T,value:z}=await E.next();if(T)throw new D(
13,"there is no reply");return E.return?.(),z},this.name=m=>void k.add(m),this.mount=m=>void C.push(m),this.connected=(m,b)=>new Promise((g,x)=>{Z(void 0,{},void 0,
{patience:b},void 0,(E,T)=>T.isFull?!1:(m?.(T),j(E),g(T),!0),g,x)}),this.close=()=>{f=!0,clearTimeout(u);for(let m of v)for(let b of m)G(b,Kr(b.isSent));a?.drain()},
i&&queueMicrotask(de)}},Kr=t=>xt(9,"the channel is closed",t);var it=65280,Fo=16<<20,Hn=64,Lo=65536,Uo=4,tn={now:0,last:1,oldest:2},zr=t=>W([8,12,7][Y(t)-3]??3,Q(t,J(t))),Tt=class{constructor(e){this.channel=e;this.requests=
new Map;this.last=0;let{requests:n}=this;e.mount({packet:(r,s,o,i)=>{if(o<it)return!1;!s&&o===it+5&&(this.refused??=zr(V(i)));for(let a of s?[n.get(s)]:n.values())
a?.packet(r,s,o-it,V(i));return!0},down(r,s){for(let o of[...n.values()])o.down(r,s)}})}subscribe(e,{group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){
await this.channel.connected(r=>r.write(0,it+2,s=>{Je(s,ve(e)),le(s,Un(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.refused=
void 0,e)throw e}request(e,n,r="",s){let{channel:o,requests:i}=this;do this.last=this.last%65535+1;while(i.has(this.last));let a=this.last;return new Promise((c,d)=>{
let p,u=0,f=0,h=!1,{first:v,messages:A,put:k,end:C,take:de}=en(M=>(u-=M.payload.length+Hn,M),()=>{i.delete(a)&&n!==void 0&&p?.isUp&&p.write(a,it+1)}),ee=M=>{i.delete(
a),d(M),C(M)},X=r?[]:n?.split(".")??[],Ee=X[X.length-1]===">",oe=M=>{let F=M.split(".");return(Ee?F.length>=X.length:F.length===X.length)&&X.every((I,B)=>I===">"||
I==="*"||I===F[B])},j=e===0&&!r&&s!==void 0,G=typeof s=="object";if(G&&!(/^[\da-f]{16}$/.test(s.epoch)&&s.offset>=0))throw W(3,`${s.epoch}, ${s.offset} is not a\
 position of a message`);let ie=G||s===void 0?tn.oldest:tn[s],te=new Map(G?[[n,{...s,offset:s.offset+1}]]:[]),K=new Map,Z=0,ne="",m=!1,b=!1,g=!1,x=!1,E=!1,T=M=>{
p?.write(a,it+M,F=>{if(n!==void 0&&Je(F,ve(n)),M===6){U(F,ie);for(let[I,B]of te){Ne(F,I);for(let N=0;N<16;N+=2)U(F,parseInt(B.epoch.slice(N,N+2),16));P(F,B.offset)}}else
le(F,ve(r))})},z=M=>{o.connected(F=>{i.has(a)&&(p=F,T(j?6:e))},M).catch(ee)},ue=()=>{E=!0,b&&(g||!(j&&x))&&(h=!0),c(A)},ge=M=>Array.from(ce(M,8),F=>F.toString(16).
padStart(2,"0")).join(""),fe=(M,F,I)=>{if(F===5&&M&&!E&&j&&I.bytes[I.at]===Uo)g=!0,T(0);else if(F===6&&M&&I.bytes[I.at]===0){Y(I),x=Y(I)===1;let B=ge(I);Z=O(I,10);
let N=ne!==""&&ne!==B,H=!n?.match(/[*>]/)&&te.size>0;ne=B,ue(),g=!1,h||=H?!Z:N}else if(F===7)for(;J(I);){let B=Q(I),N={epoch:ge(I),offset:O(I,10)};if(Number.isSafeInteger(
N.offset)||_("an offset is beyond 2^53"),!E||!M&&!oe(B))continue;let H=K.get(B);M&&!H?(Z--,H=te.get(B)??(m?{...N,offset:1}:void 0)):!M&&H?.epoch!==N.epoch&&(H=void 0),
H&&x&&(H.epoch===N.epoch&&H.offset<=N.offset?f+=N.offset-H.offset:h=!0),K.size>=Lo&&(K.clear(),g=!0),K.set(B,N)}else return!1;return!0};i.set(a,{packet(M,F,I,B){
if(!(M!==p||j&&fe(F,I,B)))if(I===2){let N=Q(B);if(!F&&(!E||!oe(N)))return;let H=We(B),He=K.get(N);He&&K.set(N,{...He,offset:He.offset+1}),u+=H.length+Hn;for(let et;u>
Fo&&(et=de());){u-=et.payload.length+Hn;let he=v();f+=et.lagged+1,h||=et.reconnected,he&&(he.lagged+=f,he.reconnected||=h,f=0,h=!1)}k({topic:N,payload:H,position:He,
lagged:f,reconnected:h}),f=0,h=!1}else I===4?j&&x&&E||(f+=O(B,10)):F&&(J(B)?ee(zr(B)):ue())},down(M,F){if(M===p){if(n===void 0||!E&&!b)return ee(F);if(E)if(Z>0)
for(let[I,B]of K)te.set(I,B);else te=g?new Map:K,ie=g?tn.now:tn.oldest,m=!g;K=new Map,E=!1,b=!0,z(1/0)}}}),z()})}};var nn="frisbee.1";function Jn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let s=new n(String(t),[nn,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===nn)return r.
open();o=`the server does not speak ${nn}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var Do=64;var rn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of we(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of we(e))i===
2?n=Ae(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=_o(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>Do)throw new ke("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",f=!1;for(let{number:k,bytes:C}of we(e))k===1?u=Ae(C):k===2?a.push(C):k===3?c.push(C):k===4?d.push(C):k===7?f=ts(C,7):k===8&&p.push({name:Qr(C),docs:o.
get(`${s},8,${p.length}`)??""});let h=[...r,u],v=Zr(n,h),A=a.map((k,C)=>Po(k,o.get(`${s},2,${C}`)??""));this.messages.set(v,{name:v,package:n,path:h,docs:o.get(
s)??"",fields:A,oneofs:p,isEntry:f}),c.forEach((k,C)=>this.declare(k,n,h,`${s},3,${C}`,o,i+1)),d.forEach((k,C)=>this.declareEnum(k,n,h,`${s},4,${C}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of we(e)){if(p===1&&(a=Ae(u)),p!==2)continue;let f=0;for(let h of we(u))h.number===2&&(f=h.low|0);i.push({name:Qr(u),number:f,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=Zr(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},es=t=>t===11||t===10||t===
14,Zr=(t,e)=>[...t?[t]:[],...e].join(".");function Po(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of we(t))u.number===1?n=Ae(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=Ae(u.bytes).replace(/^\./,""):u.number===8?p=ts(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Ae(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new ke(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,f)=>f.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var Bo=new Uint8Array,Ae=t=>Q(V(t),t.length);function*we(t){
let e=V(t);for(;J(e);){let n=O(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(O(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:Bo,
low:o>>>0}}else if(s===2)yield{number:r,bytes:ce(e,O(e)),low:0};else if(s===1||s===5)ce(e,s===1?8:4);else throw new ke(`a field of the wire type ${s}`)}}function Qr(t){
for(let{number:e,bytes:n}of we(t))if(e===1)return Ae(n);return""}function ts(t,e){for(let{number:n,low:r}of we(t))if(n===e)return r!==0;return!1}function _o(t){
let e=new Map;for(let{number:n,bytes:r}of we(t)){if(n!==1)continue;let s="",o="",i="";for(let c of we(r))if(c.number===1){let d=V(c.bytes),p=[];for(;J(d);)p.push(
O(d));s=p.join(",")}else c.number===3?o=Ae(c.bytes):c.number===4&&(i=Ae(c.bytes));let a=o||i;a&&e.set(s,sn(a))}return e}var sn=t=>t.replace(/^ /gm,"").trim();var De=t=>`f${t.number}`,lt=t=>`o${t}`,Vn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
at=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=Ho(this.schema,
r),o=s.map(c=>`${De(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>es(c.kind)),a=R(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Vn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Vn[o.kind]}${Vn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${lt(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=qo(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},qo=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Ho(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function ns(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:f})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:f})),i=je(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var Wn={POLYGLOT:0,PROTOBUF:1},At={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Jo=R("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Vo=R("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Wo=R("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Xo]),jo=R("fr\
pc.reflection.v1.ListRequest","etag:s"),Go=R("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[At]),Xo=R("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Wn,Go]),ct=je("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:jo,reply:Wo,receives:!0,
idempotent:!0},files:{operation:65001,request:Vo,reply:Jo,receives:!0,idempotent:!0}});var rs=32<<20,Ce=t=>`${t.service.name}/${t.name}`,on=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Jn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new $t(o,
{stayConnected:!0}),this.channel.name(ct),this.topics=new Tt(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let f of n.serverStreaming(
ct,ct.methods.list,{etag:e?.etag??""},{metadata:r})){if(f.notModified)return;o||=f.etag;for(let h of f.services){let v=s.get(h.name);v?v.methods.push(...h.methods):
s.set(h.name,h)}}let i=[],a=0;for await(let{data:f}of n.serverStreaming(ct,ct.methods.files,{},{metadata:r}))if(i.push(f),a+=f.length,a>rs)throw new D(Vt.RESOURCE_EXHAUSTED,
`the schema has more than ${rs} bytes`);let c=new Uint8Array(a),d=0;for(let f of i)c.set(f,d),d+=f.length;let p=new rn(c),u=new at(p);return{etag:o,schema:p,services:[
...s.values()].map(f=>Ko(f,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Ko(t,e){let n,r=o=>{if(t.codec!==Wn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=ns(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==At.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:sn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===At.NO_SIDE_EFFECTS?"no side effects":o.idempotency===At.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:sn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var an=t=>Object.entries(Vt).find(([,e])=>e===t)?.[0]??String(t);var zo=50;function ln(t,e,n){let r=t.slice(-zo).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
s)},l("span",{className:"muted"},rt(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},an(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},ae(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var q=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},se=()=>Object.create(null),Gn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Xn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Xe=t=>Xn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Pe(t){try{return JSON.parse(t||"{}")}catch(e){throw new q(
"",e.message)}}function Ke(t,e,n,r=""){let s=ti(t,e,n,r);if(s)return s;if(!Gn(n))throw new q(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(f=>f.jsonName===a||f.name===a),p=r?`${r}.${a}`:a;if(!d)throw new q(p,`${e} has no such field${Yo(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Zo(t,d,c,p);if(d.oneof===void 0)i[De(d)]=u;else{let f=lt(d.oneof);if(i[f])throw new q(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[f]={case:De(d),value:u}}}return i}var Yo=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function Zo(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!Gn(n))throw new q(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[Qo(o,a,r),jn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return jn(t,e,n,r);if(!Array.isArray(n))throw new q(r,"a list is an array");return n.map((a,c)=>jn(t,e,a,`${r}[${c}]`))}function Qo(t,e,n){
if(t.kind!==8)return Rt(t,e,n);if(e!=="true"&&e!=="false")throw new q(n,`${e} is not true or false`);return e==="true"}var os=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),ei=t=>[3,4,6,16,18].includes(
t),Kn=t=>t in os;function jn(t,e,n,r){if(e.kind===11)return Ke(t,e.type,n,r);if(e.kind!==14)return Rt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new q(r,`${s} has no value ${Ct(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Ct=t=>JSON.stringify(t).slice(0,60);function Rt(t,e,n=""){let{kind:r}=t,s=os[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new q(n,`${Ct(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new q(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new q(n,`${i} is not from ${s[0]} to ${s[1]}`);return ei(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new q(n,`${Ct(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new q(n,`${Ct(e)} is not true or false`);return e}if(typeof e!="string")throw new q(n,`${Ct(e)} is not a\
 string`);return r===12?xe(e,n):e}function ti(t,e,n,r){let s=Xn.test(e)&&t.message(e).fields[0];if(s)return{f1:Rt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return ni(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new q(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new q(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!Gn(n))throw new q(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,It(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new q(r,"a ListValue is an array");return{f1:n.map(o=>It(o,0))};case"google.protobuf.Value":return It(n,0)}}function ni(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new q(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function It(t,e){if(e>90)throw new q(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>It(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,It(s,e+1)]))})}function Ot(t,e,n){let r=oi(t,e,n);if(r!==void 0)
return r;let s=se();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[lt(o.oneof)],a=o.oneof===void 0?n[De(o)]:i?.case===De(o)?i.value:void 0;if(a===
void 0)continue;let c=ri(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function ri(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=se();for(let[o,i]of n)s[String(o)]=cn(t,r,i);return s}return Array.isArray(n)?n.map(s=>cn(t,e,s)):cn(t,e,n)}function cn(t,e,n){return e.
kind===11?Ot(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Ie(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?si(n):n}function si(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function oi(t,e,n){let r=Xn.test(e)&&t.message(e).fields[0];if(r)return cn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${ss(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${ss(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return is(n);case"google.protobuf.ListValue":return n.f1.map(dn);case"google.protobuf.Value":return dn(n)}}function is(t){
let e=se();for(let[n,r]of t.f1)e[n]=dn(r);return e}function dn(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?is(e.value):e.case==="f6"?e.value.f1.map(
dn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var ss=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Ie(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function xe(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new q(e,"it is no base64")}}function dt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var ze=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var Ye=t=>Yn(JSON.stringify(t)),Yn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Re=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Yn(t).replace(/'/g,"'\\''")}'`,as=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:Ie(n)]);function ls({method:t,
requests:e,metadata:n,timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Re(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of as(n))i.push(`-H ${Re(`${p}: ${u}`)}`);let a=Re(`${s}/${Ce(t)}`);if(!o)return[...i,`-d\
 ${Re(Ye(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(Ye);return[`printf '${c.map(p=>`\\0${ii(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Re).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ii=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function cs({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Re(a)}`,Re(Ce(t))];for(let d of e)c.push(Re(Ye(d)));for(let[d,p]of as(n))c.
push(`-H ${Re(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var mn=t=>t.replace(/\W/g,"_")||"_",ds=t=>mn(t).replace(/^_(?=\d)/,"-"),us=t=>mn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Ft=t=>us(t).map(e=>e.toLowerCase()).join("_")||"_",Ze=t=>us(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",un=t=>Ze(t).replace(/^./,e=>e.toLowerCase()),ai=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),fn=t=>ai.has(Ft(t))?/^(self|super|crate)$/.test(Ft(t))?`${Ft(t)}_`:`r#${Ft(t)}`:Ft(t),Se=t=>Yn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ps(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=mn(n.service.name.
split(".").pop()??""),c=r.map(h=>ms(e,n.request,h,0)),d=fn(n.name),p=[`let client = ${a}Client::connect(${Se(new URL(i).host)}).await?;`],u=c[0]??`${Ze(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let f=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...Object.entries(s).map(([h,v])=>typeof v=="string"?`request.metadata_mut().insert(${Se(h)}, ${Se(v)})?;`:`request.metadata_m\
ut().insert_bin(${Se(h)}, &[${[...v].join(", ")}][..])?;`)];return f.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...f),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(h=>`requests.send(${h}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(h=>`    requests.send(${h}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function fs({path:t,package:e}){let n=[...t.slice(0,-1).map(fn),Ze(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var zn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function ms(t,e,n,r){let s=t.message(e),o=fs(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let f=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(f===void 0||f===null&&u.type!=="google.protobuf.Value")continue;let h=u.oneof===void 0?void 0:s.oneofs[u.oneof],
v=li(t,s,u,f,r+1),A=h?h.name:u.name;c.add(A);let k=[...s.path.map(fn),Ze(h?.name??"")].join("::");a.push(zn(`${fn(A)}: ${h?`Some(${k}::${Ze(u.name)}(${v}))`:v},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(zn(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${zn("}",r)}`}function li(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,f])=>`(${o.kind===9?`${Se(u)}.to_\
owned()`:ds(u)}, ${pn(t,i,f,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>pn(t,n,d,s)).join(", ")}]`;let a=pn(t,n,r,s),c=n.kind===11&&!Xe(n.type)&&
ys(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function ys(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&ys(t,s.type,n,r))??!1)}function pn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${Se(String(n))}.parse()?`:Xe(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?pn(t,s,n,r):Xe(e.type)?ci(e.type,n):ms(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=Ze(s.path[s.path.length-1]??""),a=Ze(o.name);return`${fs(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...xe(String(n))].join(", ")}]`:e.kind===9?`${Se(String(n))}.to_owned()`:e.kind===1||e.kind===2?bs(Number(n),e.kind===1?"f64":"f32"):ds(String(n))}var ut="\
frpc::prost_types::";function ci(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${ut}FieldMask { paths: vec![${n.map(r=>`${Se(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${ut}Struct { fields: ${hs(e)} }`:t===
"google.protobuf.ListValue"?`${ut}ListValue { values: ${gs(e)} }`:Zn(e)}function Zn(t){if(t===null)return`${ut}Value::from(${ut}value::Kind::NullValue(0))`;let e=typeof t==
"string"?Se(t):typeof t=="number"?bs(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?gs(t):hs(t);return`${ut}Value::from(${e})`}var gs=t=>`vec![${t.map(
Zn).join(", ")}]`,hs=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${Se(e)}.to_owned(), ${Zn(n)})`).join(", ")}])`,bs=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function vs(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=mn(n.service.name.split(".").pop()??""),c=r.map(h=>xs(e,n.request,Ke(e,n.request,h))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${Object.entries(s).map(([h,v])=>`${Ye(h)}: ${typeof v=="string"?Ye(v):ws(v)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${un(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${Ye(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var ws=t=>`new Uint8Array([${[...t].join(", ")}])`;function xs(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=De(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${un(i.name)}: ${di(t,i,n[a])}`);continue}let c=n[lt(
i.oneof)];c?.case===a&&o.push(`${un(s[i.oneof]?.name??"")}: { case: "${un(i.name)}", value: ${Lt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function di(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Lt(t,r,o)}, ${Lt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Lt(t,e,o)).join(", ")}]`:Lt(t,e,n)}function Lt(t,e,n){return n instanceof Uint8Array?ws(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?xs(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ye(n):String(n)}var Ss=new WeakMap;function pt(t,e){return Ss.set(t,e),t}var Ut=t=>Ss.get(t)??se();var Es=16<<20,Qn=t=>l("textarea",{rows:1,spellcheck:!1,...t});function er(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function tr(t){let e=re(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return pt({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=Qn({id:e});return pt({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>er(s,()=>void(s.value.
trim()&&Rt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:Kn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!ui(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!Kn(n)?Number(i):i};return pt({element:s,id:e,get:()=>s.
value.trim()?pi(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var ui=t=>t===3||t===4||t===6||t===16||t===18,pi=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function ks(t){let e=re(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return pt(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Ns(){
let t=re(),e,n=Qn({id:t,oninput:()=>f()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(v=>l("option",{},v))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let v=i.files?.[0];if(v){if(v.size>Es){o.textContent=`${v.
name} has more than ${Es>>20} MiB`;return}e=new Uint8Array(await v.arrayBuffer()),o.textContent=`${v.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,h.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=v=>{if(v==="text")return new TextEncoder().encode(n.value);if(v==="base64")return xe(n.
value.replace(/\s/g,""));let A=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(A))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
A.match(/../g)??[],k=>parseInt(k,16))},p=(v,A)=>{let k=A==="text"?dt(v):void 0;r.value=s=A==="text"&&k===void 0?"base64":A,n.value=r.value==="text"?k??"":r.value===
"hex"?ze(v):Ie(v),f()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,f()}},f=()=>er(n,()=>void d(r.value)),h=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return pt({element:h,id:t,get(){let v=e??d(r.value);return v.length>0?Ie(v):void 0},set(v){c(),p(
typeof v=="string"?xe(v):new Uint8Array,r.value)}},"")}function Qe(t,e,n){let r=re(),s=Qn({id:r,placeholder:e,oninput:()=>er(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var fi=3,gn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=As(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??se()}set(e){this.editor.set(e)}example(){this.set($s(this.schema,this.name,[]))}};function $s(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Xe(e)&&s)return Ms(t,s,n);let o=se(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(
v=>v.oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>fi);if(!p||u||d.kind===10||a.isDeprecated)continue;let f=Ms(t,d,i),h=c?.fields[0];h?o[a.jsonName]=
Object.assign(se(),{[h.kind===9?"key":h.kind===8?"true":"1"]:f}):o[a.jsonName]=a.isRepeated?[f]:f}return o}function Ms(t,e,n){switch(e.kind){case 11:return $s(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function mi(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${yn(r)}, ${yn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${yn(e)}`}var yi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],yn=t=>yi[t.kind]||(t.type.split(".").pop()??"");function ft(t,e){
return e.kind===14?ks(t.enumeration(e.type)):e.kind===12?Ns():e.kind!==11?tr(e):gi(t,e.type)}function gi(t,e){switch(e){case"google.protobuf.Timestamp":return Qe(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Qe("text","1.5s");case"google.protobuf.Fiel\
dMask":return Qe("text","name,homeAddress.city");case"google.protobuf.Struct":return Qe("json",'{ "key": "value" }');case"google.protobuf.Value":return Qe("json",
"any JSON");case"google.protobuf.ListValue":return Qe("json","[1, 2]")}let n=Xe(e)?t.message(e).fields[0]:void 0;if(!n)return As(t,e);let r=ft(t,n);return{...r,
get:()=>r.get()??Ts(n)}}var Ts=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function As(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=xi(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=hi(t,i);s.append(Cs(i.name,mi(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=se();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:se();for(let{take:c}of r)c(a)}}}
function Cs(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function hi(t,e){let n=t.entry(e);return n?wi(t,n):e.isRepeated?vi(()=>ft(t,e)):
e.isOptional||e.kind===11?bi(()=>ft(t,e),()=>e.kind===11?se():Ts(e)):ft(t,e)}function bi(t,e){let n=re(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?$(o,(r??=t()).element):$(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Is=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function vi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,Is(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Rs(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Ut(o)):void 0,set(o){e=[],$(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Rs=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function wi(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:tr({...n,kind:n.kind===8?9:n.kind}),value:ft(
t,r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("d\
iv",{className:"item"},p.key.element,p.value.element,Is(()=>{s=s.filter(f=>f!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Rs(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=se();for(let{key:d,value:p}of s)c[String(
d.get()??Ut(d))]=p.get()??Ut(p);return c},set(c){if(s=[],$(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function xi(t,e,n){let r=e.
fields.filter(f=>f.oneof===n),s=re(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(f=>l("option",{value:f.jsonName},`${f.name}: ${yn(f)}`))),c=f=>{a.value=f;let h=r.find(A=>A.jsonName===f);if(!h)return void $(o);let v=i.get(f)??ft(t,h);return i.
set(f,v),v.id&&document.getElementById(v.id)?.setAttribute("aria-label",h.name),$(o,v.element,h.docs&&l("p",{className:"docs"},h.docs)),v},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Cs(d,"oneof",p,u,!1),get(){let f=i.get(a.value);return a.
value&&f?Object.assign(se(),{[a.value]:f.get()??Ut(f)}):se()},set(f){let h=f,v=r.find(A=>(h[A.jsonName]??h[A.name])!==void 0);c(v?.jsonName??"")?.set(v&&(h[v.jsonName]??
h[v.name]))}}}var mt=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?xe(s,o):s)}return e}set(e){$(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:Ie(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},"×"));return this.rows.append(o),r}},nr=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Ie(n))]));var rr=1e5,Si=90;function Os(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return $(t,n,r,s),()=>{$(n,...Ei(e)),$(r,e.isOver&&e.status&&ki(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),nr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
Mi(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function Ei(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${an(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},ae(t.took),o&&`, ${o}`)]}function ki({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},dt(e)??ze(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&nr(t.metadata))}function Ni(t){let e=t.replace(/\n\s*/g," ");return e.length<=Si?e:t}function Mi(t,e){let n=e?Ni(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},_t(n.slice(0,rr)),n.length>rr&&`
… ${n.length-rr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${ae(t.at)}`),l("span",{className:"grow"}),nt(()=>n)),r)}var $i=500,Ti=16<<20,hn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new sr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=D.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Ot(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>$i||this.chars>Ti&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},sr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Ai=["Form","JSON","Copy as"],Fs={curl:ls,frpc:cs,Rust:ps,TypeScript:vs};function or({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var bn=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new mt(()=>this.
note(""));this.timeout=l("input",{type:"text",id:re(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Mn(Ai,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new gn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called here: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),$(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=Ke(
this.catalog.schema,this.method.request,Pe(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Pe(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=or(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Pe(this.json.value))}),this.tab=e,e==="Form"?$(this.body,this.form?.element):e==="JSON"?$(this.body,this.json):this.attempt(()=>$(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Pe(a.json)),s=n.sends&&r&&r.
length>0?r:[Pe(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=Mn(Object.keys(Fs),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Fs[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),nt(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new hn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Os(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Ce(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));$(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var Ci={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Ii=R("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Ri=R("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),Oi=R("frpc.introspection.v1.CloseCount","kind:s count:w"),Fi=R("frpc.introspection.v1.CodeCount","code:i count:\
w"),ir=R("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[Ci]),Li=R("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Ii,Wi,ir,_i]),Ui=R("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),Di=R("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[ir]),Pi=R("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),Bi=R("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Fi]),_i=R("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),qi=R("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Bi]),Ls=R("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[Oi,Ri,Xi,qi]),Hi=R("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[ir,Ls]),Ji=R("frpc.introspection.v1.ServersReply","servers:*m",()=>[Ls]),Vi=R("frpc.introspe\
ction.v1.ServersRequest",""),Wi=R("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),ji=R("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[Hi]),Gi=R("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Xi=R("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),vn=je("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Vi,reply:Ji,idempotent:!0},connections:{
operation:65031,request:Pi,reply:Di,idempotent:!0},connection:{operation:65032,request:Ui,reply:Li,idempotent:!0},watch:{operation:65033,request:Gi,reply:ji,receives:!0,
idempotent:!0}});var gt=12e4,ar=2e3,[Be,_e,qe,ht]=[480,120,44,16];function lr(t){let e=me("svg",{viewBox:`0 0 ${Be} ${_e}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=me("text",{x:qe+(Be-qe)*n,y:_e-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function cr(t,e,n){let r=me("text",{x:qe-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(me("line",{x1:qe,x2:Be,y1:e,y2:e,class:"grid"}),r)}var yt=_e-ht-
8;function Us(t,e){let n=lr("Calls and errors in the last two minutes"),r=gt/ar,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/ar);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/ar))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])cr(
n,_e-ht-yt*c,String(Math.round(i*c)));let a=(Be-qe)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(f,h,v)=>{h>0&&n.append(me("rect",{x:qe+p*a+.75,width:a-1.5,y:_e-
ht-(f+h)/i*yt,height:h/i*yt,class:v}))};u(0,d,"failed"),u(d,c,"ok")}),n}function bt(t,e){return[...t.filter(({at:n})=>e.at-n<gt),e]}var Ds=(t,e,n,r)=>e.map((s,o)=>me(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),Ps=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function wn(t,e,n,r,s,o){let i=lr(`${t}, in the last two minutes`),a=Ps(e,s),c=d=>_e-ht-d/a*yt;for(let d of[0,.5,1])cr(i,c(a*d),o(a*d));return i.append(...Ds(e,
n,d=>Be-(Be-qe)*(r-d)/gt,c)),i}function dr(t,e,n,r){let s=Ps(e,1e-9),o=me("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...Ds(e,n,i=>120-120*(r-i)/gt,i=>19-i/s*18)),o}function Bs(t,e){let n=lr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<gt),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)cr(n,_e-ht-yt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=Be-(Be-qe)*(e-a-c)/gt,f=_e-ht-yt*((s[p]??0)-o)/(i-o);n.append(me("circle",{cx:u,
cy:f,r:2.5,class:d===0?"ok":"failed"}))}),n}function _s(t){let e=t.slice(-40),n=me("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(me("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var qs=1e3,Ki=256,zi=50,xn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===vn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(vn,vn.methods.watch,{intervalMs:qs,connections:Ki},{signal:s,metadata:r});for await(let{servers:i}of o)
$(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||$(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},qs)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,Zi(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>ur([...o.values()].map(({rates:f})=>f.at(-1)?.values[u]??0)),a=ur(n.map(u=>Number(u.streams))),c=ur(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?bt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:bt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:bt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},Qi(e),l("div",{className:"plots"},
fr(["Calls of all clients in a second, ",Yi("errors")," below"],wn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Hs)),fr(["\
Connections, and ",Js("streams"),p],wn("Connections and streams",d.open,["curve","curve second"],r,4,Hs)),fr(["Bytes that wait to be written",p,", and ",Js("hel\
d for clients")],wn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Dt(BigInt(Math.round(u)))))),this.table(e,o,r),Vs(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,zi).map(ea)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.
get(o);return a&&a.calls>0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),Vs(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
o,a.toFixed(a<10?1:0),c,d,pr(i?.p50Ns),pr(i?.p99Ns),pr(i?.maxNs),dr(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),dr(`Averag\
e latencies of ${o}, in the last two minutes`,u,["curve"],r)]))}},ur=t=>t.reduce((e,n)=>e+n,0),Hs=t=>String(Math.round(t)),pr=(t=0n)=>ae(Number(t)/1e6),Yi=t=>l(
"span",{className:"failed"},t),Js=t=>l("span",{className:"second"},t),fr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function Zi({figures:t},e,n,r=n){let s=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(o-e.calls);return{calls:o,failed:s,spent:i,rates:bt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?bt(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function Qi({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Dt(s)} of at most ${Dt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var ea=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,
queued:o,memory:i})=>[t||"unknown",ae(Number(e)),n,n>0n?ae(Number(r)):"",s,Dt(o),Dt(i)];function Vs(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function Dt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var ta=1e3,Sn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new xn(e,r);let i=new mt(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),ta)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${rt(r.since)}`:n],["connections made",String(r.connections)],["sent",Ws(r.sent)],["received",Ws(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];$(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();$(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Us(s.all,c)),l("figure",{},l(
"figcaption",{},"Latency of each call; of a stream, its duration"),Bs(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,$(this.methods,s.all.length>0&&this.table()),$(this.history,ln(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(ae(o)),e(ae(i)),e(ae(a)),l("td",{},_s(c)))})))}};function Ws(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var js=500,Gs=2e4,En=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:re()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:re(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:re(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:re(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for all \
that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>$(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new at(e.schema)},$(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=xe(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=In(this.schema.tables.of(r),Ke(this.schema.catalog.schema,r,Pe(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
js&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${rt(Date.now())}`),l("span",{className:"grow"}),nt(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?_t(o):o)))}for(this.waiting=[];this.log.childElementCount>js;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Ot(this.schema.catalog.schema,n,Rn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${ze(e.subarray(0,Gs))}`}let r=e.subarray(0,Gs);return(n==="hex"?void 0:dt(r))??ze(r)}};var na=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Xs,mr,Ks,Pt,gr]=[be("services"),be("main"),be("state"),be("filter"),be("keys")],Oe=new on(`${location.origin.replace(/^http/,"w\
s")}/`,()=>ra()),Nn=new qt,kn=new Map,Ys=new En(Oe),Fe,Bt="",zs=!1,Le,yr=0,hr=new Sn(Oe,Nn,()=>Fe,t=>eo(t),()=>void Zs(!0));async function Zs(t){let e=++yr,n=t?
void 0:Fe;try{let r=await Oe.catalog(n);if(e!==yr)return;if(Bt="",r){Fe=r;for(let[s,o]of kn)o.isBusy||kn.delete(s);Ys.know(r)}}catch(r){if(e!==yr)return;Bt=r.message}
br(),vr(),zs=await Oe.hasBroker(),be("to-topics").hidden=!zs}function ra(){Ks.textContent=Oe.wire==="open"?"connected":Oe.wire==="lost"?"connection lost":"conne\
cting",Ks.className=`state ${Oe.wire}`,Oe.wire==="open"&&setTimeout(()=>void Zs(!1))}function br(){let t=Pt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>Ce(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Fe?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),$(Xs,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Pt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Ce(c),p=or(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&$(Xs,l("p",{className:"empty"},Fe?"No method has this name.":Bt?"No services.":"Loading the services…"))}
function vr(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Le=void 0;let e=Fe?.services.flatMap(n=>n.methods).find(n=>Ce(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")$(mr,Ys.element);else if(e&&Fe)Le=kn.get(t)??new bn(Oe,Fe,
e,Nn),kn.set(t,Le),$(mr,Le.element,oa(t));else{let n=t&&Fe?`The server shows no method ${t}.`:"";$(mr,Bt&&sa(),n&&l("p",{className:"notice"},n),hr.element),hr.draw()}}
function sa(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Bt}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function oa(t){let e=l("\
div",{}),n=()=>$(e,ln(Nn.all.filter(r=>r.path===t),eo,!0));return n(),Qs=n,l("section",{className:"past"},l("h2",{},"History"),e)}var Qs=()=>{};Nn.listen(()=>{Qs(),
hr.draw()});function eo(t){location.hash===`#/${encodeURI(t.path)}`?Le?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Le?.
restore(t),{once:!0}))}function ia(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Le?.end():Le?.send();else if(t.key==="Escape"&&!gr.open){if(!Le?.cancel())return}else if(t.key==="/"&&!n)Pt.focus();else if(t.key===
"?"&&!n)gr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ia(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",vr);Pt.addEventListener("input",br);be("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Pt.focus()});be("help").addEventListener("click",()=>gr.showModal());$(be("key-list"),...na.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));br();vr();})();
