"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Er(r,...n),r}function Er(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function T(t,...e){t.replaceChildren(),Er(t,...e)}function fe(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function ge(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var so=0,re=()=>`e${++so}`;function Tn(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function tt(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function qt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Ht=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function le(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var nt=t=>new Date(t).toTimeString().slice(0,
8);var oo=new TextEncoder,io=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),kr=40,ke=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
q=t=>{throw new ke(t)},W=t=>({bytes:t,at:0,depth:0,memory:0}),vt=(t=64)=>W(new Uint8Array(t)),Jt=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,he=t=>oo.encode(
t);function Vt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function D(t,e){t.at===t.bytes.
length&&Vt(t,1),t.bytes[t.at++]=e}function Nr(t,e){D(t,e>>8),D(t,e)}function B(t,e){for(;e>127;e=Math.floor(e/128))D(t,e|128);D(t,e)}function ce(t,e){Vt(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}function Ve(t,e){B(t,e.length),ce(t,e)}function Ne(t,e){let{at:n}=t,{length:r}=e,s=r>kr?128:0;D(t,r);for(let o=0;o<r&&s<128;o++)
D(t,s=e.charCodeAt(o));s>127&&(t.at=n,Ve(t,he(e)))}function me(t,e,n){D(t,e);let{at:r}=t;n();let s=t.bytes.slice(r,t.at);return t.at=r,Ve(t,s),s.length>0}var wt=({
bytes:t,at:e})=>t.subarray(0,e),V=({bytes:t,at:e})=>t.length-e,We=({bytes:t,at:e})=>t[e],Y=t=>t.bytes[t.at++]??q("truncated");function Me(t,e){let n=Y(t);n!==e&&
q(`found byte ${n}, expected ${e}`)}function F(t,e=5){let n=0;for(let r=1;e-- >0;r*=128){let s=Y(t);if(s<128)return n+s*r;n+=(s-128)*r}return q("a number is too\
 long")}function de(t,e=F(t)){return e>V(t)&&q("truncated"),t.bytes.subarray(t.at,t.at+=e)}var je=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function se(t,e=F(
t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=kr)for(let i;o<e&&(i=n[r+o])<128;o++)s+=String.fromCharCode(i);if(o<e){let i=de(t,e);try{return io.decode(i)}catch{q("a t\
ext is not UTF-8")}}return t.at+=e,s}var Wt=ao();var P=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,jt(n),{cause:n})}};function ao(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var jt=t=>t instanceof Error?t.message:String(t),j=(t,e)=>new P(t,e,{mayHaveRun:!1}),
Mr=t=>{let e=P.from(t);return e.mayHaveRun?e:new P(e.code,e.message,{...e,mayHaveRun:!0})},Gt=t=>t>0&&t<=16?t:2,xt=(t,e,n)=>new P(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),
Xt=t=>xt(1,"the caller cancelled the call",t),Tr=(t,e="")=>xt(4,`deadline exceeded${e}`,t);var Yt=100,lo=64<<20,co=12,Cn=8,In=56,$n=new Uint8Array(8),$r=new DataView($n.buffer);function L(t,e,n){let r;return{name:t,fields:()=>r??=uo(e,n?.()??[])}}function Rn(t,e){
let n=vt(256);return kt(n,t,e),wt(n)}var On=(t,e)=>Nt(W(e),t,0);function kt(t,e,n){t.depth=Yt,Rr(t,e,n)}function Nt(t,e,n){return t.depth=Yt,t.memory=Math.max(lo,
V(t)*co),Or(t,e,n)??Fr(t,e)}function uo(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);
if(!o)throw new Error(`invalid table entry: ${s}`);let[,i,a,c,d,p]=o,u=p==="m"?mo(e[r++]):p==="e"?yo(e[r++]):Cr[p],f=Cr[d[1]??""],h=f?[2,f.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,b=a?n.get(a):void 0;a&&!b&&n.set(a,b=[]);let I={name:a??i,of:u,isOptional:d==="?",key:f,head:h,case:i,number:+c,all:b};return b?.push(I),
I})}var Et=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Rr(t,e,n){if(!t.depth--)throw Ir(e.name,`nests deeper than ${Yt}`);D(t,
8),D(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)po(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(D(t,3),B(t,d?d.number:0));let p=t.isFlat?s:d;p&&St(t,p.of,p===d?c?.value:void 0)}}}catch(s){throw s instanceof
P?s:Ir(`${e.name}.${r}`,s.message)}t.depth++}function po(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=Et(e)),r){let i=n,a=n,c=s?i.size:a.
length;$e(c>=0,n);for(let d of r)D(t,d);if(B(t,c),s)for(let[d,p]of i)St(t,s,d),St(t,o,p);else for(let d of a)St(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?
D(t,0):St(t,o,n)}function St(t,e,n){e.table||D(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Or(t,e,n){if(We(t)===0)return void t.at++;Me(t,8),Y(t),t.depth--||
q(`${e.name} nests deeper than ${Yt}`);let r=e.fields();Fn(t,In+Cn*r.length);let s={},o="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(s[a]=void 0),
n>0&&!V(t))n--,c||(s[a]=Et(i));else if(!c)s[a]=fo(t,i);else if(p&&We(t)===3){t.at++,o+=` ${a} `;let u=F(t),f=c.find(h=>h.number===u);f?s[a]={case:f.case,value:An(
t,f.of)}:u&&q(`${e.name}.${a} has no member ${u}`)}else if(!o.includes(` ${a} `)){let u=zt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(s[a]=
{case:i.case,value:u})}}return t.depth++,s}function fo(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&We(t)===0)return t.at++,Et(e);if(!n)return zt(t,s);for(let a of n)
Me(t,a);let o=F(t),i=Et(e);for(;o-- >0;)Fn(t,r?In:Cn),r?i.set(zt(t,r),An(t,s)):i.push(An(t,s));return i}function zt(t,{wire:e,table:n,take:r}){return n||Me(t,e),
r(t)}var An=(t,e)=>zt(t,e)??Fr(t,e.table);function Fr(t,e){let n={},r=e.fields();Fn(t,In+Cn*r.length);for(let s of r)n[s.name]=s.all?void 0:Et(s);return n}function Fn(t,e){
(t.memory-=e)<0&&q("exceeds the memory limit")}var Te=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),mo=t=>Te(3,()=>{},(e,n)=>n?Rr(e,t,n):D(e,0),e=>Or(e,t,
0),t);function yo(t){let e=Object.values(t);return Te(10,()=>e[0],(n,r)=>{let s=e.indexOf(r),o=r+2147483648;$e(s>=0||r===(r|0)&&r<0&&o>=e.length,r),B(n,s<0?o:s)},
n=>{let r=F(n)>>>0,s=r-2147483648;return r>=e.length&&(s>=0||e.includes(s))&&q(`an enum has the index ${r}`),e[r]??s})}var Kt=(t,e)=>Te(t?13:11,()=>e?0:0n,(n,r)=>{
let s=BigInt(r),o=Number(s),i=t?o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return B(n,i);$e((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>
63n:s;for(;a>>53n;a>>=7n)D(n,Number(a&127n)|128);B(n,Number(a))},n=>{let{at:r}=n,s=F(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<
n.at;i+=7n)o|=BigInt(n.bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||q("an integer is beyond 2^53"),Number(
s)):BigInt(s)}),Ar=(t,e)=>Te(t,()=>0,(n,r)=>{$e(typeof r=="number",r),$r[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)D(n,$n[s])},n=>{for(let r=0;r<e;r++)
$n[r]=Y(n);return $r[e>4?"getFloat64":"getFloat32"](0)}),Cr={b:Te(7,()=>!1,(t,e)=>{$e(typeof e=="boolean",e),D(t,+e)},t=>{let e=Y(t);return e>1&&q(`a bool is ${e}`),
e>0}),i:Te(12,()=>0,(t,e)=>{$e(e===(e|0),e),B(t,(e<<1^e>>31)>>>0)},t=>{let e=F(t);return e>>>1^-(e&1)}),u:Te(10,()=>0,(t,e)=>{$e(e===e>>>0,e),B(t,e)},t=>F(t)>>>
0),l:Kt(!0,!1),w:Kt(!1,!1),L:Kt(!0,!0),W:Kt(!1,!0),f:Ar(14,4),d:Ar(15,8),s:Te(5,()=>"",(t,e)=>{$e(typeof e=="string",e),D(t,10),Ne(t,e)},t=>(Me(t,10),se(t))),y:Te(
4,()=>new Uint8Array,(t,e)=>{$e(Jt(e),e),D(t,10),Ve(t,e)},t=>(Me(t,10),new Uint8Array(de(t))))},Ir=(t,e)=>j(3,`${t} ${e}`);function $e(t,e){if(!t)throw new Error(
`cannot be the ${typeof e} ${String(e)}`)}var Un=16,Lr=65536,Ur=256,go=61440,ho={metadata:{}},Ln=t=>t.endsWith("-bin"),Dr=(t,e)=>Ln(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.test(`${t}
${Ln(t)?"":e}`);function Dn(t){if(typeof t=="string")return he(t);if(!Jt(t))throw j(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Pn(t,{
isBackward:e,timeout:n,metadata:r={},status:s}){let{at:o}=t;me(t,Un,()=>{e&&me(t,4,()=>{}),n!==void 0&&me(t,1,()=>B(t,Math.min(Math.max(0,Math.round(n*1e3)),Number.
MAX_SAFE_INTEGER)));let a=0;if(Object.entries(r).forEach(([c,d],p)=>{if(!Dr(c,d))throw j(3,`invalid metadata entry ${c}: keys have a-z 0-9 - _ . and values prin\
table ASCII, or bytes under -bin`);if(a+=c.length+d.length+8,p>=Ur||a>go)throw j(8,"too much metadata");me(t,2,()=>{Ne(t,c),ce(t,Dn(d))})}),s){let{code:c,details:d,
mayHaveRun:p}=s;me(t,3,()=>{B(t,c),t.at-o+d.length+32<=Lr&&ce(t,d)}),p||me(t,5,()=>{})}})||(t.at=o)}function Zt(t){if(We(t)!==Un)return ho;t.at++;let e=W(de(t));
V(e)>Lr&&q("a prefix is too long");let n=Object.create(null),r={metadata:n},s=0;for(;V(e);){let o=Y(e),i=W(de(e));if(o===1)r.timeout=F(i,10)/1e3;else if(o===2){
let a=se(i),c=Ln(a)?je(i):se(i,V(i));(!Dr(a,c)||a in n||++s>Ur)&&q("invalid metadata"),n[a]=c}else o===3?(r.code=Gt(F(i,10)),r.details=je(i)):o===5&&(r.isRefused=
!0)}return r}function Pr(t){let e=1;for(;t[e]>127;)e++;return t[0]===Un&&t[e+1]===4&&t[e+2]===0}function Qt(t,{metadata:e,code:n,details:r,isRefused:s}){if(We(t)===
6)return t.at++,Me(t,5),Me(t,10),new P(n??2,se(t),{metadata:e,mayHaveRun:!s,...r&&{details:r}})}function Br(t,e,n){Pn(t,{isBackward:n,status:e,metadata:e.metadata}),
ce(t,[6,5,10]),Ne(t,e.message)}var Ge=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)});function _r(t,e){if(t.fingerprint===e.fingerprint||e.compatible.includes(t.fingerprint))return 0;if(!t.compatible.includes(e.fingerprint))throw j(9,`incompatibl\
e layouts of ${t.name}`);return 1}var qr=({added:t=[0,0]},e,n)=>e*t[n];function Bn(t,e){let n=s=>s.match(/../g)?.forEach(o=>D(t,parseInt(o,16)));Ne(t,e.name),n(
e.fingerprint),B(t,e.compatible.length),e.compatible.forEach(n);let r=0;for(let s of[...e.operations].sort((o,i)=>o-i))B(t,s-r),r=s}function Hr(t){let e=()=>{let r="";
for(;r.length<16;)r+=Y(t).toString(16).padStart(2,"0");return r},n={service:se(t),fingerprint:e(),compatible:[],operations:[]};for(let r=F(t);r>0;r--)n.compatible.
push(e());for(let r=0;V(t);)n.operations.push(r+=F(t));return n}var _n=5<<20,vo=1024,wo=65536,st=10,Xe=16384,xo=Xe/2,So=256,en=262144,Eo=1e5,ko=64<<20,Jr=8<<20,No=10,Mo=65536,To=2e3,$o=5,Ao=1e4,Vr="the server is going away",
Co=2147483647,Mt=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),Co));function Wr(t,e,n,r,s){let o=vt(16384),i=new Map,a=new Map,c=new Map,d=[],p=0,u=0,f=0,h=0,b=0,I=32767,
E=[0,_n,1/0,Xe,0],A=!1,ue=!1,ee,K=st,xe=0,pe=!1,G=0,Z=!1,X=!1,Q=0,z,ie=g=>{if(!(A||!Se))try{g(Se)}catch(v){_(jt(v));try{Se.close()}catch{}}},te=()=>{o.at&&(Z=!1,
X=!0,ie(g=>g.send(wt(o))),o.at=G=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),ie(g=>{let v=g.buffered();v>ko?R("too many unsent bytes"):v>Jr&&!k.isFull&&
(k.isFull=!0,O())}))},O=()=>ie(g=>{if(g.buffered()>Jr/2)return void Mt(No,O);k.isFull=!1,e.room(k)}),m=()=>{o.at!==G?(G=o.at,queueMicrotask(m)):(pe=!1,te())},y=(g,v,S,U)=>{
let{at:De}=o;try{Vt(o,st),o.at+=st,S?.(o,U);let ye=o.at,Ee=ye-De-st,_t=Math.max(E[1],vo);if(Ee>_t)throw j(8,`the message has ${Ee} bytes of at most ${_t}`);o.at=
De;for(let ro of[15,g,v,Ee>>>16,Ee])Nr(o,ro);o.at=ye}catch(ye){throw o.at=De,ye}o.at>Mo?te():pe||(pe=!0,G=0,queueMicrotask(m))},w=(g,{code:v,message:S})=>y(g,7,
U=>{B(U,v),ce(U,he(S.slice(0,256)))}),x=(g,v)=>{y(g,5,B,0),w(g,v)},$=g=>{if(!A){if(Q=0,ee){if(ce(ee,g),ee.at<K)return;g=wt(ee),ee=void 0}try{let v=0,S=U=>g[v+U]<<
8|g[v+U+1];for(;!A&&!(g.length<(K=v+st));v=K){S(0)!==15&&q("a header without its magic");let U=S(6)*65536+S(8);if(U>_n&&q(`a packet of ${U} bytes`),g.length<(K+=
U))break;C(S(2),S(4),g.subarray(v+st,K))}v<g.length&&(K-=v,ce(ee=vt(),g.subarray(v)))}catch(v){R(`the server broke the protocol: ${v.message}`)}}},C=(g,v,S)=>{let U=W(
S),De=i.get(g);if(v>=10){k.isUp||q("a packet before HELLO");let ye=Pr(S),Ee=d[g%Xe];if(!ye&&Ee?.id===g&&Ee.operation===v)return ae(g),e.answered(),Ee.isGivenUp?
u--:e.replied(Ee,S),M();if(s.filter(_t=>_t.packet(k,g,v,S)).length)return;if(ye&&J)return J.packet(g,v,S,!1)}else if(v<2){S.length&&q("a PING with a body"),v===
1?k.isUp||R("the server is a compat peer"):Z||(Z=!0,y(0,1));return}else{if(v===3&&!k.isUp)return ne(U);if(v===4)return N();if(v===6)return J?.cancel(g,F(U));if(v===
8)q("a stray hand-off");else{if(De&&v!==3&&v<8)return e.answered(),De.packet(v,S);if(v===2){let ye=g-I&32767;if(g>=32768&&ye&&ye<=16384)return I=g,J?J.packet(g,
2,S,!0):x(g,j(12,"no service is served"))}}}++xe>Eo&&R("too many stray packets")},ne=g=>{for((V(g)>wo||se(g,4)!=="fris"||!Y(g))&&q("no HELLO");V(g);){let v=Y(g),
S=W(de(g));if(v in E)E[v]=F(S,10);else if(v===32||v===33)try{let U=Hr(S);(v===32?a:c).set(U.service,U)}catch{}}E[3]=Math.min(E[3],Xe),k.isUp=!0,clearTimeout(Je),
e.room(k)},ae=g=>{d[g%Xe]=void 0,p--===E[3]&&e.room(k)},Ue=(g,v,S)=>{i.set(v,g),g.begin(k,v,E[4],S)},M=()=>{ue&&p===u&&!i.size&&!J?.progress.size&&queueMicrotask(
()=>R(Vr))},N=()=>{ue||(ue=!0,e.closing(k,Vr),M())},R=g=>{A||(te(),ie(v=>v.close()),_(g))},_=g=>{if(A)return;A=!0,clearInterval(z),clearTimeout(Je),e.closing(k,
g),k.isUp=!1;let v=new P(14,`the connection was lost: ${g}`);for(let S of d)S&&!S.isGivenUp&&e.lost(S,v);for(let S of i.values())S.lost(v);J?.down(v);for(let S of s)
S.down(k,v)},k={isUp:!1,isFull:!1,write:y,reset:w,refuse:x,fits(g){let v=a.get(g.name);if(v)return v.fingerprint===g.fingerprint||n.includes(g)?_r(g,v):void 0;for(let S of a.
values())if(S.operations.some(U=>g.operations.includes(U)))throw j(12,`the server has ${S.service} instead of ${g.name}`);return 0},call(g,v){if(k.isFull||p>=E[3])
return!1;do f=f+1&65535;while(d[f%Xe]);let S=g.id=f;d[S%Xe]=g,p++;try{y(S,g.operation,v,g)}catch(U){throw ae(S),U}return!0},cancel(g){A||(g.isGivenUp=!0,y(g.id,
6,B,g.operation),++u>=xo&&N(),M())},open(g,v,S){if(!E[2])throw j(12,"the server does not accept streams");if(k.isFull||h>=Math.min(E[2],28672))return!1;do b=b%32767+
1;while(i.has(b));let U=b;i.set(U,g),h++;try{y(U,2,S)}catch(De){throw k.over(U),De}return g.begin(k,U,E[4],v),!0},accept:Ue,over(g){i.delete(g),g<32768&&(h--,e.
room(k)),M()},drain:N,closeIfIdle:M},J=r?.on(k,c),Je=Mt(Ao,()=>R("handshake timeout")),bt=()=>{o.isFlat=Se?.isFlat,y(0,3,g=>{ce(g,he("fris"));let v=J?So:0;[_n,
v,v,en].forEach((S,U)=>me(g,U+1,()=>B(g,S)));for(let S of r?.services??[])me(g,32,()=>Bn(g,S));for(let S of n)me(g,33,()=>Bn(g,S))}),y(1,0),te(),!A&&(z=setInterval(
()=>{if(++Q>$o)return R("keepalive timeout");(Q>1||!X)&&y(0,0),X=!1;let g=performance.now();for(let v of d)v&&v.until<=g&&!v.isGivenUp&&e.expired(v)},To))},Se,xr=g=>Se?
g():queueMicrotask(g),Sr=g=>xr(()=>_(g));try{Se=t({open:()=>xr(bt),data:$,close:Sr})}catch(g){Sr(jt(g))}return k}function tn(t,e){let n=[],r=0,s=!1,o=()=>{},i=f=>{s||=f,o()},a=()=>n[r],c=()=>{let f=a();return f!==void 0&&(n[r++]=void 0,r>999&&r*2>n.length&&(n.splice(0,r),r=
0)),f},d=()=>{n=[],r=0},p=(async function*(){try{for(;;){let f=c();if(f!==void 0){let h=t(f);h!==void 0&&(yield h)}else if(s){if(s!==!0)throw s;return}else await new Promise(
h=>o=h)}}finally{e()}})(),{return:u}=p;return p.return=()=>(e(),d(),i(!0),u.call(p,void 0)),{messages:p,first:a,take:c,clear:d,put:f=>{n.push(f),o()},end:i}}var qn=64,Io=4,Ro=4096,Hn=(t,e)=>t instanceof ke?new P(13,`not a valid ${e.name}: ${t.message}`):P.from(t);function jr(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
f=!0,h=!1,b=!1,I=()=>{},E,A=()=>!u&&!f,{messages:ue,clear:ee,put:K,end:xe}=tn(O=>{let m=O.length+qn;d-=m,p+=m,f&&p*Io>=en&&(o?.write(i,5,B,p),p=0);try{let y=W(O),
w=Zt(y);if(y.at&&(s?.(pe.metadata=w.metadata),!V(y)))return;let x=Qt(y,w);if(x)throw x;return Nt(y,e,a)}catch(y){throw Hn(y,e)}},()=>n?Q(!0):ie()),pe=Object.assign(
ue,{metadata:{}}),G=()=>{A()&&(I(),E?.(),o?.over(i),o=E=void 0,r())},Z=()=>{u&&(u=!1,o?.write(i,7),G())},X=O=>{u=f=!1,xe(O),G()},Q=(O,m=Xt(!0))=>{A()||o?.reset(
i,m),ee(),X(O)},z=O=>Q(O,O),ie=()=>{ee(),h=!0},te=O=>{if(!o||!u)return;let m=O instanceof P;o.write(i,2,y=>{let{at:w}=y;m?Br(y,O,!1):kt(y,t,O),c-=y.at-w+qn}),m&&
Z()};return{messages:pe,begin(O,m,y,w){o=O,i=m,c=y,a=w},packet(O,m){if(O===2)return!f||h?void 0:d+p>=en?z(new P(8,"the peer exceeded its credit")):(d+=m.length+
qn,K(new Uint8Array(m)));let y=W(m);if(O===5){let w=F(y,10);b||=!w,(c+=w)>0&&I()}else if(m.length){let w=Gt(F(y));X(new P(w,new TextDecoder().decode(je(y).subarray(
0,Ro)),{mayHaveRun:!b}))}else f=!1,xe(!0),G()},send:te,async pump(O,m){try{let y=O,w=y?.[Symbol.asyncIterator]?.()??y?.[Symbol.iterator]?.();if(!w)throw j(3,`me\
ssages of a stream are an iterable, not ${String(O)}`);for(E=async()=>{try{await w.return?.()}catch{}};;){for(;c<=0&&!A();)await new Promise(C=>I=C);if(A())return;
let{done:x,value:$}=await w.next();if(A())return;if(x)break;te($)}E=void 0,Z()}catch(y){if(!n)throw E?.(),E=void 0,y;Q(m?Mr(y):P.from(y))}},finish:Z,discard:ie,
fail:z,lost:X}}var Oo=3e4,Fo=5e3,Lo=20,Gr=2e3,Xr=10,Tt=class{constructor(e,{timeout:n,patience:r=Fo,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=Xr,p=0,u,f=!1,h="",b=[new Set,
new Set],I=({method:{sends:m,receives:y}})=>b[m||y?1:0],E=new Set,A=[],ue=()=>{a||u||f||!(b[0].size||b[1].size||i)||(p=performance.now(),a=Wr(e,ee,[...E],o,A))},
ee={room:m=>queueMicrotask(()=>{for(let y of b)for(let w of y){if(a!==m||!K(w,m))break;a===m&&y.delete(w)}}),closing(m,y){if(a===m){if(a=void 0,h=y,m.isUp)for(let w of b)
w.forEach(pe);m.isUp&&performance.now()-p>=Gr?c=0:f||(clearTimeout(u),u=Mt(Math.random()*Math.min(Lo*2**Math.min(c++,16),Gr),()=>{u=void 0,ue()})),ue()}},answered:()=>void(c=
0),replied(m,y){let w=m,{method:{reply:x},options:{onMetadata:$}}=w;Z(w);try{let C=W(y),ne=Zt(C),ae=Qt(C,ne);if(ae)throw ae;C.at&&$?.(ne.metadata),w.resolve(Nt(
C,x,w.missing)),d<Xr&&(d+=.1)}catch(C){w.reject(Hn(C,x))}},expired:m=>G(m),lost(m,y){let w=m;if(w.link=void 0,!w.method.idempotent||d<1)return X(w,y);d--,xe(w)}},
K=(m,y)=>{let{service:w,method:x}=m;try{let $=w?y.fits(w):0;return $!==void 0?(m.missing=qr(x,$,1),m.start(m,y)&&(m.isSent=!0)):(E.add(w),c=0,y.drain(),!1)}catch($){
return X(m,P.from($)),!0}},xe=m=>{if(!(a?.isUp&&K(m,a))){if(f)return X(m,Kr(m.isSent));I(m).add(m),ue(),pe(m)}},pe=m=>{m.patientUntil=performance.now()+(m.options.
patience??r),G(m)},G=m=>{let{until:y,isSent:w,patientUntil:x}=m,$=performance.now(),C=I(m).has(m)&&!a?.isUp&&`no connection to the server${h&&`: ${h}`}`;clearTimeout(
m.timer),$>=y?X(m,Tr(w,C?`; ${C}`:"")):$>=x&&C?X(m,xt(14,C,w)):m.timer=Mt(($<x?Math.min(y,x):y)-$,()=>G(m))},Z=m=>{I(m).delete(m),clearTimeout(m.timer),m.options.
signal?.removeEventListener("abort",m.abort)},X=(m,y)=>{Z(m),m.link?.cancel(m),m.reject(y)},Q=(m,{sentTimeout:y,until:w,options:{metadata:x}})=>{(y!==void 0||s||
x)&&Pn(m,{timeout:y&&w-performance.now(),metadata:{...s,...x}})},z=(m,y)=>{Q(m,y),kt(m,y.method.request,y.request)},ie=(m,y)=>{let w=y.call(m,z);return w&&(m.link=
y),w},te=(m,y,w,x,$,C,ne,ae,Ue=1/0)=>{let{signal:M}=x,N={id:0,operation:y.operation,until:performance.now()+ +($??Ue),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,
timer:void 0,link:void 0,service:m,method:y,request:w,options:x,sentTimeout:$,start:C,resolve:ne,reject:ae,abort:M&&(()=>X(N,Xt(N.isSent)))};return Number.isNaN(
N.until)?ae(j(3,"the timeout is not a number; it is in milliseconds")):M?.aborted?N.abort?.():(M?.addEventListener("abort",N.abort),$!==void 0&&G(N),($===void 0||
$>0)&&xe(N)),N},O=(m,y,w,x={})=>{let $,C=jr(y.request,y.reply,!0,()=>$&&Z($),x.onMetadata);return $=te(m,y,w,x,x.timeout,(ne,ae)=>{let Ue=ae.open(C,ne.missing,M=>{
Q(M,ne),D(M,9),B(M,ne.operation)});return Ue&&C.pump(w,y.sends),Ue},()=>{},C.fail),C};this.unary=(m,y,w,x={})=>new Promise(($,C)=>void te(m,y,w,x,x.timeout??n,ie,
$,C,Oo)),this.serverStreaming=(m,y,w,x)=>O(m,y,[w],x).messages,this.twoWay=(m,y,w,x)=>O(m,y,w,x).messages,this.clientStreaming=async(m,y,w,x)=>{let{messages:$}=O(
m,y,w,x),{done:C,value:ne}=await $.next();if(C)throw new P(13,"there is no reply");return $.return?.(),ne},this.name=m=>void E.add(m),this.mount=m=>void A.push(
m),this.connected=(m,y)=>new Promise((w,x)=>{te(void 0,{},void 0,{patience:y},void 0,($,C)=>C.isFull?!1:(m?.(C),Z($),w(C),!0),w,x)}),this.close=()=>{f=!0,clearTimeout(
u);for(let m of b)for(let y of m)X(y,Kr(y.isSent));a?.drain()},i&&queueMicrotask(ue)}},Kr=t=>xt(9,"the channel is closed",t);var ot=65280,Uo=16<<20,Jn=64,Do=255,Po=65536,Bo=4,nn={now:0,last:1,oldest:2},zr=t=>j([8,12,7][Y(t)-3]??3,se(t,V(t))),Yr=t=>{let e=F(t);return e>Do&&q("a topic i\
s too long"),se(t,e)},Zr=new WeakMap,$t=class{constructor(e){this.channel=e;this.requests=new Map;this.last=0;let{requests:n}=this,r=Zr.get(e);if(r)return r;Zr.
set(e,this),e.mount({packet:(s,o,i,a)=>{if(i<ot)return!1;!o&&i===ot+5&&(this.refused??=zr(W(a)));for(let c of o?[n.get(o)]:n.values())c?.packet(s,o,i-ot,W(a));return!0},
down(s,o){for(let i of[...n.values()])i.down(s,o)}})}subscribe(e,{group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){await this.channel.connected(
r=>r.write(0,ot+2,s=>{Ve(s,he(e)),ce(s,Dn(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.refused=void 0,e)throw e}request(e,n,r="",s){
let{channel:o,requests:i}=this;do this.last=this.last%65535+1;while(i.has(this.last));let a=this.last;return new Promise((c,d)=>{let p,u=0,f=0,h=!1,{first:b,messages:I,
put:E,end:A,take:ue}=tn(M=>(u-=M.payload.length+Jn,M),()=>{i.delete(a)&&n!==void 0&&p?.isUp&&p.write(a,ot+1)}),ee=M=>{i.delete(a),d(M),A(M)},K=r?[]:n?.split(".")??
[],xe=K[K.length-1]===">",pe=M=>{let N=M.split(".");return(xe?N.length>=K.length:N.length===K.length)&&K.every((R,_)=>R===">"||R==="*"||R===N[_])},G=e===0&&!r&&
s!==void 0,Z=typeof s=="object";if(Z&&!(/^[\da-f]{16}$/.test(s.epoch)&&s.offset>=0))throw j(3,`${s.epoch}, ${s.offset} is not a position`);let X=Z||s===void 0?nn.
oldest:nn[s],Q=new Map(Z?[[n,{...s,offset:s.offset+1}]]:[]),z=new Map,ie=0,te="",O=!1,m=!1,y=!1,w=!1,x=!1,$=M=>{p?.write(a,ot+M,N=>{if(n!==void 0&&Ve(N,he(n)),M===
6){D(N,X);for(let[R,_]of Q){Ne(N,R);for(let k=0;k<16;k+=2)D(N,parseInt(_.epoch.slice(k,k+2),16));B(N,_.offset)}}else ce(N,he(r))})},C=M=>{o.connected(N=>{i.has(
a)&&(p=N,$(G?6:e))},M).catch(N=>{m&&N.code===9&&A(!0),ee(N)})},ne=()=>{x=!0,m&&(y||!(G&&w))&&(h=!0),c(I)},ae=M=>Array.from(de(M,8),N=>N.toString(16).padStart(2,
"0")).join(""),Ue=(M,N,R)=>{if(N===5&&M&&!x&&G&&R.bytes[R.at]===Bo)y=!0,$(0);else if(N===6&&M&&R.bytes[R.at]===0){Y(R),w=Y(R)===1;let _=ae(R);ie=F(R,10);let k=te!==
""&&te!==_,J=!n?.match(/[*>]/)&&Q.size>0;te=_,ne(),y=!1,h||=J?!ie:k}else if(N===7)for(;V(R);){let _=Yr(R),k={epoch:ae(R),offset:F(R,10)};if(Number.isSafeInteger(
k.offset)||q("an integer is beyond 2^53"),!x||!M&&!pe(_))continue;let J=z.get(_);M&&!J?(ie--,J=Q.get(_)??(O?{...k,offset:1}:void 0)):!M&&J?.epoch!==k.epoch&&(J=
void 0),J&&w&&(J.epoch===k.epoch&&J.offset<=k.offset?f+=k.offset-J.offset:h=!0),z.size>=Po&&(z.clear(),y=!0),z.set(_,k)}else return!1;return!0};i.set(a,{packet(M,N,R,_){
if(!(M!==p||G&&Ue(N,R,_)))if(R===2){let k=Yr(_);if(!N&&(!x||!pe(k)))return;let J=je(_),Je=z.get(k);for(Je&&z.set(k,{...Je,offset:Je.offset+1}),u+=J.length+Jn,E(
{topic:k,payload:J,position:Je,lagged:f,reconnected:h}),f=0,h=!1;u>Uo;){let bt=ue();u-=bt.payload.length+Jn;let Se=b();Se.lagged+=bt.lagged+1,Se.reconnected||=bt.
reconnected}}else R===4?G&&w&&x||(f+=F(_,10)):N&&(V(_)?ee(zr(_)):ne())},down(M,N){if(M===p){if(n===void 0||!x&&!m)return ee(N);if(x)if(ie>0)for(let[R,_]of z)Q.set(
R,_);else Q=y?new Map:z,X=y?nn.now:nn.oldest,O=!y;z=new Map,x=!1,m=!0,C(1/0)}}}),C()})}};var rn="frisbee.1";function Vn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let s=new n(String(t),[rn,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===rn)return r.
open();o=`the server does not speak ${rn}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var _o=64;var sn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of be(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of be(e))i===
2?n=Ae(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=Jo(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>_o)throw new ke("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",f=!1;for(let{number:E,bytes:A}of be(e))E===1?u=Ae(A):E===2?a.push(A):E===3?c.push(A):E===4?d.push(A):E===7?f=rs(A,7):E===8&&p.push({name:ts(A),docs:o.
get(`${s},8,${p.length}`)??""});let h=[...r,u],b=es(n,h),I=a.map((E,A)=>qo(E,o.get(`${s},2,${A}`)??""));this.messages.set(b,{name:b,package:n,path:h,docs:o.get(
s)??"",fields:I,oneofs:p,isEntry:f}),c.forEach((E,A)=>this.declare(E,n,h,`${s},3,${A}`,o,i+1)),d.forEach((E,A)=>this.declareEnum(E,n,h,`${s},4,${A}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of be(e)){if(p===1&&(a=Ae(u)),p!==2)continue;let f=0;for(let h of be(u))h.number===2&&(f=h.low|0);i.push({name:ts(u),number:f,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=es(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},ns=t=>t===11||t===10||t===
14,es=(t,e)=>[...t?[t]:[],...e].join(".");function qo(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of be(t))u.number===1?n=Ae(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=Ae(u.bytes).replace(/^\./,""):u.number===8?p=rs(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Ae(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new ke(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,f)=>f.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var Ho=new Uint8Array,Ae=t=>se(W(t),t.length);function*be(t){
let e=W(t);for(;V(e);){let n=F(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(F(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:Ho,
low:o>>>0}}else if(s===2)yield{number:r,bytes:de(e,F(e)),low:0};else if(s===1||s===5)de(e,s===1?8:4);else throw new ke(`a field of the wire type ${s}`)}}function ts(t){
for(let{number:e,bytes:n}of be(t))if(e===1)return Ae(n);return""}function rs(t,e){for(let{number:n,low:r}of be(t))if(n===e)return r!==0;return!1}function Jo(t){
let e=new Map;for(let{number:n,bytes:r}of be(t)){if(n!==1)continue;let s="",o="",i="";for(let c of be(r))if(c.number===1){let d=W(c.bytes),p=[];for(;V(d);)p.push(
F(d));s=p.join(",")}else c.number===3?o=Ae(c.bytes):c.number===4&&(i=Ae(c.bytes));let a=o||i;a&&e.set(s,on(a))}return e}var on=t=>t.replace(/^ /gm,"").trim();var Pe=t=>`f${t.number}`,at=t=>`o${t}`,Wn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
it=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=Wo(this.schema,
r),o=s.map(c=>`${Pe(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>ns(c.kind)),a=L(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Wn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Wn[o.kind]}${Wn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${at(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=Vo(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},Vo=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function Wo(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function ss(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:f})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:f})),i=Ge(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var jn={POLYGLOT:0,PROTOBUF:1},At={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},jo=L("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Go=L("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Xo=L("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Yo]),Ko=L("fr\
pc.reflection.v1.ListRequest","etag:s"),zo=L("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[At]),Yo=L("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[jn,zo]),lt=Ge("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Ko,reply:Xo,receives:!0,
idempotent:!0},files:{operation:65001,request:Go,reply:jo,receives:!0,idempotent:!0}});var os=32<<20,Ce=t=>`${t.service.name}/${t.name}`,an=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Vn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Tt(o,
{stayConnected:!0}),this.channel.name(lt),this.topics=new $t(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let f of n.serverStreaming(
lt,lt.methods.list,{etag:e?.etag??""},{metadata:r})){if(f.notModified)return;o||=f.etag;for(let h of f.services){let b=s.get(h.name);b?b.methods.push(...h.methods):
s.set(h.name,h)}}let i=[],a=0;for await(let{data:f}of n.serverStreaming(lt,lt.methods.files,{},{metadata:r}))if(i.push(f),a+=f.length,a>os)throw new P(Wt.RESOURCE_EXHAUSTED,
`the schema has more than ${os} bytes`);let c=new Uint8Array(a),d=0;for(let f of i)c.set(f,d),d+=f.length;let p=new sn(c),u=new it(p);return{etag:o,schema:p,services:[
...s.values()].map(f=>Zo(f,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Zo(t,e){let n,r=o=>{if(t.codec!==jn.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!t.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return n??=ss(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==At.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:on(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===At.NO_SIDE_EFFECTS?"no side effects":o.idempotency===At.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:on(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var ln=t=>Object.entries(Wt).find(([,e])=>e===t)?.[0]??String(t);var Qo=50;function cn(t,e,n){let r=t.slice(-Qo).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
s)},l("span",{className:"muted"},nt(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},ln(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},le(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"Nothing has been called yet.")}var H=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},oe=()=>Object.create(null),Xn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Kn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Ke=t=>Kn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Be(t){try{return JSON.parse(t||"{}")}catch(e){throw new H(
"",e.message)}}function ze(t,e,n,r=""){let s=si(t,e,n,r);if(s)return s;if(!Xn(n))throw new H(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(f=>f.jsonName===a||f.name===a),p=r?`${r}.${a}`:a;if(!d)throw new H(p,`${e} has no such field${ei(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=ti(t,d,c,p);if(d.oneof===void 0)i[Pe(d)]=u;else{let f=at(d.oneof);if(i[f])throw new H(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[f]={case:Pe(d),value:u}}}return i}var ei=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function ti(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!Xn(n))throw new H(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[ni(o,a,r),Gn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Gn(t,e,n,r);if(!Array.isArray(n))throw new H(r,"a list is an array");return n.map((a,c)=>Gn(t,e,a,`${r}[${c}]`))}function ni(t,e,n){
if(t.kind!==8)return Rt(t,e,n);if(e!=="true"&&e!=="false")throw new H(n,`${e} is not true or false`);return e==="true"}var as=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),ri=t=>[3,4,6,16,18].includes(
t),zn=t=>t in as;function Gn(t,e,n,r){if(e.kind===11)return ze(t,e.type,n,r);if(e.kind!==14)return Rt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new H(r,`${s} has no value ${Ct(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Ct=t=>JSON.stringify(t).slice(0,60);function Rt(t,e,n=""){let{kind:r}=t,s=as[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new H(n,`${Ct(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new H(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new H(n,`${i} is not from ${s[0]} to ${s[1]}`);return ri(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new H(n,`${Ct(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new H(n,`${Ct(e)} is not true or false`);return e}if(typeof e!="string")throw new H(n,`${Ct(e)} is not a\
 string`);return r===12?ve(e,n):e}function si(t,e,n,r){let s=Kn.test(e)&&t.message(e).fields[0];if(s)return{f1:Rt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return oi(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new H(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new H(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!Xn(n))throw new H(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,It(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new H(r,"a ListValue is an array");return{f1:n.map(o=>It(o,0))};case"google.protobuf.Value":return It(n,0)}}function oi(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new H(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function It(t,e){if(e>90)throw new H(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>It(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,It(s,e+1)]))})}function Ot(t,e,n){let r=li(t,e,n);if(r!==void 0)
return r;let s=oe();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[at(o.oneof)],a=o.oneof===void 0?n[Pe(o)]:i?.case===Pe(o)?i.value:void 0;if(a===
void 0)continue;let c=ii(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function ii(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=oe();for(let[o,i]of n)s[String(o)]=dn(t,r,i);return s}return Array.isArray(n)?n.map(s=>dn(t,e,s)):dn(t,e,n)}function dn(t,e,n){return e.
kind===11?Ot(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Ie(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?ai(n):n}function ai(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function li(t,e,n){let r=Kn.test(e)&&t.message(e).fields[0];if(r)return dn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${is(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${is(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return ls(n);case"google.protobuf.ListValue":return n.f1.map(un);case"google.protobuf.Value":return un(n)}}function ls(t){
let e=oe();for(let[n,r]of t.f1)e[n]=un(r);return e}function un(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?ls(e.value):e.case==="f6"?e.value.f1.map(
un):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var is=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Ie(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function ve(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new H(e,"it is no base64")}}function ct(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var Ye=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var Ze=t=>Zn(JSON.stringify(t)),Zn=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Re=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${Zn(t).replace(/'/g,"'\\''")}'`,cs=t=>Object.entries(t).map(([e,n])=>[e,typeof n=="string"?n:Ie(n)]);function ds({method:t,
requests:e,metadata:n,timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&
i.push(`-H ${Re(`connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of cs(n))i.push(`-H ${Re(`${p}: ${u}`)}`);let a=Re(`${s}/${Ce(t)}`);if(!o)return[...i,`-d\
 ${Re(Ze(e[0]??{}))}`,a].join(` \\
  `);let c=e.map(Ze);return[`printf '${c.map(p=>`\\0${ci(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Re).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var ci=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function us({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Re(a)}`,Re(Ce(t))];for(let d of e)c.push(Re(Ze(d)));for(let[d,p]of cs(n))c.
push(`-H ${Re(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var yn=t=>t.replace(/\W/g,"_")||"_",ps=t=>yn(t).replace(/^_(?=\d)/,"-"),fs=t=>yn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Ft=t=>fs(t).map(e=>e.toLowerCase()).join("_")||"_",Qe=t=>fs(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",pn=t=>Qe(t).replace(/^./,e=>e.toLowerCase()),di=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),mn=t=>di.has(Ft(t))?/^(self|super|crate)$/.test(Ft(t))?`${Ft(t)}_`:`r#${Ft(t)}`:Ft(t),we=t=>Zn(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ms(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=yn(n.service.name.
split(".").pop()??""),c=r.map(h=>gs(e,n.request,h,0)),d=mn(n.name),p=[`let client = ${a}Client::connect(${we(new URL(i).host)}).await?;`],u=c[0]??`${Qe(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let f=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...Object.entries(s).map(([h,b])=>typeof b=="string"?`request.metadata_mut().insert(${we(h)}, ${we(b)})?;`:`request.metadata_m\
ut().insert_bin(${we(h)}, &[${[...b].join(", ")}][..])?;`)];return f.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...f),u="request"),n.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(h=>`requests.send(${h}).await?;`),...n.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(h=>`    requests.send(${h}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function ys({path:t,package:e}){let n=[...t.slice(0,-1).map(mn),Qe(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var Yn=(t,e)=>`${"\
    ".repeat(e)}${t}`;function gs(t,e,n,r){let s=t.message(e),o=ys(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let f=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(f===void 0||f===null&&u.type!=="google.protobuf.Value")continue;let h=u.oneof===void 0?void 0:s.oneofs[u.oneof],
b=ui(t,s,u,f,r+1),I=h?h.name:u.name;c.add(I);let E=[...s.path.map(mn),Qe(h?.name??"")].join("::");a.push(Yn(`${mn(I)}: ${h?`Some(${E}::${Qe(u.name)}(${b}))`:b},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Yn(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${Yn("}",r)}`}function ui(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,f])=>`(${o.kind===9?`${we(u)}.to_\
owned()`:ps(u)}, ${fn(t,i,f,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>fn(t,n,d,s)).join(", ")}]`;let a=fn(t,n,r,s),c=n.kind===11&&!Ke(n.type)&&
hs(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function hs(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&hs(t,s.type,n,r))??!1)}function fn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${we(String(n))}.parse()?`:Ke(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?fn(t,s,n,r):Ke(e.type)?pi(e.type,n):gs(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=Qe(s.path[s.path.length-1]??""),a=Qe(o.name);return`${ys(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...ve(String(n))].join(", ")}]`:e.kind===9?`${we(String(n))}.to_owned()`:e.kind===1||e.kind===2?ws(Number(n),e.kind===1?"f64":"f32"):ps(String(n))}var dt="\
frpc::prost_types::";function pi(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${dt}FieldMask { paths: vec![${n.map(r=>`${we(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${dt}Struct { fields: ${vs(e)} }`:t===
"google.protobuf.ListValue"?`${dt}ListValue { values: ${bs(e)} }`:Qn(e)}function Qn(t){if(t===null)return`${dt}Value::from(${dt}value::Kind::NullValue(0))`;let e=typeof t==
"string"?we(t):typeof t=="number"?ws(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?bs(t):vs(t);return`${dt}Value::from(${e})`}var bs=t=>`vec![${t.map(
Qn).join(", ")}]`,vs=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${we(e)}.to_owned(), ${Qn(n)})`).join(", ")}])`,ws=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function xs(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=yn(n.service.name.split(".").pop()??""),c=r.map(h=>Es(e,n.request,ze(e,n.request,h))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${Object.entries(s).map(([h,b])=>`${Ze(h)}: ${typeof b=="string"?Ze(b):Ss(b)}`).join("\
, ")} }`]],p=n.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${pn(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Clie\
nt(connect(${Ze(`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var Ss=t=>`new Uint8Array([${[...t].join(", ")}])`;function Es(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=Pe(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${pn(i.name)}: ${fi(t,i,n[a])}`);continue}let c=n[at(
i.oneof)];c?.case===a&&o.push(`${pn(s[i.oneof]?.name??"")}: { case: "${pn(i.name)}", value: ${Lt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function fi(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Lt(t,r,o)}, ${Lt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Lt(t,e,o)).join(", ")}]`:Lt(t,e,n)}function Lt(t,e,n){return n instanceof Uint8Array?Ss(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?Es(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ze(n):String(n)}var ks=new WeakMap;function ut(t,e){return ks.set(t,e),t}var Ut=t=>ks.get(t)??oe();var Ns=16<<20,er=t=>l("textarea",{rows:1,spellcheck:!1,...t});function tr(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function nr(t){let e=re(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return ut({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=er({id:e});return ut({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>tr(s,()=>void(s.value.
trim()&&Rt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:zn(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!mi(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!zn(n)?Number(i):i};return ut({element:s,id:e,get:()=>s.
value.trim()?yi(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var mi=t=>t===3||t===4||t===6||t===16||t===18,yi=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function Ms(t){let e=re(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return ut(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Ts(){
let t=re(),e,n=er({id:t,oninput:()=>f()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(b=>l("option",{},b))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let b=i.files?.[0];if(b){if(b.size>Ns){o.textContent=`${b.
name} has more than ${Ns>>20} MiB`;return}e=new Uint8Array(await b.arrayBuffer()),o.textContent=`${b.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,h.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=b=>{if(b==="text")return new TextEncoder().encode(n.value);if(b==="base64")return ve(n.
value.replace(/\s/g,""));let I=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(I))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
I.match(/../g)??[],E=>parseInt(E,16))},p=(b,I)=>{let E=I==="text"?ct(b):void 0;r.value=s=I==="text"&&E===void 0?"base64":I,n.value=r.value==="text"?E??"":r.value===
"hex"?Ye(b):Ie(b),f()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,f()}},f=()=>tr(n,()=>void d(r.value)),h=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return ut({element:h,id:t,get(){let b=e??d(r.value);return b.length>0?Ie(b):void 0},set(b){c(),p(
typeof b=="string"?ve(b):new Uint8Array,r.value)}},"")}function et(t,e,n){let r=re(),s=er({id:r,placeholder:e,oninput:()=>tr(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var gi=3,hn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=Is(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??oe()}set(e){this.editor.set(e)}example(){this.set(As(this.schema,this.name,[]))}};function As(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Ke(e)&&s)return $s(t,s,n);let o=oe(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(
b=>b.oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>gi);if(!p||u||d.kind===10||a.isDeprecated)continue;let f=$s(t,d,i),h=c?.fields[0];h?o[a.jsonName]=
Object.assign(oe(),{[h.kind===9?"key":h.kind===8?"true":"1"]:f}):o[a.jsonName]=a.isRepeated?[f]:f}return o}function $s(t,e,n){switch(e.kind){case 11:return As(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function hi(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${gn(r)}, ${gn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${gn(e)}`}var bi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],gn=t=>bi[t.kind]||(t.type.split(".").pop()??"");function pt(t,e){
return e.kind===14?Ms(t.enumeration(e.type)):e.kind===12?Ts():e.kind!==11?nr(e):vi(t,e.type)}function vi(t,e){switch(e){case"google.protobuf.Timestamp":return et(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return et("text","1.5s");case"google.protobuf.Fiel\
dMask":return et("text","name,homeAddress.city");case"google.protobuf.Struct":return et("json",'{ "key": "value" }');case"google.protobuf.Value":return et("json",
"any JSON");case"google.protobuf.ListValue":return et("json","[1, 2]")}let n=Ke(e)?t.message(e).fields[0]:void 0;if(!n)return Is(t,e);let r=pt(t,n);return{...r,
get:()=>r.get()??Cs(n)}}var Cs=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function Is(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=ki(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=wi(t,i);s.append(Rs(i.name,hi(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=oe();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:oe();for(let{take:c}of r)c(a)}}}
function Rs(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function wi(t,e){let n=t.entry(e);return n?Ei(t,n):e.isRepeated?Si(()=>pt(t,e)):
e.isOptional||e.kind===11?xi(()=>pt(t,e),()=>e.kind===11?oe():Cs(e)):pt(t,e)}function xi(t,e){let n=re(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?T(o,(r??=t()).element):T(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var Os=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function Si(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,Os(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Fs(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??Ut(o)):void 0,set(o){e=[],T(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Fs=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function Ei(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:nr({...n,kind:n.kind===8?9:n.kind}),value:pt(
t,r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("d\
iv",{className:"item"},p.key.element,p.value.element,Os(()=>{s=s.filter(f=>f!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Fs(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=oe();for(let{key:d,value:p}of s)c[String(
d.get()??Ut(d))]=p.get()??Ut(p);return c},set(c){if(s=[],T(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function ki(t,e,n){let r=e.
fields.filter(f=>f.oneof===n),s=re(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(f=>l("option",{value:f.jsonName},`${f.name}: ${gn(f)}`))),c=f=>{a.value=f;let h=r.find(I=>I.jsonName===f);if(!h)return void T(o);let b=i.get(f)??pt(t,h);return i.
set(f,b),b.id&&document.getElementById(b.id)?.setAttribute("aria-label",h.name),T(o,b.element,h.docs&&l("p",{className:"docs"},h.docs)),b},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Rs(d,"oneof",p,u,!1),get(){let f=i.get(a.value);return a.
value&&f?Object.assign(oe(),{[a.value]:f.get()??Ut(f)}):oe()},set(f){let h=f,b=r.find(I=>(h[I.jsonName]??h[I.name])!==void 0);c(b?.jsonName??"")?.set(b&&(h[b.jsonName]??
h[b.name]))}}}var ft=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll(
"input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?ve(s,o):s)}return e}set(e){T(this.rows);for(let[n,r]of Object.entries(e))this.add(
n,typeof r=="string"?r:Ie(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",
{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("butt\
on",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},"×"));return this.rows.append(o),r}},rr=t=>l("dl",{className:"\
pairs"},...Object.entries(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Ie(n))]));var sr=1e5,Ni=90;function Ls(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return T(t,n,r,s),()=>{T(n,...Mi(e)),T(r,e.isOver&&e.status&&Ti(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),rr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
Ai(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function Mi(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${ln(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},le(t.took),o&&`, ${o}`)]}function Ti({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},ct(e)??Ye(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&rr(t.metadata))}function $i(t){let e=t.replace(/\n\s*/g," ");return e.length<=Ni?e:t}function Ai(t,e){let n=e?$i(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},qt(n.slice(0,sr)),n.length>sr&&`
… ${n.length-sr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${le(t.at)}`),l("span",{className:"grow"}),tt(()=>n)),r)}var Ci=500,Ii=16<<20,bn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new or;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=P.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Ot(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>Ci||this.chars>Ii&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},or=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Ri=["Form","JSON","Copy as"],Us={curl:ds,frpc:us,Rust:ms,TypeScript:xs};function ir({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var vn=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new ft(()=>this.
note(""));this.timeout=l("input",{type:"text",id:re(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=Tn(Ri,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new hn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called here: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),T(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=ze(
this.catalog.schema,this.method.request,Be(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Be(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=
r===void 0?"":String(r)}header(){let{method:e}=this,n=ir(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Be(this.json.value))}),this.tab=e,e==="Form"?T(this.body,this.form?.element):e==="JSON"?T(this.body,this.json):this.attempt(()=>T(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Be(a.json)),s=n.sends&&r&&r.
length>0?r:[Be(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=Tn(Object.keys(Us),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Us[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),tt(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new bn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Ls(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Ce(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));T(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var Oi={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Fi=L("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Li=L("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),Ui=L("frpc.introspection.v1.CloseCount","kind:s count:w"),Di=L("frpc.introspection.v1.CodeCount","code:i count:\
w"),ar=L("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[Oi]),Pi=L("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Fi,Xi,ar,Ji]),Bi=L("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),_i=L("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[ar]),qi=L("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),Hi=L("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Di]),Ji=L("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Vi=L("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Hi]),Ds=L("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[Ui,Li,Yi,Vi]),Wi=L("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[ar,Ds]),ji=L("frpc.introspection.v1.ServersReply","servers:*m",()=>[Ds]),Gi=L("frpc.introspe\
ction.v1.ServersRequest",""),Xi=L("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Ki=L("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[Wi]),zi=L("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Yi=L("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),wn=Ge("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Gi,reply:ji,idempotent:!0},connections:{
operation:65031,request:qi,reply:_i,idempotent:!0},connection:{operation:65032,request:Bi,reply:Pi,idempotent:!0},watch:{operation:65033,request:zi,reply:Ki,receives:!0,
idempotent:!0}});var yt=12e4,lr=2e3,[_e,qe,He,gt]=[480,120,44,16];function cr(t){let e=fe("svg",{viewBox:`0 0 ${_e} ${qe}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=fe("text",{x:He+(_e-He)*n,y:qe-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function dr(t,e,n){let r=fe("text",{x:He-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(fe("line",{x1:He,x2:_e,y1:e,y2:e,class:"grid"}),r)}var mt=qe-gt-
8;function Ps(t,e){let n=cr("Calls and errors in the last two minutes"),r=yt/lr,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/lr);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/lr))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])dr(
n,qe-gt-mt*c,String(Math.round(i*c)));let a=(_e-He)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(f,h,b)=>{h>0&&n.append(fe("rect",{x:He+p*a+.75,width:a-1.5,y:qe-
gt-(f+h)/i*mt,height:h/i*mt,class:b}))};u(0,d,"failed"),u(d,c,"ok")}),n}function ht(t,e){return[...t.filter(({at:n})=>e.at-n<yt),e]}var Bs=(t,e,n,r)=>e.map((s,o)=>fe(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),_s=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function xn(t,e,n,r,s,o){let i=cr(`${t}, in the last two minutes`),a=_s(e,s),c=d=>qe-gt-d/a*mt;for(let d of[0,.5,1])dr(i,c(a*d),o(a*d));return i.append(...Bs(e,
n,d=>_e-(_e-He)*(r-d)/yt,c)),i}function ur(t,e,n,r){let s=_s(e,1e-9),o=fe("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...Bs(e,n,i=>120-120*(r-i)/yt,i=>19-i/s*18)),o}function qs(t,e){let n=cr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<yt),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)dr(n,qe-gt-mt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=_e-(_e-He)*(e-a-c)/yt,f=qe-gt-mt*((s[p]??0)-o)/(i-o);n.append(fe("circle",{cx:u,
cy:f,r:2.5,class:d===0?"ok":"failed"}))}),n}function Hs(t){let e=t.slice(-40),n=fe("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(fe("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var Js=1e3,Zi=256,Qi=50,Sn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===wn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(wn,wn.methods.watch,{intervalMs:Js,connections:Zi},{signal:s,metadata:r});for await(let{servers:i}of o)
T(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||T(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Js)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,ta(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>pr([...o.values()].map(({rates:f})=>f.at(-1)?.values[u]??0)),a=pr(n.map(u=>Number(u.streams))),c=pr(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?ht(s.rates,{at:r,values:[i(0),i(1)]}):[],open:ht(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:ht(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},na(e),l("div",{className:"plots"},
mr(["Calls of all clients in a second, ",ea("errors")," below"],xn("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],r,4,Vs)),mr(["\
Connections, and ",Ws("streams"),p],xn("Connections and streams",d.open,["curve","curve second"],r,4,Vs)),mr(["Bytes that wait to be written",p,", and ",Ws("hel\
d for clients")],xn("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Dt(BigInt(Math.round(u)))))),this.table(e,o,r),js(["\
connection","age","calls","oldest call","streams","queued","memory"],n.slice(0,Qi).map(ra)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.
get(o);return a&&a.calls>0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),js(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[
o,a.toFixed(a<10?1:0),c,d,fr(i?.p50Ns),fr(i?.p99Ns),fr(i?.maxNs),ur(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),ur(`Averag\
e latencies of ${o}, in the last two minutes`,u,["curve"],r)]))}},pr=t=>t.reduce((e,n)=>e+n,0),Vs=t=>String(Math.round(t)),fr=(t=0n)=>le(Number(t)/1e6),ea=t=>l(
"span",{className:"failed"},t),Ws=t=>l("span",{className:"second"},t),mr=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function ta({figures:t},e,n,r=n){let s=(t?.
failed??[]).reduce((d,{count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,
c=Number(o-e.calls);return{calls:o,failed:s,spent:i,rates:ht(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?ht(e.times,{at:n,values:[Number(i-e.spent)/
c/1e6]}):e.times}}function na({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],[
"held for clients",`${Dt(s)} of at most ${Dt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var ra=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,
queued:o,memory:i})=>[t||"unknown",le(Number(e)),n,n>0n?le(Number(r)):"",s,Dt(o),Dt(i)];function js(t,e){return l("div",{className:"scroll"},l("table",{},l("the\
ad",{},l("tr",{},...t.map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"c\
ount":""},r instanceof Node?r:String(r))))))))}function Dt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)}\
 MB`:`${(e/1e9).toFixed(1)} GB`}var sa=1e3,En=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new Sn(e,r);let i=new ft(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),sa)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${nt(r.since)}`:n],["connections made",String(r.connections)],["sent",Gs(r.sent)],["received",Gs(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];T(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();T(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Ps(s.all,c)),l("figure",{},l(
"figcaption",{},"Latency of each call; of a stream, its duration"),qs(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,T(this.methods,s.all.length>0&&this.table()),T(this.history,cn(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(le(o)),e(le(i)),e(le(a)),l("td",{},Hs(c)))})))}};function Gs(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var Xs=500,Ks=2e4,kn=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:re()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:re(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:re(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:re(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. A pattern has * for one part, and > for all \
that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.watch(
n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>T(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new it(e.schema)},T(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=ve(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Rn(this.schema.tables.of(r),ze(this.schema.catalog.schema,r,Be(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
Xs&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${nt(Date.now())}`),l("span",{className:"grow"}),tt(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?qt(o):o)))}for(this.waiting=[];this.log.childElementCount>Xs;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Ot(this.schema.catalog.schema,n,On(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${Ye(e.subarray(0,Ks))}`}let r=e.subarray(0,Ks);return(n==="hex"?void 0:ct(r))??Ye(r)}};var oa=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[zs,yr,Ys,Pt,hr]=[ge("services"),ge("main"),ge("state"),ge("filter"),ge("keys")],Oe=new an(`${location.origin.replace(/^http/,"w\
s")}/`,()=>ia()),Mn=new Ht,Nn=new Map,Qs=new kn(Oe),Fe,Bt="",Zs=!1,Le,gr=0,br=new En(Oe,Mn,()=>Fe,t=>no(t),()=>void eo(!0));async function eo(t){let e=++gr,n=t?
void 0:Fe;try{let r=await Oe.catalog(n);if(e!==gr)return;if(Bt="",r){Fe=r;for(let[s,o]of Nn)o.isBusy||Nn.delete(s);Qs.know(r)}}catch(r){if(e!==gr)return;Bt=r.message}
vr(),wr(),Zs=await Oe.hasBroker(),ge("to-topics").hidden=!Zs}function ia(){Ys.textContent=Oe.wire==="open"?"connected":Oe.wire==="lost"?"connection lost":"conne\
cting",Ys.className=`state ${Oe.wire}`,Oe.wire==="open"&&setTimeout(()=>void eo(!1))}function vr(){let t=Pt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>Ce(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Fe?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),T(zs,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||Pt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Ce(c),p=ir(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&T(zs,l("p",{className:"empty"},Fe?"No method has this name.":Bt?"No services.":"Loading the services…"))}
function wr(){let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute(
"aria-current","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Le=void 0;let e=Fe?.services.flatMap(n=>n.methods).find(n=>Ce(
n)===t);if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")T(yr,Qs.element);else if(e&&Fe)Le=Nn.get(t)??new vn(Oe,Fe,
e,Mn),Nn.set(t,Le),T(yr,Le.element,la(t));else{let n=t&&Fe?`The server shows no method ${t}.`:"";T(yr,Bt&&aa(),n&&l("p",{className:"notice"},n),br.element),br.draw()}}
function aa(){return l("div",{className:"notice"},l("p",{},`The schema of the server could not be had: ${Bt}.`),l("p",{className:"muted"},"The console needs a s\
erver with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function la(t){let e=l("\
div",{}),n=()=>T(e,cn(Mn.all.filter(r=>r.path===t),no,!0));return n(),to=n,l("section",{className:"past"},l("h2",{},"History"),e)}var to=()=>{};Mn.listen(()=>{to(),
br.draw()});function no(t){location.hash===`#/${encodeURI(t.path)}`?Le?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Le?.
restore(t),{once:!0}))}function ca(t){let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);
e[Math.max(0,Math.min(e.length-1,n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.
key==="Enter"&&r)t.shiftKey?Le?.end():Le?.send();else if(t.key==="Escape"&&!hr.open){if(!Le?.cancel())return}else if(t.key==="/"&&!n)Pt.focus();else if(t.key===
"?"&&!n)hr.showModal();else if((t.key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))ca(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});
addEventListener("hashchange",wr);Pt.addEventListener("input",vr);ge("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.
classList.contains("listing")&&Pt.focus()});ge("help").addEventListener("click",()=>hr.showModal());T(ge("key-list"),...oa.flatMap(([t,e])=>[l("dt",{},...t.split(
" ").map(n=>l("kbd",{},n))),l("dd",{},e)]));vr();wr();})();
