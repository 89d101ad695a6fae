"use strict";(()=>{function l(t,e={},...n){let r=document.createElement(t);for(let[s,o]of Object.entries(e))o!==void 0&&(s.startsWith("on")?r.addEventListener(s.slice(2),o):s.includes(
"-")||s==="role"||s==="list"?r.setAttribute(s,String(o)):r[s]=o);return Tr(r,...n),r}function Tr(t,...e){for(let n of e)n!==!1&&n!==void 0&&t.append(typeof n=="\
number"?String(n):n)}function $(t,...e){t.replaceChildren(),Tr(t,...e)}function ge(t,e,...n){let r=document.createElementNS("http://www.w3.org/2000/svg",t);for(let[
s,o]of Object.entries(e))r.setAttribute(s,String(o));return r.append(...n),r}function ve(t){let e=document.getElementById(t);if(!e)throw new Error(`the page has\
 no ${t}`);return e}var fo=0,oe=()=>`e${++fo}`;function In(t,e,n){let r=t.map(i=>l("button",{type:"button",role:"tab",onclick:()=>s(i)},i)),s=i=>{for(let a of r){
let c=a.textContent===i;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}n(i)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:i=>{let a=i.key==="ArrowRight"?1:i.key==="ArrowLeft"?-1:0;if(a===0)return;let c=r[(r.indexOf(i.target)+a+r.length)%r.length];c?.focus(),c?.click(),i.preventDefault()}},
...r),select:s}}function tt(t){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(t()).then(()=>"Copied",()=>"\
Select and copy").then(n=>{e.textContent=n,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Vt(t){let e=document.createDocumentFragment();
if(t.length>5e4)return e.append(t),e;let n=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,r=0;for(let s of t.matchAll(n)){let[o,i,a]=s;
e.append(t.slice(r,s.index)),r=s.index+o.length;let c=i===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},i??o),a??"")}return e.
append(t.slice(r)),e}var Wt=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let n=this.counts.get(e.path)??{calls:0,errors:0};n.calls++,e.code!==0&&n.errors++,this.counts.set(e.path,
n);for(let r of this.listeners)r()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:n,errors:r}])=>{let s=this.all.filter(a=>a.path===
e),o=s.map(({took:a})=>a).sort((a,c)=>a-c),i=a=>o[Math.min(o.length-1,Math.floor(o.length*a))]??0;return{path:e,calls:n,errors:r,p50:i(.5),p95:i(.95),max:i(1),last:s}})}};
function de(t){return t>=1e4?`${(t/1e3).toFixed(1)} s`:`${t>=100?t.toFixed(0):t>=10?t.toFixed(1):t.toFixed(2)} ms`}var nt=t=>new Date(t).toTimeString().slice(0,
8);var mo=new TextEncoder,yo=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),$r=40,he=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
L=t=>{throw new he(t)},W=t=>({bytes:t,at:0,depth:0,memory:0}),xt=(t=64)=>W(new Uint8Array(t)),Gt=t=>ArrayBuffer.isView(t)&&t.length===t.byteLength,we=t=>mo.encode(
t);function jt(t,e){let{bytes:n,at:r}=t;r+e>n.length&&(t.bytes=new Uint8Array(Math.max(r+e,n.length*2)),t.bytes.set(n.subarray(0,r)))}function P(t,e){t.at===t.bytes.
length&&jt(t,1),t.bytes[t.at++]=e}function Ar(t,e){P(t,e>>8),P(t,e)}function q(t,e){for(;e>127;e=Math.floor(e/128))P(t,e|128);P(t,e)}function ue(t,e){jt(t,e.length),
t.bytes.set(e,t.at),t.at+=e.length}function We(t,e){q(t,e.length),ue(t,e)}function Me(t,e){let{at:n}=t,{length:r}=e,s=r>$r?128:0;P(t,r);for(let o=0;o<r&&s<128;o++)
P(t,s=e.charCodeAt(o));s>127&&(t.at=n,We(t,we(e)))}function be(t,e,n){P(t,e);let{at:r}=t;n();let s=t.bytes.slice(r,t.at);return t.at=r,We(t,s),s.length>0}var St=({
bytes:t,at:e})=>t.subarray(0,e),H=({bytes:t,at:e})=>t.length-e,Pe=({bytes:t,at:e})=>t[e],Y=t=>t.bytes[t.at++]??L("truncated");function Te(t,e){let n=Y(t);n!==e&&
L(`found byte ${n}, expected ${e}`)}function D(t,e=5){let n=0;for(let r=1;e-- >0;r*=128){let s=Y(t);if(s<128)return n+s*r;n+=(s-128)*r}return L("a number is too\
 long")}function Xt(t){let{at:e}=t,n=D(t,10);return(H(t)||t.bytes[e+9]>1)&&L("malformed number"),n}function pe(t,e=D(t)){return e>H(t)&&L("truncated"),t.bytes.subarray(
t.at,t.at+=e)}var Ge=({bytes:t,at:e})=>new Uint8Array(t.subarray(e));function ie(t,e=D(t)){let{bytes:n,at:r}=t,s="",o=0;if(e<=$r)for(let i;o<e&&(i=n[r+o])<128;o++)
s+=String.fromCharCode(i);if(o<e){let i=pe(t,e);try{return yo.decode(i)}catch{L("a text is not UTF-8")}}return t.at+=e,s}var Kt=go();var _=class t extends Error{constructor(n,r,s){super(r,s);this.name="Status";let{details:o=new Uint8Array,metadata:i={},mayHaveRun:a=!0}=s??{};Object.assign(this,
{details:o,metadata:i,mayHaveRun:a,code:n})}static from(n){return n instanceof t?n:new t(2,zt(n),{cause:n})}};function go(){return Object.fromEntries("OK CANCEL\
LED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMEN\
TED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(" ").map((e,n)=>[e,n]))}var zt=t=>t instanceof Error?t.message:String(t),G=(t,e)=>new _(t,e,{mayHaveRun:!1}),
Cr=t=>{let e=_.from(t);return e.mayHaveRun?e:new _(e.code,e.message,{...e,mayHaveRun:!0})},Yt=t=>t>0&&t<=16?t:2,Et=(t,e,n)=>new _(t,n?e:`not sent: ${e}`,{mayHaveRun:n}),
Zt=t=>Et(1,"the caller cancelled the call",t),Ir=(t,e="")=>Et(4,`deadline exceeded${e}`,t);var tn=100,ho=64<<20,bo=12,Fn=8,Ln=56,Rn=new Uint8Array(8),Rr=new DataView(Rn.buffer);function U(t,e,n){let r;return{name:t,fields:()=>r??=vo(e,n?.()??[])}}function Un(t,e){
let n=xt(256);return Mt(n,t,e),St(n)}var Dn=(t,e)=>Tt(W(e),t,0);function Mt(t,e,n){t.depth=tn,Lr(t,e,n)}function Tt(t,e,n){return t.depth=tn,t.memory=Math.max(ho,
H(t)*bo),Ur(t,e,n)??Dr(t,e)}function vo(t,e){let n=new Map,r=0;return(t?t.split(" "):[]).map(s=>{let o=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(s);
if(!o)throw new Error(`invalid table entry: ${s}`);let[,i,a,c,d,p]=o,u=p==="m"?So(e[r++]):p==="e"?ko(e[r++]):en[p],f=en[d[1]??""],h=f?[2,f.wire,u.wire,10]:d==="\
*"?[1,u.wire,10]:void 0,b=a?n.get(a):void 0;a&&!b&&n.set(a,b=[]);let R={name:a??i,of:u,isOptional:d==="?",key:f,head:h,case:i,number:+c,all:b};return b?.push(R),
R})}var kt=({head:t,key:e,isOptional:n,of:r})=>e?new Map:t?[]:n?void 0:r.zero();function Lr(t,e,n){if(!t.depth--)throw Fr(e.name,`nests deeper than ${tn}`);P(t,
8),P(t,0);let r="";try{for(let s of e.fields()){let{all:o,name:i}=s,a=n[r=i];if(!o)wo(t,s,a);else if(t.isFlat||s===o[0]){let c=a,d=o.find(u=>u.case===c?.case);if(c&&
!d)throw new Error(`has no member ${c.case}`);t.isFlat||(P(t,3),q(t,d?d.number:0));let p=t.isFlat?s:d;p&&rt(t,p.of,p===d?c?.value:void 0)}}}catch(s){throw s instanceof
_?s:Fr(`${e.name}.${r}`,s.message)}t.depth++}function wo(t,e,n){let{head:r,key:s,of:o}=e;if(n===void 0&&(r||e.isOptional)&&(n=kt(e)),r){let i=n,a=n,c=s?i.size:a.
length;Ae(c>=0,n);for(let d of r)P(t,d);if(q(t,c),s)for(let[d,p]of i)rt(t,s,d),rt(t,o,p);else for(let d of a)rt(t,o,d)}else n===void 0&&e.isOptional&&!t.isFlat?
P(t,0):rt(t,o,n)}function rt(t,e,n){e.table||P(t,e.wire),e.put(t,n===void 0?e.zero():n)}function Ur(t,e,n){if(Pe(t)===0)return void t.at++;Te(t,8),Y(t),t.depth--||
L(`${e.name} nests deeper than ${tn}`);let r=e.fields();Pn(t,Ln+Fn*r.length);let s={},o="";for(let i of r){let{name:a,all:c,of:d}=i,p=c&&c[0]===i;if(p&&(s[a]=void 0),
n>0&&!H(t))n--,c||(s[a]=kt(i));else if(!c)s[a]=xo(t,i);else if(p&&Pe(t)===3){t.at++,o+=` ${a} `;let u=D(t),f=c.find(h=>h.number===u);f?s[a]={case:f.case,value:On(
t,f.of)}:u&&L(`${e.name}.${a} has no member ${u}`)}else if(!o.includes(` ${a} `)){let u=Nt(t,d);(u instanceof Uint8Array?u.length:!Object.is(u,d.zero()))&&(s[a]=
{case:i.case,value:u})}}return t.depth++,s}function xo(t,e){let{head:n,key:r,of:s}=e;if((r||e.isOptional)&&Pe(t)===0)return t.at++,kt(e);if(!n)return Nt(t,s);for(let a of n)
Te(t,a);let o=D(t),i=kt(e);for(;o-- >0;)Pn(t,r?Ln:Fn),r?i.set(Nt(t,r),On(t,s)):i.push(On(t,s));return i}function Nt(t,{wire:e,table:n,take:r,isEnum:s}){return s&&
Pe(t)===12?Nt(t,en.i):(n||Te(t,e),r(t))}var On=(t,e)=>Nt(t,e)??Dr(t,e.table);function Dr(t,e){let n={},r=e.fields();Pn(t,Ln+Fn*r.length);for(let s of r)n[s.name]=
s.all?void 0:kt(s);return n}function Pn(t,e){(t.memory-=e)<0&&L("exceeds the memory limit")}var $e=(t,e,n,r,s)=>({wire:t,zero:e,put:n,take:r,table:s}),So=t=>$e(
3,()=>{},(e,n)=>n?Lr(e,t,n):P(e,0),e=>Ur(e,t,0),t),Eo=65536;function ko(t){let e=Object.values(t);return{...$e(10,()=>e[0],(r,s)=>{let o=e.indexOf(s),i=s+2147483648,
a=s<0&&i>=e.length;Ae(o>=0||s===(s|0)&&(a||!r.isFlat),s),o>=0||a&&(r.isFlat||i<Eo)?q(r,o<0?i:o):(r.at--,rt(r,en.i,s))},r=>{let s=D(r)>>>0,o=s-2147483648;return s>=
e.length&&(o>=0||e.includes(o))&&L(`an enum has the index ${s}`),e[s]??o}),isEnum:!0}}var Qt=(t,e)=>$e(t?13:11,()=>e?0:0n,(n,r)=>{let s=BigInt(r),o=Number(s),i=t?
o<0?-2*o-1:2*o:o;if(Number.isSafeInteger(i)&&i>=0)return q(n,i);Ae((t?BigInt.asIntN:BigInt.asUintN)(64,s)===s,r);let a=t?s<<1n^s>>63n:s;for(;a>>53n;a>>=7n)P(n,Number(
a&127n)|128);q(n,Number(a))},n=>{let{at:r}=n,s=D(n,10);if(s<=Number.MAX_SAFE_INTEGER)t&&(s=s%2?(s+1)/-2:s/2);else{let o=0n;for(let i=0n;r<n.at;i+=7n)o|=BigInt(n.
bytes[r++]&127)<<i;o=BigInt.asUintN(64,o),s=t?o>>1n^-(o&1n):o}return e?(Number.isSafeInteger(Number(s))||L("an integer is beyond 2^53"),Number(s)):BigInt(s)}),Or=(t,e)=>$e(
t,()=>0,(n,r)=>{Ae(typeof r=="number",r),Rr[e>4?"setFloat64":"setFloat32"](0,r);for(let s=0;s<e;s++)P(n,Rn[s])},n=>{for(let r=0;r<e;r++)Rn[r]=Y(n);return Rr[e>4?
"getFloat64":"getFloat32"](0)}),en={b:$e(7,()=>!1,(t,e)=>{Ae(typeof e=="boolean",e),P(t,+e)},t=>{let e=Y(t);return e>1&&L(`a bool is ${e}`),e>0}),i:$e(12,()=>0,
(t,e)=>{Ae(e===(e|0),e),q(t,(e<<1^e>>31)>>>0)},t=>{let e=D(t);return e>>>1^-(e&1)}),u:$e(10,()=>0,(t,e)=>{Ae(e===e>>>0,e),q(t,e)},t=>D(t)>>>0),l:Qt(!0,!1),w:Qt(
!1,!1),L:Qt(!0,!0),W:Qt(!1,!0),f:Or(14,4),d:Or(15,8),s:$e(5,()=>"",(t,e)=>{Ae(typeof e=="string",e),P(t,10),Me(t,e)},t=>(Te(t,10),ie(t))),y:$e(4,()=>new Uint8Array,
(t,e)=>{Ae(Gt(e),e),P(t,10),We(t,e)},t=>(Te(t,10),new Uint8Array(pe(t))))},Fr=(t,e)=>G(3,`${t} ${e}`);function Ae(t,e){if(!t)throw new Error(`cannot be the ${typeof e}\
 ${String(e)}`)}var je=(t,e,n,r)=>({name:t,fingerprint:e,compatible:n,methods:r,operations:Object.values(r).map(({operation:s})=>s)}),_n=37;function Pr(t,e){let n=$t(t.fingerprint);if(n===e.fingerprint||e.compatible.includes(n))return 0;if(!t.compatible.map($t).includes(e.fingerprint))throw G(9,`inc\
ompatible layouts of ${t.name}`);return 1}var _r=({added:t=[0,0]},e,n)=>e*t[n],$t=t=>t.padStart(32,"0"),Br=(t,...e)=>{for(let n of e)$t(n).match(/../g)?.forEach(
r=>P(t,parseInt(r,16)))};function Bn(t,e,n){be(t,e,()=>No(t,n)),n.compatible.length&&be(t,_n,()=>Br(t,n.fingerprint,...n.compatible))}function No(t,e){Me(t,e.name),
Br(t,e.fingerprint);let n=0;for(let r of[...e.operations].sort((s,o)=>s-o))q(t,r-n),n=r}function qr(t){let e="";for(;e.length<32;)e+=Y(t).toString(16).padStart(
2,"0");return e}function Hr(t){let e=[];do e.push(qr(t));while(H(t));return e}function Jr(t){let e={service:ie(t),fingerprint:qr(t),compatible:[],operations:[]};
for(let n=0;H(t);)e.operations.push(n+=D(t));return e}var qn=5<<20,To=1024,$o=65536,Ao=128,Co=32768,ot=10,Xe=16384,Vr=32768,Io=Xe/2,Ro=256,nn=262144,Oo=1e5,Fo=64<<20,Wr=8<<20,Lo=10,Uo=65536,Do=2e3,Po=5,_o=1e4,Gr="t\
he server is going away",Bo=2147483647,At=(t,e)=>setTimeout(e,Math.min(Math.max(0,t),Bo));function jr(t,e,n,r,s){let o=xt(16384),i=new Map,a=new Map,c=new Map,d=[],
p=0,u=0,f=0,h=0,b=0,R=32767,E=[0,qn,1/0,Xe,0],C=!1,fe=!1,ne,K=ot,ke=0,me=!1,j=0,Z=!1,X=!1,Q=0,z,le=g=>{if(!(C||!Ne))try{g(Ne)}catch(w){B(zt(w));try{Ne.close()}catch{}}},
re=()=>{o.at&&(Z=!1,X=!0,le(g=>g.send(St(o))),o.at=j=0,o.bytes.length>1<<20&&(o.bytes=new Uint8Array(16384)),le(g=>{let w=g.buffered();w>Fo?O("too many unsent b\
ytes"):w>Wr&&!k.isFull&&(k.isFull=!0,F())}))},F=()=>le(g=>{if(g.buffered()>Wr/2)return void At(Lo,F);k.isFull=!1,e.room(k)}),m=()=>{o.at!==j?(j=o.at,queueMicrotask(
m)):(me=!1,re())},y=(g,w,S,M)=>{let{at:ee}=o;try{jt(o,ot),o.at+=ot,S?.(o,M);let te=o.at,ye=te-ee-ot,Jt=Math.max(E[1],To);if(ye>Jt)throw G(8,`the message has ${ye}\
 bytes of at most ${Jt}`);o.at=ee;for(let po of[15,g,w,ye>>>16,ye])Ar(o,po);o.at=te}catch(te){throw o.at=ee,te}o.at>Uo?re():me||(me=!0,j=0,queueMicrotask(m))},v=(g,{
code:w,message:S})=>y(g,7,M=>{q(M,w),ue(M,we(S.slice(0,256)))}),x=(g,w)=>{y(g,5,q,0),v(g,w)},A=g=>{if(!C){if(Q=0,ne){if(ue(ne,g),ne.at<K)return;g=St(ne),ne=void 0}
try{let w=0,S=M=>g[w+M]<<8|g[w+M+1];for(;!C&&!(g.length<(K=w+ot));w=K){S(0)!==15&&L("a header without its magic");let M=S(6)*65536+S(8);if(M>qn&&L(`a packet of ${M}\
 bytes`),g.length<(K+=M))break;I(S(2),S(4),g.subarray(w+ot,K))}w<g.length&&(K-=w,ue(ne=xt(),g.subarray(w)))}catch(w){O(`the server broke the protocol: ${w.message}`)}}},
I=(g,w,S)=>{let M=W(S),ee=i.get(g);if(w>=10){k.isUp||L("a packet before HELLO");let te=g>=Vr,ye=d[g%Xe];if(!te&&ye?.id===g&&ye.operation===w)return ce(g),e.answered(),
ye.isGivenUp?u--:e.replied(ye,S),T();if(s.filter(Jt=>Jt.packet(k,g,w,S)).length)return;if(te&&V)return V.packet(g,w,S,!1)}else if(w<2){S.length&&L("a PING with \
a body"),w===1?k.isUp||O("the server is a compat peer"):Z||(Z=!0,y(0,1));return}else{if(w===3&&!k.isUp&&!g)return se(M);if(w===3&&g>=Co)L(`packet type ${g} must\
 be understood and is unknown`);else{if(w===4)return N();if(w===6)return V?.cancel(g,D(M));if(w===8)L("a stray hand-off");else{if(ee&&w!==3&&w<8)return e.answered(),
ee.packet(w,S);if(w===2){let te=g-R&32767;if(g>=32768&&te&&te<=16384)return R=g,V?V.packet(g,2,S,!0):x(g,G(12,"no service is served"))}}}}++ke>Oo&&O("too many s\
tray packets")},se=g=>{(H(g)>$o||ie(g,4)!=="fris"||!Y(g))&&L("no HELLO");let w=new Set,S=[],M=0;try{for(;H(g);){M=Y(g);let ee=W(pe(g));if(M>=Ao&&L("must be unde\
rstood and is unknown"),(M<7||M===34||M===35)&&(w.has(M)&&L("occurs twice"),w.add(M)),M in E)E[M]=Xt(ee);else if(M===32||M===33){let te=Jr(ee);(M===32?a:c).set(
te.service,te)}else M===_n&&S.push(Hr(ee))}}catch(ee){L(`HELLO item ${M}: ${ee.message}`)}for(let ee of[a,c])for(let te of ee.values())te.compatible=S.find(([ye])=>ye===
te.fingerprint)?.slice(1)??[];E[3]=Math.min(E[3],Xe),k.isUp=!0,clearTimeout(Ve),e.room(k)},ce=g=>{d[g%Xe]=void 0,p--===E[3]&&e.room(k)},De=(g,w,S)=>{i.set(w,g),
g.begin(k,w,E[4],S)},T=()=>{fe&&p===u&&!i.size&&!V?.progress.size&&queueMicrotask(()=>O(Gr))},N=()=>{fe||(fe=!0,e.closing(k,Gr),T())},O=g=>{C||(re(),le(w=>w.close()),
B(g))},B=g=>{if(C)return;C=!0,clearInterval(z),clearTimeout(Ve),e.closing(k,g),k.isUp=!1;let w=new _(14,`the connection was lost: ${g}`);for(let S of d)S&&!S.isGivenUp&&
e.lost(S,w);for(let S of i.values())S.lost(w);V?.down(w);for(let S of s)S.down(k,w)},k={isUp:!1,isFull:!1,write:y,reset:v,refuse:x,fits(g){let w=a.get(g.name);if(w)
return w.fingerprint===$t(g.fingerprint)||n.includes(g)?Pr(g,w):void 0;for(let S of a.values())if(S.operations.some(M=>g.operations.includes(M)))throw G(12,`the\
 server has ${S.service} instead of ${g.name}`);return 0},call(g,w){if(k.isFull||p>=E[3])return!1;do f=(f+1)%Vr;while(d[f%Xe]);let S=g.id=f;d[S%Xe]=g,p++;try{y(
S,g.operation,w,g)}catch(M){throw ce(S),M}return!0},cancel(g){C||(g.isGivenUp=!0,y(g.id,6,q,g.operation),++u>=Io&&N(),T())},open(g,w,S){if(!E[2])throw G(12,"the\
 server does not accept streams");if(k.isFull||h>=Math.min(E[2],28672))return!1;do b=b%32767+1;while(i.has(b));let M=b;i.set(M,g),h++;try{y(M,2,S)}catch(ee){throw k.
over(M),ee}return g.begin(k,M,E[4],w),!0},accept:De,over(g){i.delete(g),g<32768&&(h--,e.room(k)),T()},drain:N,closeIfIdle:T},V=r?.on(k,c),Ve=At(_o,()=>O("handsh\
ake timeout")),wt=()=>{o.isFlat=Ne?.isFlat,y(0,3,g=>{ue(g,we("fris"));let w=V?Ro:0;[qn,w,w,nn].forEach((S,M)=>be(g,M+1,()=>q(g,S)));for(let S of r?.services??[])
Bn(g,32,S);for(let S of n)Bn(g,33,S)}),y(1,0),re(),!C&&(z=setInterval(()=>{if(++Q>Po)return O("keepalive timeout");(Q>1||!X)&&y(0,0),X=!1;let g=performance.now();
for(let w of d)w&&w.until<=g&&!w.isGivenUp&&e.expired(w)},Do))},Ne,Nr=g=>Ne?g():queueMicrotask(g),Mr=g=>Nr(()=>B(g));try{Ne=t({open:()=>Nr(wt),data:A,close:Mr})}catch(g){
Mr(zt(g))}return k}var Xr=16,Kr=65536,zr=256,qo=61440,Ho={metadata:{}},Yr=t=>[t].flat(),Hn=t=>t.endsWith("-bin"),Zr=(t,e)=>Hn(t)!==(typeof e=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${t}
${Hn(t)?"":e}`);function Jn(t){if(typeof t=="string")return we(t);if(!Gt(t))throw G(3,`content is a Uint8Array or a string, not ${String(t)}`);return t}function Vn(t,{
timeout:e,metadata:n={},status:r}){let{at:s}=t;be(t,Xr,()=>{e!==void 0&&be(t,1,()=>q(t,Math.min(Math.max(0,Math.round(e*1e3)),Number.MAX_SAFE_INTEGER)));let i=0,
a=0;for(let[c,d]of Object.entries(n))for(let p of Yr(d)){if(!Zr(c,p))throw G(3,`invalid metadata entry ${c}: keys have a-z 0-9 - _ . and values printable ASCII,\
 or bytes under -bin`);if(i+=c.length+p.length+8,++a>zr||i>qo)throw G(8,"too much metadata");be(t,2,()=>{Me(t,c),ue(t,Jn(p))})}if(r){let{code:c,details:d,mayHaveRun:p}=r;
be(t,3,()=>{q(t,c),t.at-s+d.length+32<=Kr&&ue(t,d)}),p||be(t,5,()=>{})}})||(t.at=s)}function rn(t,e=!1){if(Pe(t)!==Xr)return Ho;t.at++;let n=W(pe(t));H(n)>Kr&&L(
"a prefix is too long");let r=Object.create(null),s={metadata:r},o=0,i=0;for(;H(n);){let a=Y(n),c=W(pe(n));if(a>127){let d=`prefix item ${a} must be understood \
and is unknown`;throw e?G(12,d):new he(d)}if(a!==2&&a<7&&(i>>a&1&&L(`prefix item ${a} occurs twice`),i|=1<<a),a===1)s.timeout=Xt(c)/1e3;else if(a===2){let d=ie(
c),p=Hn(d)?Ge(c):ie(c,H(c));(!Zr(d,p)||++o>zr)&&L("invalid metadata"),r[d]=d in r?[...Yr(r[d]),p]:p}else a===3?(s.code=Yt(D(c,10)),s.details=Ge(c)):a===5&&(s.isRefused=
!0)}return s}function sn(t,{metadata:e,code:n,details:r,isRefused:s}){if(Pe(t)===6)return t.at++,Te(t,5),Te(t,10),new _(n??2,ie(t),{metadata:e,mayHaveRun:!s,...r&&
{details:r}})}function Qr(t,e){Vn(t,{status:e,metadata:e.metadata}),ue(t,[6,5,10]),Me(t,e.message)}function on(t,e){let n=[],r=0,s=!1,o=()=>{},i=f=>{s||=f,o()},a=()=>n[r],c=()=>{let f=a();return f!==void 0&&(n[r++]=void 0,r>999&&r*2>n.length&&(n.splice(0,r),r=
0)),f},d=()=>{n=[],r=0},p=(async function*(){try{for(;;){let f=c();if(f!==void 0){let h=t(f);h!==void 0&&(yield h)}else if(s){if(s!==!0)throw s;return}else await new Promise(
h=>o=h)}}finally{e()}})(),{return:u}=p;return p.return=()=>(e(),d(),i(!0),u.call(p,void 0)),{messages:p,first:a,take:c,clear:d,put:f=>{n.push(f),o()},end:i}}var Wn=64,Jo=4,Vo=4096,Gn=(t,e)=>t instanceof he?new _(13,`not a valid ${e.name}: ${t.message}`):_.from(t);function es(t,e,n,r,s){let o,i=0,a=0,c=0,d=0,p=0,u=!0,
f=!0,h=!1,b=!1,R=()=>{},E,C=()=>!u&&!f,{messages:fe,clear:ne,put:K,end:ke}=on(F=>{let m=F.length+Wn;d-=m,p+=m,f&&p*Jo>=nn&&(o?.write(i,5,q,p),p=0);try{let y=W(F),
v=rn(y);if(y.at&&(s?.(me.metadata=v.metadata),!H(y)))return;let x=sn(y,v);if(x)throw x;return Tt(y,e,a)}catch(y){throw Gn(y,e)}},()=>n?Q(!0):le()),me=Object.assign(
fe,{metadata:{}}),j=()=>{C()&&(R(),E?.(),o?.over(i),o=E=void 0,r())},Z=()=>{u&&(u=!1,o?.write(i,7),j())},X=F=>{u=f=!1,ke(F),j()},Q=(F,m=Zt(!0))=>{C()||o?.reset(
i,m),ne(),X(F)},z=F=>Q(F,F),le=()=>{ne(),h=!0},re=F=>{if(!o||!u)return;let m=F instanceof _;o.write(i,2,y=>{let{at:v}=y;m?Qr(y,F):Mt(y,t,F),c-=y.at-v+Wn}),m&&Z()};
return{messages:me,begin(F,m,y,v){o=F,i=m,c=y,a=v},packet(F,m){if(F===2)return!f||h?void 0:d+p>=nn?z(new _(8,"the peer exceeded its credit")):(d+=m.length+Wn,K(
new Uint8Array(m)));let y=W(m);if(F===5){let v=D(y,10);b||=!v,(c+=v)>0&&R()}else if(m.length){let v=Yt(D(y));X(new _(v,new TextDecoder().decode(Ge(y).subarray(0,
Vo)),{mayHaveRun:!b}))}else f=!1,ke(!0),j()},send:re,async pump(F,m){try{let y=F,v=y?.[Symbol.asyncIterator]?.()??y?.[Symbol.iterator]?.();if(!v)throw G(3,`mess\
ages of a stream are an iterable, not ${String(F)}`);for(E=async()=>{try{await v.return?.()}catch{}};;){for(;c<=0&&!C();)await new Promise(I=>R=I);if(C())return;
let{done:x,value:A}=await v.next();if(C())return;if(x)break;re(A)}E=void 0,Z()}catch(y){if(!n)throw E?.(),E=void 0,y;Q(m?Cr(y):_.from(y))}},finish:Z,discard:le,
fail:z,lost:X}}var Wo=3e4,Go=5e3,jo=20,ts=2e3,ns=10,Ct=class{constructor(e,{timeout:n,patience:r=Go,metadata:s,serve:o,stayConnected:i}={}){let a,c=0,d=ns,p=0,u,f=!1,h="",b=[new Set,
new Set],R=({method:{sends:m,receives:y}})=>b[m||y?1:0],E=new Set,C=[],fe=()=>{a||u||f||!(b[0].size||b[1].size||i)||(p=performance.now(),a=jr(e,ne,[...E],o,C))},
ne={room:m=>queueMicrotask(()=>{for(let y of b)for(let v of y){if(a!==m||!K(v,m))break;a===m&&y.delete(v)}}),closing(m,y){if(a===m){if(a=void 0,h=y,m.isUp)for(let v of b)
v.forEach(me);m.isUp&&performance.now()-p>=ts?c=0:f||(clearTimeout(u),u=At(Math.random()*Math.min(jo*2**Math.min(c++,16),ts),()=>{u=void 0,fe()})),fe()}},answered:()=>void(c=
0),replied(m,y){let v=m,{method:{reply:x},options:{onMetadata:A}}=v;Z(v);try{let I=W(y),se=rn(I),ce=sn(I,se);if(ce)throw ce;I.at&&A?.(se.metadata),v.resolve(Tt(
I,x,v.missing)),d<ns&&(d+=.1)}catch(I){v.reject(Gn(I,x))}},expired:m=>j(m),lost(m,y){let v=m;if(v.link=void 0,!v.method.idempotent||d<1)return X(v,y);d--,ke(v)}},
K=(m,y)=>{let{service:v,method:x}=m;try{let A=v?y.fits(v):0;return A!==void 0?(m.missing=_r(x,A,1),m.start(m,y)&&(m.isSent=!0)):(E.add(v),c=0,y.drain(),!1)}catch(A){
return X(m,_.from(A)),!0}},ke=m=>{if(!(a?.isUp&&K(m,a))){if(f)return X(m,rs(m.isSent));R(m).add(m),fe(),me(m)}},me=m=>{m.patientUntil=performance.now()+(m.options.
patience??r),j(m)},j=m=>{let{until:y,isSent:v,patientUntil:x}=m,A=performance.now(),I=R(m).has(m)&&!a?.isUp&&`no connection to the server${h&&`: ${h}`}`;clearTimeout(
m.timer),A>=y?X(m,Ir(v,I?`; ${I}`:"")):A>=x&&I?X(m,Et(14,I,v)):m.timer=At((A<x?Math.min(y,x):y)-A,()=>j(m))},Z=m=>{R(m).delete(m),clearTimeout(m.timer),m.options.
signal?.removeEventListener("abort",m.abort)},X=(m,y)=>{Z(m),m.link?.cancel(m),m.reject(y)},Q=(m,{sentTimeout:y,until:v,options:{metadata:x}})=>{(y!==void 0||s||
x)&&Vn(m,{timeout:y&&v-performance.now(),metadata:{...s,...x}})},z=(m,y)=>{Q(m,y),Mt(m,y.method.request,y.request)},le=(m,y)=>{let v=y.call(m,z);return v&&(m.link=
y),v},re=(m,y,v,x,A,I,se,ce,De=1/0)=>{let{signal:T}=x,N={id:0,operation:y.operation,until:performance.now()+ +(A??De),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,
timer:void 0,link:void 0,service:m,method:y,request:v,options:x,sentTimeout:A,start:I,resolve:se,reject:ce,abort:T&&(()=>X(N,Zt(N.isSent)))};return Number.isNaN(
N.until)?ce(G(3,"the timeout is not a number; it is in milliseconds")):T?.aborted?N.abort?.():(T?.addEventListener("abort",N.abort),A!==void 0&&j(N),(A===void 0||
A>0)&&ke(N)),N},F=(m,y,v,x={})=>{let A,I=es(y.request,y.reply,!0,()=>A&&Z(A),x.onMetadata);return A=re(m,y,v,x,x.timeout,(se,ce)=>{let De=ce.open(I,se.missing,T=>{
Q(T,se),P(T,9),q(T,se.operation)});return De&&I.pump(v,y.sends),De},()=>{},I.fail),I};this.unary=(m,y,v,x={})=>new Promise((A,I)=>void re(m,y,v,x,x.timeout??n,le,
A,I,Wo)),this.serverStreaming=(m,y,v,x)=>F(m,y,[v],x).messages,this.twoWay=(m,y,v,x)=>F(m,y,v,x).messages,this.clientStreaming=async(m,y,v,x)=>{let{messages:A}=F(
m,y,v,x),{done:I,value:se}=await A.next();if(I)throw new _(13,"there is no reply");return A.return?.(),se},this.name=m=>void E.add(m),this.mount=m=>void C.push(
m),this.connected=(m,y)=>new Promise((v,x)=>{re(void 0,{},void 0,{patience:y},void 0,(A,I)=>I.isFull?!1:(m?.(I),Z(A),v(I),!0),v,x)}),this.close=()=>{f=!0,clearTimeout(
u);for(let m of b)for(let y of m)X(y,rs(y.isSent));a?.drain()},i&&queueMicrotask(fe)}},rs=t=>Et(9,"the channel is closed",t);var it=65280,Xo=16<<20,jn=64,Ko=255,zo=65536,Yo=4,an={now:0,last:1,oldest:2},ss=t=>G([8,12,7][Y(t)-3]??3,ie(t,H(t))),os=t=>{let e=D(t);return e>Ko&&L("a topic i\
s too long"),ie(t,e)},is=new WeakMap,It=class{constructor(e){this.channel=e;this.requests=new Map;this.last=0;let{requests:n}=this,r=is.get(e);if(r)return r;is.
set(e,this),e.mount({packet:(s,o,i,a)=>{if(i<it)return!1;!o&&i===it+5&&(this.refused??=ss(W(a)));for(let c of o?[n.get(o)]:n.values())c?.packet(s,o,i-it,W(a));return!0},
down(s,o){for(let i of[...n.values()])i.down(s,o)}})}subscribe(e,{group:n="",from:r}={}){return this.request(0,e,n,r)}async publish(e,n){await this.channel.connected(
r=>r.write(0,it+2,s=>{We(s,we(e)),ue(s,Jn(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:e}=this;if(this.refused=void 0,e)throw e}request(e,n,r="",s){
let{channel:o,requests:i}=this;do this.last=this.last%65535+1;while(i.has(this.last));let a=this.last;return new Promise((c,d)=>{let p,u=0,f=0,h=!1,{first:b,messages:R,
put:E,end:C,take:fe}=on(T=>(u-=T.payload.length+jn,T),()=>{i.delete(a)&&n!==void 0&&p?.isUp&&p.write(a,it+1)}),ne=T=>{i.delete(a),d(T),C(T)},K=r?[]:n?.split(".")??
[],ke=K[K.length-1]===">",me=T=>{let N=T.split(".");return(ke?N.length>=K.length:N.length===K.length)&&K.every((O,B)=>O===">"||O==="*"||O===N[B])},j=e===0&&!r&&
s!==void 0,Z=typeof s=="object";if(Z&&!(/^[\da-f]{16}$/.test(s.epoch)&&s.offset>=0))throw G(3,`${s.epoch}, ${s.offset} is not a position`);let X=Z||s===void 0?an.
oldest:an[s],Q=new Map(Z?[[n,{...s,offset:s.offset+1}]]:[]),z=new Map,le=0,re="",F=!1,m=!1,y=!1,v=!1,x=!1,A=T=>{p?.write(a,it+T,N=>{if(n!==void 0&&We(N,we(n)),T===
6){P(N,X);for(let[O,B]of Q){Me(N,O);for(let k=0;k<16;k+=2)P(N,parseInt(B.epoch.slice(k,k+2),16));q(N,B.offset)}}else ue(N,we(r))})},I=T=>{o.connected(N=>{i.has(
a)&&(p=N,A(j?6:e))},T).catch(N=>{m&&N.code===9&&C(!0),ne(N)})},se=()=>{x=!0,m&&(y||!(j&&v))&&(h=!0),c(R)},ce=T=>Array.from(pe(T,8),N=>N.toString(16).padStart(2,
"0")).join(""),De=(T,N,O)=>{if(N===5&&T&&!x&&j&&O.bytes[O.at]===Yo)y=!0,A(0);else if(N===6&&T&&O.bytes[O.at]===0){Y(O),v=Y(O)===1;let B=ce(O);le=D(O,10);let k=re!==
""&&re!==B,V=!n?.match(/[*>]/)&&Q.size>0;re=B,se(),y=!1,h||=V?!le:k}else if(N===7)for(;H(O);){let B=os(O),k={epoch:ce(O),offset:D(O,10)};if(Number.isSafeInteger(
k.offset)||L("an integer is beyond 2^53"),!x||!T&&!me(B))continue;let V=z.get(B);T&&!V?(le--,V=Q.get(B)??(F?{...k,offset:1}:void 0)):!T&&V?.epoch!==k.epoch&&(V=
void 0),V&&v&&(V.epoch===k.epoch&&V.offset<=k.offset?f+=k.offset-V.offset:h=!0),z.size>=zo&&(z.clear(),y=!0),z.set(B,k)}else return!1;return!0};i.set(a,{packet(T,N,O,B){
if(!(T!==p||j&&De(N,O,B)))if(O===2){let k=os(B);if(!N&&(!x||!me(k)))return;let V=Ge(B),Ve=z.get(k);for(Ve&&z.set(k,{...Ve,offset:Ve.offset+1}),u+=V.length+jn,E(
{topic:k,payload:V,position:Ve,lagged:f,reconnected:h}),f=0,h=!1;u>Xo;){let wt=fe();u-=wt.payload.length+jn;let Ne=b();Ne.lagged+=wt.lagged+1,Ne.reconnected||=wt.
reconnected}}else O===4?j&&v&&x||(f+=D(B,10)):N&&(H(B)?ne(ss(B)):se())},down(T,N){if(T===p){if(n===void 0||!x&&!m)return ne(N);if(x)if(le>0)for(let[O,B]of z)Q.set(
O,B);else Q=y?new Map:z,X=y?an.now:an.oldest,F=!y;z=new Map,x=!1,m=!0,I(1/0)}}}),I()})}};var ln="frisbee.1";function Xn(t,{protocols:e=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let s=new n(String(t),[ln,...e]);s.binaryType="arraybuffer";let o="";return s.onopen=()=>{if(s.protocol===ln)return r.
open();o=`the server does not speak ${ln}`,s.close()},s.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):s.close()},s.onerror=({message:i=""})=>void(o||=
i),s.onclose=({code:i,reason:a})=>{r.close(o||`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>s.send(i),close:()=>s.close(),buffered:()=>s.bufferedAmount}}}var Zo=64;var cn=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:n,bytes:r}of xe(e))n===1&&this.file(r)}message(e){let n=this.messages.get(e);
if(!n)throw new Error(`the schema has no message ${e}`);return n}enumeration(e){let n=this.enums.get(e);if(!n)throw new Error(`the schema has no enum ${e}`);return n}entry(e){
let n=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return n?.isEntry?n:void 0}file(e){let n="",r=[],s=new Map;for(let{number:i,bytes:a}of xe(e))i===
2?n=Ce(a):i===4||i===5?r.push({number:i,bytes:a}):i===9&&(s=ti(a));let o={4:0,5:0};for(let{number:i,bytes:a}of r){let c=o[i]??0;o[i]=c+1;let d=`${i},${c}`;i===4?
this.declare(a,n,[],d,s,0):this.declareEnum(a,n,[],d,s)}}declare(e,n,r,s,o,i){if(i>Zo)throw new he("types are nested too deeply");let a=[],c=[],d=[],p=[],u="",f=!1;
for(let{number:E,bytes:C}of xe(e))E===1?u=Ce(C):E===2?a.push(C):E===3?c.push(C):E===4?d.push(C):E===7?f=us(C,7):E===8&&p.push({name:cs(C),docs:o.get(`${s},8,${p.
length}`)??""});let h=[...r,u],b=ls(n,h),R=a.map((E,C)=>Qo(E,o.get(`${s},2,${C}`)??""));this.messages.set(b,{name:b,package:n,path:h,docs:o.get(s)??"",fields:R,
oneofs:p,isEntry:f}),c.forEach((E,C)=>this.declare(E,n,h,`${s},3,${C}`,o,i+1)),d.forEach((E,C)=>this.declareEnum(E,n,h,`${s},4,${C}`,o))}declareEnum(e,n,r,s,o){
let i=[],a="";for(let{number:p,bytes:u}of xe(e)){if(p===1&&(a=Ce(u)),p!==2)continue;let f=0;for(let h of xe(u))h.number===2&&(f=h.low|0);i.push({name:cs(u),number:f,
docs:o.get(`${s},2,${i.length}`)??""})}let c=[...r,a],d=ls(n,c);this.enums.set(d,{name:d,package:n,path:c,docs:o.get(s)??"",values:i})}},ds=t=>t===11||t===10||t===
14,ls=(t,e)=>[...t?[t]:[],...e].join(".");function Qo(t,e){let n="",r="",s="",[o,i,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of xe(t))u.number===1?n=Ce(u.bytes):u.number===
3?o=u.low:u.number===4?i=u.low:u.number===5?a=u.low:u.number===6?s=Ce(u.bytes).replace(/^\./,""):u.number===8?p=us(u.bytes,3):u.number===9?c=u.low:u.number===10?
r=Ce(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new he(`a field of the kind ${a}`);return{name:n,number:o,kind:a,type:s,isOptional:d,isDeprecated:p,
docs:e,jsonName:r||n.replace(/_(\w)/g,(u,f)=>f.toUpperCase()),isRepeated:i===3,oneof:c<0||d?void 0:c}}var ei=new Uint8Array,Ce=t=>ie(W(t),t.length);function*xe(t){
let e=W(t);for(;H(e);){let n=D(e),r=n>>>3,s=n&7;if(s===0){let o=0,i=0;for(let a of t.subarray(e.at,(D(e,10),e.at)))i<32&&(o|=(a&127)<<i),i+=7;yield{number:r,bytes:ei,
low:o>>>0}}else if(s===2)yield{number:r,bytes:pe(e,D(e)),low:0};else if(s===1||s===5)pe(e,s===1?8:4);else throw new he(`a field of the wire type ${s}`)}}function cs(t){
for(let{number:e,bytes:n}of xe(t))if(e===1)return Ce(n);return""}function us(t,e){for(let{number:n,low:r}of xe(t))if(n===e)return r!==0;return!1}function ti(t){
let e=new Map;for(let{number:n,bytes:r}of xe(t)){if(n!==1)continue;let s="",o="",i="";for(let c of xe(r))if(c.number===1){let d=W(c.bytes),p=[];for(;H(d);)p.push(
D(d));s=p.join(",")}else c.number===3?o=Ce(c.bytes):c.number===4&&(i=Ce(c.bytes));let a=o||i;a&&e.set(s,dn(a))}return e}var dn=t=>t.replace(/^ /gm,"").trim();var _e=t=>`f${t.number}`,lt=t=>`o${t}`,Kn={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
at=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let n=this.types.get(e);if(n)return n;let r=this.schema.message(e),s=ri(this.schema,
r),o=s.map(c=>`${_e(c)}:${this.spec(r,c)}`).join(" "),i=s.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>ds(c.kind)),a=U(e,o,()=>i.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,n){let r=this.schema.entry(n),s=Kn[n.kind];if(r){let[o,i]=r.fields;if(!o||!i)throw new Error(
`${r.name} is not a map entry`);return`%${Kn[o.kind]}${Kn[i.kind]}`}if(n.isRepeated)return`*${s}`;if(n.oneof!==void 0){let o=e.fields.filter(i=>i.oneof===n.oneof);
return`${lt(n.oneof)}/${o.indexOf(n)+1}/${s}`}return n.isOptional&&s!=="m"?`?${s}`:s}choice(e){let n=this.enums.get(e);return n||(n=ni(this.schema.enumeration(e)),
this.enums.set(e,n)),n}},ni=t=>Object.fromEntries(t.values.map(({number:e},n)=>[`v${n}`,e]));function ri(t,e){let n=r=>t.entry(r)?2:r.isRepeated?1:r.kind===11||
r.kind===10?2:0;return[0,1,2].flatMap(r=>e.fields.filter(s=>n(s)===r))}function ps(t,e,n,r,s){let o=s.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:f})=>({operation:a,request:t.of(c),reply:t.of(d),sends:p,receives:u,idempotent:f})),i=je(e,n,r,Object.fromEntries(o.map((a,c)=>[`m${c}`,a])));return o.
map(a=>({service:i,method:a}))}var zn={POLYGLOT:0,PROTOBUF:1},Rt={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},si=U("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),oi=U("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),ii=U("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[ci]),ai=U("fr\
pc.reflection.v1.ListRequest","etag:s"),li=U("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Rt]),ci=U("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[zn,li]),ct=je("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:ai,reply:ii,receives:!0,
idempotent:!0},files:{operation:65001,request:oi,reply:si,receives:!0,idempotent:!0}});var fs=32<<20,Ie=t=>`${t.service.name}/${t.name}`,un=class{constructor(e,n){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let r=Xn(e),s=i=>{this.wire=i,n()},o=i=>{let a=r({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,i.open(),s("open")},data:c=>{
this.traffic.received+=c.length,i.data(c)},close:c=>{s("lost"),i.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Ct(o,
{stayConnected:!0}),this.channel.name(ct),this.topics=new It(this.channel)}async catalog(e){let{channel:n,metadata:r}=this,s=new Map,o="";for await(let f of n.serverStreaming(
ct,ct.methods.list,{etag:e?.etag??""},{metadata:r})){if(f.notModified)return;o||=f.etag;for(let h of f.services){let b=s.get(h.name);b?b.methods.push(...h.methods):
s.set(h.name,h)}}let i=[],a=0;for await(let{data:f}of n.serverStreaming(ct,ct.methods.files,{},{metadata:r}))if(i.push(f),a+=f.length,a>fs)throw new _(Kt.RESOURCE_EXHAUSTED,
`the schema has more than ${fs} bytes`);let c=new Uint8Array(a),d=0;for(let f of i)c.set(f,d),d+=f.length;let p=new cn(c),u=new at(p);return{etag:o,schema:p,services:[
...s.values()].map(f=>di(f,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function di(t,e){let n,r=o=>{if(t.codec!==zn.POLYGLOT)throw new Error(
"its messages use the protobuf codec, which this page does not support");if(!t.file)throw new Error("the server does not have the schema of this service; build \
it with `reflection(true)`");return n??=ps(e,t.name,t.fingerprint,t.compatible,t.methods.map(i=>({...i,sends:i.requestStreams,receives:i.responseStreams,isIdempotent:i.
idempotency!==Rt.UNKNOWN}))),n[o]},s={name:t.name,fingerprint:t.fingerprint,file:t.file,docs:dn(t.docs),isDeprecated:t.isDeprecated,methods:[]};return s.methods=
t.methods.map((o,i)=>({service:s,name:o.name,operation:o.operation,request:o.request,response:o.response,sends:o.requestStreams,receives:o.responseStreams,idempotency:o.
idempotency===Rt.NO_SIDE_EFFECTS?"no side effects":o.idempotency===Rt.IDEMPOTENT?"idempotent":"",formats:o.formats,docs:dn(o.docs),isDeprecated:o.isDeprecated,callable:()=>r(
i)})),s}var pn=t=>Object.entries(Kt).find(([,e])=>e===t)?.[0]??String(t);var ui=50;function fn(t,e,n){let r=t.slice(-ui).reverse().map(s=>l("li",{},l("button",{type:"button",className:"history",title:"Restore the request",onclick:()=>e(
s)},l("span",{className:"muted"},nt(s.beganAt)),l("span",{className:s.code===0?"badge ok":"badge failed"},pn(s.code)),!n&&l("span",{className:"path"},s.path),l(
"span",{className:"muted shortened"},(s.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},de(s.took)))));return r.length>0?l("ol",{className:"\
histories"},...r):l("p",{className:"empty"},"No calls yet.")}var J=class extends Error{constructor(e,n){super(e?`${e}: ${n}`:n)}},ae=()=>Object.create(null),Zn=t=>typeof t=="object"&&t!==null&&!Array.isArray(t),Qn=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Ke=t=>Qn.test(t)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(t);function Be(t){try{return JSON.parse(t||"{}")}catch(e){throw new J(
"",e.message)}}function ze(t,e,n,r=""){let s=gi(t,e,n,r);if(s)return s;if(!Zn(n))throw new J(r,`${e} is an object`);let o=t.message(e),i={};for(let[a,c]of Object.
entries(n)){let d=o.fields.find(f=>f.jsonName===a||f.name===a),p=r?`${r}.${a}`:a;if(!d)throw new J(p,`${e} has no such field${pi(o)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=fi(t,d,c,p);if(d.oneof===void 0)i[_e(d)]=u;else{let f=lt(d.oneof);if(i[f])throw new J(p,`${o.oneofs[d.oneof]?.name} has two \
members`);i[f]={case:_e(d),value:u}}}return i}var pi=t=>t.fields.length>0?`; it has: ${t.fields.map(e=>e.jsonName).join(", ")}`:"";function fi(t,e,n,r){let s=t.
entry(e),[o,i]=s?.fields??[];if(o&&i){if(!Zn(n))throw new J(r,"a map is an object");return new Map(Object.entries(n).map(([a,c])=>[mi(o,a,r),Yn(t,i,c,`${r}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Yn(t,e,n,r);if(!Array.isArray(n))throw new J(r,"a list is an array");return n.map((a,c)=>Yn(t,e,a,`${r}[${c}]`))}function mi(t,e,n){
if(t.kind!==8)return Lt(t,e,n);if(e!=="true"&&e!=="false")throw new J(n,`${e} is not true or false`);return e==="true"}var ys=(()=>{let t=n=>[-(1n<<n-1n),(1n<<n-
1n)-1n],e=n=>[0n,(1n<<n)-1n];return{5:t(32n),17:t(32n),15:t(32n),3:t(64n),18:t(64n),16:t(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),yi=t=>[3,4,6,16,18].includes(
t),er=t=>t in ys;function Yn(t,e,n,r){if(e.kind===11)return ze(t,e.type,n,r);if(e.kind!==14)return Lt(e,n,r);let{name:s,values:o}=t.enumeration(e.type);if(typeof n==
"number"&&Number.isInteger(n))return n;let i=o.find(a=>a.name===n);if(!i)throw new J(r,`${s} has no value ${Ot(n)}; it has: ${o.map(a=>a.name).join(", ")}`);return i.
number}var Ot=t=>JSON.stringify(t).slice(0,60);function Lt(t,e,n=""){let{kind:r}=t,s=ys[r];if(s){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new J(n,`${Ot(e)} is not an integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new J(n,"an integer of this size is wr\
itten as text, in quotes");let i=BigInt(e);if(i<s[0]||i>s[1])throw new J(n,`${i} is not from ${s[0]} to ${s[1]}`);return yi(r)?i:Number(i)}if(r===1||r===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new J(n,`${Ot(e)} is not a number`);
return Number(e)}if(r===8){if(typeof e!="boolean")throw new J(n,`${Ot(e)} is not true or false`);return e}if(typeof e!="string")throw new J(n,`${Ot(e)} is not a\
 string`);return r===12?Se(e,n):e}function gi(t,e,n,r){let s=Qn.test(e)&&t.message(e).fields[0];if(s)return{f1:Lt(s,n,r)};switch(e){case"google.protobuf.Timesta\
mp":return hi(n,r);case"google.protobuf.Duration":{let o=typeof n=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(n);if(!o)throw new J(r,'a duration is writ\
ten as "1.5s"');let[,i,a="",c=""]=o,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${i}${a}`),f2:i?-d:d}}case"google.protobuf.FieldMask":if(typeof n!="string")throw new J(
r,'a mask is written as "name,homeAddress.city"');return{f1:n===""?[]:n.split(",").map(o=>o.trim().replace(/[A-Z]/g,i=>`_${i.toLowerCase()}`))};case"google.prot\
obuf.Struct":if(!Zn(n))throw new J(r,"a Struct is an object");return{f1:new Map(Object.entries(n).map(([o,i])=>[o,Ft(i,0)]))};case"google.protobuf.ListValue":if(!Array.
isArray(n))throw new J(r,"a ListValue is an array");return{f1:n.map(o=>Ft(o,0))};case"google.protobuf.Value":return Ft(n,0)}}function hi(t,e){let n=typeof t=="s\
tring"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(t),r=n?Date.parse(`${n[1]}${n[3]?.toUpperCase()}`):NaN;if(!n||Number.isNaN(r))
throw new J(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(r/1e3),f2:Number((n[2]??"").padEnd(9,"0"))}}function Ft(t,e){if(e>90)throw new J(
"","nests too deep");let n=(r,s)=>({o0:{case:`f${r}`,value:s}});return t===null?n(1,0):typeof t=="number"?n(2,t):typeof t=="string"?n(3,t):typeof t=="boolean"?n(
4,t):Array.isArray(t)?n(6,{f1:t.map(r=>Ft(r,e+1))}):n(5,{f1:new Map(Object.entries(t).map(([r,s])=>[r,Ft(s,e+1)]))})}function Ut(t,e,n){let r=wi(t,e,n);if(r!==void 0)
return r;let s=ae();for(let o of t.message(e).fields){let i=o.oneof===void 0?void 0:n[lt(o.oneof)],a=o.oneof===void 0?n[_e(o)]:i?.case===_e(o)?i.value:void 0;if(a===
void 0)continue;let c=bi(t,o,a);Array.isArray(a)&&a.length===0||a instanceof Map&&a.size===0||(s[o.jsonName]=c)}return s}function bi(t,e,n){let r=t.entry(e)?.fields[1];
if(r&&n instanceof Map){let s=ae();for(let[o,i]of n)s[String(o)]=mn(t,r,i);return s}return Array.isArray(n)?n.map(s=>mn(t,e,s)):mn(t,e,n)}function mn(t,e,n){return e.
kind===11?Ut(t,e.type,n):e.kind===14?t.enumeration(e.type).values.find(({number:r})=>r===n)?.name??n:n instanceof Uint8Array?Re(n):typeof n=="bigint"||typeof n==
"number"&&!Number.isFinite(n)?String(n):e.kind===2?vi(n):n}function vi(t){for(let e=6;e<10;e++){let n=Number(t.toPrecision(e));if(Math.fround(n)===t)return n}return t}
function wi(t,e,n){let r=Qn.test(e)&&t.message(e).fields[0];if(r)return mn(t,r,n.f1);switch(e){case"google.protobuf.Timestamp":{let s=Number(n.f1),o=new Date(s*
1e3);return Number.isNaN(o.getTime())||s<-62135596800||s>253402300799?void 0:`${o.toISOString().slice(0,19)}${ms(n.f2)}Z`}case"google.protobuf.Duration":{let[s,
o]=[n.f1,n.f2];return`${s<0n||o<0?"-":""}${s<0n?-s:s}${ms(Math.abs(o))}s`}case"google.protobuf.FieldMask":return n.f1.map(s=>s.replace(/_([a-z])/g,(o,i)=>i.toUpperCase())).
join(",");case"google.protobuf.Struct":return gs(n);case"google.protobuf.ListValue":return n.f1.map(yn);case"google.protobuf.Value":return yn(n)}}function gs(t){
let e=ae();for(let[n,r]of t.f1)e[n]=yn(r);return e}function yn(t){let e=t.o0;return!e||e.case==="f1"?null:e.case==="f5"?gs(e.value):e.case==="f6"?e.value.f1.map(
yn):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.value}var ms=t=>{let e=String(t).padStart(9,"0");return t===0?"":`.${e.replace(/(000){1,2}$/,
"")}`};function Re(t){let e="";for(let n=0;n<t.length;n+=32768)e+=String.fromCharCode(...t.subarray(n,n+32768));return btoa(e)}function Se(t,e=""){try{return Uint8Array.
from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),n=>n.charCodeAt(0))}catch{throw new J(e,"it is no base64")}}function dt(t){try{let e=new TextDecoder("utf-8",{fatal:!0,
ignoreBOM:!0}).decode(t);return/[\0-\x08\x0e-\x1f\x7f]/.test(e)?void 0:e}catch{return}}var Ye=t=>Array.from(t,e=>e.toString(16).padStart(2,"0")).join(" ");var pt=t=>Object.entries(t).flatMap(([e,n])=>[n].flat().map(r=>[e,r])),ut=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let n=l("bu\
tton",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,n)}get(){
let e={};for(let n of this.rows.children){let[r="",s=""]=[...n.querySelectorAll("input")].map(i=>i.value),o=r.trim().toLowerCase();o&&(e[o]=o.endsWith("-bin")?Se(
s,o):s)}return e}set(e){$(this.rows);for(let[n,r]of pt(e))this.add(n,typeof r=="string"?r:Re(r))}add(e,n){let r=l("input",{type:"text",value:e,placeholder:"key",
"aria-label":"key",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",value:n,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,
autocomplete:"off"}),o=l("div",{className:"item"},r,s,l("button",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{o.remove(),this.changed()}},
"×"));return this.rows.append(o),r}},tr=t=>l("dl",{className:"pairs"},...pt(t).flatMap(([e,n])=>[l("dt",{},e),l("dd",{},typeof n=="string"?n:Re(n))]));var Ze=t=>rr(JSON.stringify(t)),rr=t=>t.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
Oe=t=>/^[\w./:=@%+-]+$/.test(t)?t:`'${rr(t).replace(/'/g,"'\\''")}'`,hs=t=>pt(t).map(([e,n])=>[e,typeof n=="string"?n:Re(n)]);function bs({method:t,requests:e,metadata:n,
timeout:r,origin:s}){let o=t.sends||t.receives,i=[o?"curl -sN":"curl",`-H 'content-type: application/${o?"connect+json":"json"}'`];r!==void 0&&i.push(`-H ${Oe(`\
connect-timeout-ms: ${Math.round(r)}`)}`);for(let[p,u]of hs(n))i.push(`-H ${Oe(`${p}: ${u}`)}`);let a=Oe(`${s}/${Ie(t)}`);if(!o)return[...i,`-d ${Oe(Ze(e[0]??{}))}`,
a].join(` \\
  `);let c=e.map(Ze);return[`printf '${c.map(p=>`\\0${xi(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(Oe).join(" ")} | ${i[0]}`,...i.slice(1),"--\
data-binary @-",a].join(` \\
  `)}var xi=t=>[24,16,8,0].map(e=>`\\${(t>>>e&255).toString(8).padStart(3,"0")}`).join("");function vs({method:t,requests:e,metadata:n,timeout:r,origin:s}){let{
host:o,protocol:i}=new URL(s),a=i==="https:"?`wss://${o}/`:o,c=[`frpc call --server ${Oe(a)}`,Oe(Ie(t))];for(let d of e)c.push(Oe(Ze(d)));for(let[d,p]of hs(n))c.
push(`-H ${Oe(`${d}=${p}`)}`);return r!==void 0&&c.push(`--deadline ${Math.round(r)}ms`),c.join(` \\
  `)}var vn=t=>t.replace(/\W/g,"_")||"_",ws=t=>vn(t).replace(/^_(?=\d)/,"-"),xs=t=>vn(t).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Dt=t=>xs(t).map(e=>e.toLowerCase()).join("_")||"_",Qe=t=>xs(t).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",gn=t=>Qe(t).replace(/^./,e=>e.toLowerCase()),Si=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),bn=t=>Si.has(Dt(t))?/^(self|super|crate)$/.test(Dt(t))?`${Dt(t)}_`:`r#${Dt(t)}`:Dt(t),Ee=t=>rr(JSON.stringify(t)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function Ss(t){let{schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=vn(n.service.name.
split(".").pop()??""),c=r.map(h=>ks(e,n.request,h,0)),d=bn(n.name),p=[`let client = ${a}Client::connect(${Ee(new URL(i).host)}).await?;`],u=c[0]??`${Qe(n.request)}\
::default()`;n.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let f=[...o===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(o)}));`],...pt(s).map(([h,b])=>typeof b=="string"?`request.metadata_mut().insert(${Ee(h)}, ${Ee(b)})?;`:`request.metadata_mut().insert_\
bin(${Ee(h)}, &[${[...b].join(", ")}][..])?;`)];return f.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...f),u="request"),n.receives?(p.push(`\
let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,n.sends?void 0:0).map(h=>`requests.send(${h}).await?;`),...n.sends?["drop(request\
s);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):n.sends?(p.push(`let call = client.${d}(${u});`,"let se\
nding = async {",...c.map(h=>`    requests.send(${h}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call, sendin\
g)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function Es({path:t,package:e}){let n=[...t.slice(0,-1).map(bn),Qe(t[t.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${n}`:n}var nr=(t,e)=>`${"\
    ".repeat(e)}${t}`;function ks(t,e,n,r){let s=t.message(e),o=Es(s),i=typeof n=="object"&&n!==null&&!Array.isArray(n)?n:{},a=[],c=new Set;for(let u of s.fields){
let f=i[i[u.jsonName]===void 0?u.name:u.jsonName];if(f===void 0||f===null&&u.type!=="google.protobuf.Value")continue;let h=u.oneof===void 0?void 0:s.oneofs[u.oneof],
b=Ei(t,s,u,f,r+1),R=h?h.name:u.name;c.add(R);let E=[...s.path.map(bn),Qe(h?.name??"")].join("::");a.push(nr(`${bn(R)}: ${h?`Some(${E}::${Qe(u.name)}(${b}))`:b},`,
r+1))}let d=new Set(s.fields.map(u=>u.oneof===void 0?u.name:s.oneofs[u.oneof]?.name));if(a.length===0)return`${o}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(nr(`..${o}::default()`,r+1));let p=`${o} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${o} {
${a.join(`
`)}
${nr("}",r)}`}function Ei(t,e,n,r,s){let[o,i]=t.entry(n)?.fields??[];if(o&&i)return`HashMap::from([${Object.entries(r).map(([u,f])=>`(${o.kind===9?`${Ee(u)}.to_\
owned()`:ws(u)}, ${hn(t,i,f,s)})`).join(", ")}])`;if(n.isRepeated)return`vec![${r.map(d=>hn(t,n,d,s)).join(", ")}]`;let a=hn(t,n,r,s),c=n.kind===11&&!Ke(n.type)&&
Ns(t,n.type,e.name,new Set)?`Box::new(${a})`:a;return n.oneof===void 0&&(n.isOptional||n.kind===11)?`Some(${c})`:c}function Ns(t,e,n,r){return e===n?!0:r.has(e)?
!1:(r.add(e),t.messages.get(e)?.fields.some(s=>s.kind===11&&!s.isRepeated&&Ns(t,s.type,n,r))??!1)}function hn(t,e,n,r){if(e.kind===11){let[s]=t.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${Ee(String(n))}.parse()?`:Ke(e.type)&&s&&/Value$/.test(e.type)&&s.name===
"value"?hn(t,s,n,r):Ke(e.type)?ki(e.type,n):ks(t,e.type,n,r)}if(e.kind===14){let s=t.enumeration(e.type),o=s.values.find(({name:c})=>c===n);if(!o)return String(
Number(n)|0);let i=Qe(s.path[s.path.length-1]??""),a=Qe(o.name);return`${Es(s)}::${a.startsWith(i)&&a.length>i.length?a.slice(i.length):a}.into()`}return e.kind===
12?`vec![${[...Se(String(n))].join(", ")}]`:e.kind===9?`${Ee(String(n))}.to_owned()`:e.kind===1||e.kind===2?$s(Number(n),e.kind===1?"f64":"f32"):ws(String(n))}var ft="\
frpc::prost_types::";function ki(t,e){if(t==="google.protobuf.FieldMask"){let n=String(e).split(",").filter(Boolean).map(r=>r.trim().replace(/[A-Z]/g,s=>`_${s.toLowerCase()}`));
return`${ft}FieldMask { paths: vec![${n.map(r=>`${Ee(r)}.to_owned()`).join(", ")}] }`}return t==="google.protobuf.Struct"?`${ft}Struct { fields: ${Ts(e)} }`:t===
"google.protobuf.ListValue"?`${ft}ListValue { values: ${Ms(e)} }`:sr(e)}function sr(t){if(t===null)return`${ft}Value::from(${ft}value::Kind::NullValue(0))`;let e=typeof t==
"string"?Ee(t):typeof t=="number"?$s(t,"f64"):typeof t=="boolean"?String(t):Array.isArray(t)?Ms(t):Ts(t);return`${ft}Value::from(${e})`}var Ms=t=>`vec![${t.map(
sr).join(", ")}]`,Ts=t=>`BTreeMap::from([${Object.entries(t).map(([e,n])=>`(${Ee(e)}.to_owned(), ${sr(n)})`).join(", ")}])`,$s=(t,e)=>Object.is(t,-0)?"-0.0":Number.
isFinite(t)?Number.isInteger(t)&&Math.abs(t)<1e15?t.toFixed(1):String(t):Number.isNaN(t)?`${e}::NAN`:t<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function As(t){let{
schema:e,method:n,requests:r,metadata:s,timeout:o,origin:i}=t,a=vn(n.service.name.split(".").pop()??""),c=r.map(h=>Is(e,n.request,ze(e,n.request,h))),d=[...o===
void 0?[]:[`timeout: ${o}`],...Object.keys(s).length===0?[]:[`metadata: { ${pt(s).map(([h,b])=>`${Ze(h)}: ${typeof b=="string"?Ze(b):Cs(b)}`).join(", ")} }`]],p=n.
sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${gn(n.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${Ze(
`${i.replace(/^http/,"ws")}/`)}));`}
${n.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var Cs=t=>`new Uint8Array([${[...t].join(", ")}])`;function Is(t,e,n){
let{fields:r,oneofs:s}=t.message(e),o=[];for(let i of r){let a=_e(i);if(i.oneof===void 0){n[a]!==void 0&&o.push(`${gn(i.name)}: ${Ni(t,i,n[a])}`);continue}let c=n[lt(
i.oneof)];c?.case===a&&o.push(`${gn(s[i.oneof]?.name??"")}: { case: "${gn(i.name)}", value: ${Pt(t,i,c.value)} }`)}return o.length>0?`{ ${o.join(", ")} }`:"{}"}
function Ni(t,e,n){let[r,s]=t.entry(e)?.fields??[];return r&&s?`new Map([${[...n].map(([o,i])=>`[${Pt(t,r,o)}, ${Pt(t,s,i)}]`).join(", ")}])`:e.isRepeated?`[${n.
map(o=>Pt(t,e,o)).join(", ")}]`:Pt(t,e,n)}function Pt(t,e,n){return n instanceof Uint8Array?Cs(n):typeof n=="bigint"?`${n}n`:typeof n=="object"?Is(t,e.type,n):Object.
is(n,-0)?"-0":typeof n=="string"?Ze(n):String(n)}var Rs=new WeakMap;function mt(t,e){return Rs.set(t,e),t}var _t=t=>Rs.get(t)??ae();var Os=16<<20,or=t=>l("textarea",{rows:1,spellcheck:!1,...t});function ir(t,e){let n="";try{e()}catch(r){n=r.message}t.setAttribute("aria-invalid",String(n!=="")),
t.title=n}function ar(t){let e=oe(),{kind:n}=t;if(n===8){let i=l("input",{type:"checkbox",id:e});return mt({element:i,id:e,get:()=>i.checked||void 0,set:a=>i.checked=
a===!0},!1)}if(n===9){let i=or({id:e});return mt({element:i,id:e,get:()=>i.value||void 0,set:a=>i.value=a===void 0?"":String(a)},"")}let r=()=>ir(s,()=>void(s.value.
trim()&&Lt(t,o()))),s=l("input",{type:"text",id:e,className:"number",inputMode:er(n)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>r()}),o=()=>{
let i=s.value.trim();return Number.isSafeInteger(Number(i))&&!Mi(n)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(i)&&!er(n)?Number(i):i};return mt({element:s,id:e,get:()=>s.
value.trim()?Ti(o()):void 0,set(i){s.value=i==null?"":String(i),r()}},0)}var Mi=t=>t===3||t===4||t===6||t===16||t===18,Ti=t=>t===0&&!Object.is(t,-0)||t==="0"?void 0:
t;function Fs(t){let e=oe(),n=l("select",{id:e},...t.values.map(({name:s,number:o,docs:i})=>l("option",{value:s,title:i},`${s} = ${o}`))),[r]=t.values;return mt(
{element:n,id:e,get:()=>n.value===r?.name?void 0:n.value,set:s=>n.value=t.values.find(({name:o,number:i})=>o===s||i===s)?.name??r?.name??""},r?.name??0)}function Ls(){
let t=oe(),e,n=or({id:t,oninput:()=>f()}),r=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(b=>l("option",{},b))),s=r.value,
o=l("span",{className:"muted"}),i=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let b=i.files?.[0];if(b){if(b.size>Os){o.textContent=`${b.
name} has more than ${Os>>20} MiB`;return}e=new Uint8Array(await b.arrayBuffer()),o.textContent=`${b.name}, ${e.length} bytes`,n.disabled=r.disabled=!0,a.hidden=
!1,h.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,o.textContent=i.value="",n.disabled=r.disabled=!1,a.hidden=!0},d=b=>{if(b==="text")return new TextEncoder().encode(n.value);if(b==="base64")return Se(n.
value.replace(/\s/g,""));let R=n.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(R))throw new Error("not pairs of hexadecimal digits");return Uint8Array.from(
R.match(/../g)??[],E=>parseInt(E,16))},p=(b,R)=>{let E=R==="text"?dt(b):void 0;r.value=s=R==="text"&&E===void 0?"base64":R,n.value=r.value==="text"?E??"":r.value===
"hex"?Ye(b):Re(b),f()},u=()=>{try{p(d(s),r.value)}catch{s=r.value,f()}},f=()=>ir(n,()=>void d(r.value)),h=l("div",{className:"bytes"},n,r,l("button",{type:"butt\
on",className:"quiet",onclick:()=>i.click()},"File…"),i,o,a);return mt({element:h,id:t,get(){let b=e??d(r.value);return b.length>0?Re(b):void 0},set(b){c(),p(
typeof b=="string"?Se(b):new Uint8Array,r.value)}},"")}function et(t,e,n){let r=oe(),s=or({id:r,placeholder:e,oninput:()=>ir(s,()=>void(t==="json"&&s.value&&JSON.
parse(s.value)))}),o=n&&l("button",{type:"button",className:"quiet",onclick:()=>s.value=n.json()},n.label);return{element:l("div",{className:"free"},s,o),id:r,get:()=>s.
value.trim()?t==="json"?JSON.parse(s.value):s.value.trim():void 0,set:i=>s.value=i===void 0?"":t==="json"?JSON.stringify(i):String(i)}}var $i=3,xn=class{constructor(e,n,r){this.schema=e;this.name=n;this.editor=_s(e,n),this.element=l("div",{className:"form",oninput:r,onchange:r,onclick:r},this.editor.
element)}get(){return this.editor.get()??ae()}set(e){this.editor.set(e)}example(){this.set(Ds(this.schema,this.name,[]))}};function Ds(t,e,n){switch(e){case"goo\
gle.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let r=t.message(
e),s=r.fields[0];if(Ke(e)&&s)return Us(t,s,n);let o=ae(),i=[...n,e];for(let a of r.fields){let c=t.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||r.fields.find(
b=>b.oneof===a.oneof)===a,u=d.kind===11&&(i.includes(d.type)||i.length>$i);if(!p||u||d.kind===10||a.isDeprecated)continue;let f=Us(t,d,i),h=c?.fields[0];h?o[a.jsonName]=
Object.assign(ae(),{[h.kind===9?"key":h.kind===8?"true":"1"]:f}):o[a.jsonName]=a.isRepeated?[f]:f}return o}function Us(t,e,n){switch(e.kind){case 11:return Ds(t,
e.type,n);case 14:{let{values:r}=t.enumeration(e.type);return(r.find(({number:s})=>s!==0)??r[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Ai(t,e){let n=t.entry(e),[r,s]=n?.fields??
[];return r&&s?`map<${wn(r)}, ${wn(s)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${wn(e)}`}var Ci=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],wn=t=>Ci[t.kind]||(t.type.split(".").pop()??"");function yt(t,e){
return e.kind===14?Fs(t.enumeration(e.type)):e.kind===12?Ls():e.kind!==11?ar(e):Ii(t,e.type)}function Ii(t,e){switch(e){case"google.protobuf.Timestamp":return et(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return et("text","1.5s");case"google.protobuf.Fiel\
dMask":return et("text","name,homeAddress.city");case"google.protobuf.Struct":return et("json",'{ "key": "value" }');case"google.protobuf.Value":return et("json",
"any JSON");case"google.protobuf.ListValue":return et("json","[1, 2]")}let n=Ke(e)?t.message(e).fields[0]:void 0;if(!n)return _s(t,e);let r=yt(t,n);return{...r,
get:()=>r.get()??Ps(n)}}var Ps=t=>t.kind===8?!1:t.kind===9||t.kind===12?"":0;function _s(t,e){let n=t.message(e),r=[],s=l("div",{className:"fields"}),o=new Set;
for(let i of n.fields){if(i.oneof!==void 0){if(o.has(i.oneof))continue;o.add(i.oneof);let c=Ui(t,n,i.oneof);s.append(c.element),r.push({editor:c,names:[],put:d=>Object.
assign(d,c.get()),take:d=>c.set(d)});continue}let a=Ri(t,i);s.append(Bs(i.name,Ai(t,i),i.docs,a,i.isDeprecated)),r.push({editor:a,names:[i.jsonName],put:c=>{let d=a.
get();d!==void 0&&(c[i.jsonName]=d)},take:c=>a.set(c[i.jsonName]??c[i.name])})}return n.fields.length===0&&s.append(l("p",{className:"muted"},`${e} has no field\
s.`)),{element:s,get(){let i=ae();for(let{put:a}of r)a(i);return i},set(i){let a=typeof i=="object"&&i!==null&&!Array.isArray(i)?i:ae();for(let{take:c}of r)c(a)}}}
function Bs(t,e,n,r,s){let o=r.id?l("label",{htmlFor:r.id,className:"name"},t):l("span",{className:"name"},t);return r.id||(r.element.setAttribute("role","group"),
r.element.setAttribute("aria-label",t)),l("div",{className:"row"},l("div",{className:"about"},o,l("span",{className:"type"},e),s&&l("span",{className:"tag"},"de\
precated")),l("div",{className:"value"},r.element,n&&l("p",{className:"docs"},n)))}function Ri(t,e){let n=t.entry(e);return n?Li(t,n):e.isRepeated?Fi(()=>yt(t,e)):
e.isOptional||e.kind===11?Oi(()=>yt(t,e),()=>e.kind===11?ae():Ps(e)):yt(t,e)}function Oi(t,e){let n=oe(),r,s=l("input",{type:"checkbox",id:n,"aria-label":"set",
onchange:()=>a(s.checked)}),o=l("div",{className:"inside"}),i=l("div",{className:"presence"},s,o),a=c=>{s.checked=c,c?$(o,(r??=t()).element):$(o,l("span",{className:"\
muted"},"not set"))};return a(!1),{element:i,get:()=>s.checked?r?.get()??e():void 0,set(c){a(c!=null),s.checked&&r?.set(c)}}}var qs=t=>l("button",{type:"button",
className:"icon","aria-label":"Remove",title:"Remove",onclick:t},"×");function Fi(t){let e=[],n=l("div",{className:"items"}),r=o=>{let i=t();o!==void 0&&i.set(
o),e.push(i);let a=l("div",{className:"item"},i.element,qs(()=>{e=e.filter(c=>c!==i),a.remove()}));return n.append(a),i},s=l("button",{type:"button",className:"\
quiet",onclick:()=>Hs(r().element)},"Add");return{element:l("div",{className:"list"},n,s),get:()=>e.length>0?e.map(o=>o.get()??_t(o)):void 0,set(o){e=[],$(n);for(let i of Array.
isArray(o)?o:[])r(i)}}}var Hs=t=>(t.matches("input, textarea, select")?t:t.querySelector("input, textarea, select"))?.focus();function Li(t,e){let[n,r]=e.fields;
if(!n||!r)throw new Error(`${e.name} is not a map entry`);let s=[],o=l("div",{className:"items"}),i=(c,d)=>{let p={key:ar({...n,kind:n.kind===8?9:n.kind}),value:yt(
t,r)};p.key.element.classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),s.push(p);let u=l("d\
iv",{className:"item"},p.key.element,p.value.element,qs(()=>{s=s.filter(f=>f!==p),u.remove()}));return o.append(u),p.key},a=l("button",{type:"button",className:"\
quiet",onclick:()=>Hs(i().element)},"Add");return{element:l("div",{className:"list"},o,a),get(){if(s.length===0)return;let c=ae();for(let{key:d,value:p}of s)c[String(
d.get()??_t(d))]=p.get()??_t(p);return c},set(c){if(s=[],$(o),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))i(d,p)}}}function Ui(t,e,n){let r=e.
fields.filter(f=>f.oneof===n),s=oe(),o=l("div",{className:"inside"}),i=new Map,a=l("select",{id:s,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...r.
map(f=>l("option",{value:f.jsonName},`${f.name}: ${wn(f)}`))),c=f=>{a.value=f;let h=r.find(R=>R.jsonName===f);if(!h)return void $(o);let b=i.get(f)??yt(t,h);return i.
set(f,b),b.id&&document.getElementById(b.id)?.setAttribute("aria-label",h.name),$(o,b.element,h.docs&&l("p",{className:"docs"},h.docs)),b},{name:d,docs:p}=e.oneofs[n]??
{name:"oneof",docs:""},u={element:l("div",{className:"oneof"},a,o),id:s,get:()=>{},set(){}};return{element:Bs(d,"oneof",p,u,!1),get(){let f=i.get(a.value);return a.
value&&f?Object.assign(ae(),{[a.value]:f.get()??_t(f)}):ae()},set(f){let h=f,b=r.find(R=>(h[R.jsonName]??h[R.name])!==void 0);c(b?.jsonName??"")?.set(b&&(h[b.jsonName]??
h[b.name]))}}}var lr=1e5,Di=90;function Js(t,e){let n=l("div",{className:"status",role:"status"}),r=l("div",{}),s=l("ol",{className:"log","aria-label":"Messages"}),{method:o}=e,
i=o.sends||o.receives;i||s.classList.add("one");let a=0;return $(t,n,r,s),()=>{$(n,...Pi(e)),$(r,e.isOver&&e.status&&_i(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),tr(e.metadata)));let c=s.scrollHeight-s.scrollTop-s.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;s.childElementCount>0&&s.childElementCount+p>e.messages.length;)s.firstElementChild?.remove();for(let u of e.messages.slice(d))(i||!u.isSent)&&s.append(
qi(u,i));a=e.dropped+e.messages.length,c&&(s.scrollTop=s.scrollHeight)}}function Pi(t){let{sent:e,received:n,method:r}=t,o=[r.sends&&`${e} sent`,(r.sends||r.receives)&&
`${n} received`,t.waiting>0&&r.sends&&`${t.waiting} waiting`,t.dropped>0&&`${t.dropped} not kept`].filter(a=>!!a).join(", ");if(!t.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},o)];let i=t.status?.code??0;return[l("span",{className:i===0?"badge ok":"badge failed"},`${pn(i)}${i===
0?"":` ${i}`}`),l("span",{className:"muted"},de(t.took),o&&`, ${o}`)]}function _i({status:t}){let e=t?.details??new Uint8Array;return l("div",{className:"block \
failure"},l("p",{},t?.message??""),l("p",{className:"muted"},t?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byt\
es`),e.length>0&&l("pre",{className:"code"},dt(e)??Ye(e.subarray(0,4096))),t&&Object.keys(t.metadata).length>0&&l("h3",{},"Metadata"),t&&Object.keys(t.metadata).
length>0&&tr(t.metadata))}function Bi(t){let e=t.replace(/\n\s*/g," ");return e.length<=Di?e:t}function qi(t,e){let n=e?Bi(t.json):t.json,r=l("pre",{className:"\
code",tabIndex:0},Vt(n.slice(0,lr)),n.length>lr&&`
… ${n.length-lr} characters more`);return l("li",{className:t.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${t.isSent?
"↑":"↓"} ${t.number}`,e&&` · ${de(t.at)}`),l("span",{className:"grow"}),tt(()=>n)),r)}var Hi=500,Ji=16<<20,Sn=class{constructor(e,n,r,s,o){this.catalog=n;this.method=r;this.terms=s;this.changed=o;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new cr;this.run(e)}send(e,n){
this.tell(!0,e),this.outgoing.push(n),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:n,terms:r}=this;try{let{service:s,method:o}=n.callable(),i={signal:this.stop.signal,
metadata:{...e.metadata,...r.metadata},onMetadata:a=>this.metadata=a,...r.timeout!==void 0&&{timeout:r.timeout}};if(n.sends||n.receives)for await(let a of e.channel.
twoWay(s,o,this.outgoing,i))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(s,o,a,i))}}catch(s){this.status=_.from(s)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Ut(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,n){let r=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:r,json:n}),this.chars+=
n.length;this.messages.length>Hi||this.chars>Ji&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},cr=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
n=>this.wake=n)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Vi=["Form","JSON","Copy as"],Vs={curl:bs,frpc:vs,Rust:Ss,TypeScript:As};function dr({sends:t,receives:e}){return t?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var En=class{constructor(e,n,r,s){this.server=e;this.catalog=n;this.method=
r;this.records=s;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new ut(()=>this.
note(""));this.timeout=l("input",{type:"text",id:oe(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=In(Vi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let o="";try{r.callable(),this.form=new xn(n.schema,
r.request,()=>this.note("")),this.form.example()}catch(i){o=i.message}this.element=l("article",{className:"method"},this.header(),o?l("p",{className:"notice"},`\
This method cannot be called by this page: ${o}.`):l("div",{className:"panes"},this.request(),this.output)),o||(this.tabs.select("Form"),this.act(),$(this.output,
l("p",{className:"empty"},"No calls yet.")))}send(){this.attempt(()=>{let e=this.text(),n=this.run&&!this.run.isOver;if(n&&!this.method.sends)return;let r=ze(this.
catalog.schema,this.method.request,Be(e));n||this.begin(),this.run?.send(e,r)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.
run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:n,timeout:r}){e!==
void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(Be(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(n),this.timeout.value=r===
void 0?"":String(r)}header(){let{method:e}=this,n=dr(e),r=s=>l("span",{className:"tag"},s);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},r(n.name),e.idempotency&&r(e.idempotency),e.isDeprecated&&r("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(r,s)=>l("button",{type:"button",className:"quiet",onclick:s},r),n=r=>{r===void 0?this.form?.example():this.form?.set(r),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>n()),e("Clear",()=>n({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let n=this.tab;this.attempt(()=>{e==="JSON"&&n!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&n==="JSON"&&
this.form?.set(Be(this.json.value))}),this.tab=e,e==="Form"?$(this.body,this.form?.element):e==="JSON"?$(this.body,this.json):this.attempt(()=>$(this.body,this.
commands()))}commands(){let e=l("pre",{className:"code",tabIndex:0}),{method:n}=this,r=this.run?.messages.filter(a=>a.isSent).map(a=>Be(a.json)),s=n.sends&&r&&r.
length>0?r:[Be(this.formText())],o={schema:this.catalog.schema,method:n,requests:s,origin:location.origin,...this.terms()},i=In(Object.keys(Vs),"Copy as",a=>{this.
command=a,e.textContent="",this.attempt(()=>e.textContent=Vs[this.command](o))});return i.select(this.command),l("div",{className:"commands"},l("div",{className:"\
bar"},i.element,l("span",{className:"grow"}),tt(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),n=e===""?void 0:Number(e);if(n!==void 0&&!(n>=
0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:n}}begin(){let e=new Sn(this.server,this.catalog,
this.method,this.terms(),n=>this.changed(n));this.run=e,this.drawn={run:e,draw:Js(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let n=e.
messages.filter(r=>r.isSent);this.records.add({path:Ie(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:n[n.length-
1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.
run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:n}=this,r=n!==void 0&&!n.isOver,s=c=>l("kbd",{},c),o=`${r},${n?.hasEnded}`;if(this.actions.dataset.
state===o)return;this.actions.dataset.state=o;let i=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:r&&
n.hasEnded,onclick:()=>this.send()},r?"Send":"Open and send",s("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:r,onclick:()=>this.send()},"C\
all",s("Ctrl ↵"));$(this.actions,a,e.sends&&!r&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&r&&l("button",{type:"bu\
tton",disabled:n.hasEnded,onclick:()=>this.end()},"End",s("Ctrl ⇧ ↵")),r&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",s("Esc"))),i&&[...this.
actions.querySelectorAll("button")].find(c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(n){this.note(n.message)}}note(e){this.problem.textContent!==
e&&(this.problem.textContent=e)}};var Wi={UNKNOWN:0,COMPAT:1,NATIVE:2,OTHER_PROTOCOL:3},Gi=U("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),ji=U("frpc.introspec\
tion.v1.Close","kind:s reason:s peer:s ageMs:w"),Xi=U("frpc.introspection.v1.CloseCount","kind:s count:w"),Ki=U("frpc.introspection.v1.CodeCount","code:i count:\
w"),ur=U("frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",
()=>[Wi]),zi=U("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Gi,ia,ur,ta]),Yi=U("frpc.introspection.v1.Connec\
tionRequest","server:s number:w"),Zi=U("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[ur]),Qi=U("frpc.introspection.v1.ConnectionsRequest",
"server:s after:w limit:u"),ea=U("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Ki]),ta=U("frpc.introspection.v1.Hello","\
version:u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),na=U("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[ea]),Ws=U("frpc.introspecti\
on.v1.Server","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[Xi,ji,ca,na]),ra=U("frpc\
.introspection.v1.ServerConnections","connections:*m server:m",()=>[ur,Ws]),sa=U("frpc.introspection.v1.ServersReply","servers:*m",()=>[Ws]),oa=U("frpc.introspe\
ction.v1.ServersRequest",""),ia=U("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),aa=U("frpc.introspection.v1.Wat\
chReply","servers:*m",()=>[ra]),la=U("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),ca=U("frpc.introspection.v1.Worker","tasks:w ready:w pol\
ls:w threadsGivenUp:w"),kn=je("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:oa,reply:sa,idempotent:!0},connections:{
operation:65031,request:Qi,reply:Zi,idempotent:!0},connection:{operation:65032,request:Yi,reply:zi,idempotent:!0},watch:{operation:65033,request:la,reply:aa,receives:!0,
idempotent:!0}});var ht=12e4,pr=2e3,[qe,He,Je,bt]=[480,120,44,16];function fr(t){let e=ge("svg",{viewBox:`0 0 ${qe} ${He}`,class:"plot",role:"img","aria-label":t});for(let[n,r]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let s=ge("text",{x:Je+(qe-Je)*n,y:He-3,"text-anchor":n===0?"start":n===1?"end":"middle"});s.textContent=r,e.append(s)}return e}
function mr(t,e,n){let r=ge("text",{x:Je-6,y:e+3.5,"text-anchor":"end"});r.textContent=n,t.append(ge("line",{x1:Je,x2:qe,y1:e,y2:e,class:"grid"}),r)}var gt=He-bt-
8;function Gs(t,e){let n=fr("Calls and errors in the last two minutes"),r=ht/pr,s=Array.from({length:r},()=>({ok:0,failed:0})),o=Math.floor(e/pr);for(let{beganAt:c,
took:d,code:p}of t){let u=s[r-1-(o-Math.floor((c+d)/pr))];u&&u[p===0?"ok":"failed"]++}let i=Math.max(4,...s.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])mr(
n,He-bt-gt*c,String(Math.round(i*c)));let a=(qe-Je)/r;return s.forEach(({ok:c,failed:d},p)=>{let u=(f,h,b)=>{h>0&&n.append(ge("rect",{x:Je+p*a+.75,width:a-1.5,y:He-
bt-(f+h)/i*gt,height:h/i*gt,class:b}))};u(0,d,"failed"),u(d,c,"ok")}),n}function vt(t,e){return[...t.filter(({at:n})=>e.at-n<ht),e]}var js=(t,e,n,r)=>e.map((s,o)=>ge(
"polyline",{points:t.map(({at:i,values:a})=>`${n(i).toFixed(1)},${r(a[o]??0).toFixed(1)}`).join(" "),class:s})),Xs=(t,e)=>Math.max(e,...t.flatMap(({values:n})=>n));
function Nn(t,e,n,r,s,o){let i=fr(`${t}, in the last two minutes`),a=Xs(e,s),c=d=>He-bt-d/a*gt;for(let d of[0,.5,1])mr(i,c(a*d),o(a*d));return i.append(...js(e,
n,d=>qe-(qe-Je)*(r-d)/ht,c)),i}function yr(t,e,n,r){let s=Xs(e,1e-9),o=ge("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":t});return o.append(
...js(e,n,i=>120-120*(r-i)/ht,i=>19-i/s*18)),o}function Ks(t,e){let n=fr("Latencies in the last two minutes"),r=t.filter(({beganAt:a,took:c})=>e-a-c<ht),s=r.map(
({took:a})=>Math.log10(Math.max(a,.01))),o=Math.floor(Math.min(0,...s)),i=Math.ceil(Math.max(2,...s));for(let a=o;a<=i;a++)mr(n,He-bt-gt*(a-o)/(i-o),a<3?`${10**
a} ms`:`${10**(a-3)} s`);return r.forEach(({beganAt:a,took:c,code:d},p)=>{let u=qe-(qe-Je)*(e-a-c)/ht,f=He-bt-gt*((s[p]??0)-o)/(i-o);n.append(ge("circle",{cx:u,
cy:f,r:2.5,class:d===0?"ok":"failed"}))}),n}function zs(t){let e=t.slice(-40),n=ge("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),r=Math.max(.01,
...e.map(({took:s})=>s));return e.forEach(({took:s,code:o},i)=>{let a=Math.max(1.5,s/r*20);n.append(ge("rect",{x:i*3,width:2,y:20-a,height:a,class:o===0?"ok":"f\
ailed"}))}),n}var Ys=1e3,da=256,ua=50,Mn=class{constructor(e,n){this.server=e;this.catalog=n;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let n=this.catalog()?.services.some(({name:r})=>r===kn.name)??!1;this.element.
hidden=!n,!e||!n?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:n,
metadata:r}=this.server,{signal:s}=e;try{let o=n.serverStreaming(kn,kn.methods.watch,{intervalMs:Ys,connections:da},{signal:s,metadata:r});for await(let{servers:i}of o)
$(this.content,...i.map(a=>this.draw(a)))}catch(o){s.aborted||$(this.content,l("p",{className:"problem"},o.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Ys)}draw({server:e,connections:n}){if(!e)return l("div",{});let r=Date.now(),s=this.before.get(e.name),o=new Map(e.methods.map(u=>[u.name,fa(u,s?.methods.
get(u.name),r,s?.at)])),i=u=>gr([...o.values()].map(({rates:f})=>f.at(-1)?.values[u]??0)),a=gr(n.map(u=>Number(u.streams))),c=gr(n.map(u=>Number(u.queued))),d={
at:r,methods:o,rates:s?vt(s.rates,{at:r,values:[i(0),i(1)]}):[],open:vt(s?.open??[],{at:r,values:[Number(e.open),a]}),bytes:vt(s?.bytes??[],{at:r,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=n.length<e.open?` of the first ${n.length} connections`:"";return l("div",{},ma(e),l("div",{className:"plots"},
br(["Calls of all clients per second, ",pa("errors")," below"],Nn("Calls and errors of all clients per second",d.rates,["curve","curve failed"],r,4,Zs)),br(["Co\
nnections, and ",Qs("streams"),p],Nn("Connections and streams",d.open,["curve","curve second"],r,4,Zs)),br(["Queued bytes",p,", and ",Qs("held for clients")],Nn(
"Queued bytes, and bytes held for clients",d.bytes,["curve","curve second"],r,1e3,u=>Bt(BigInt(Math.round(u)))))),this.table(e,o,r),eo(["connection","age","call\
s","oldest call","streams","queued","memory"],n.slice(0,ua).map(ya)))}table({methods:e},n,r){let s=e.flatMap(({name:o,figures:i})=>{let a=n.get(o);return a&&a.calls>
0n?[{name:o,figures:i,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return s.sort((o,i)=>i.rate-o.rate||Number(i.calls-o.calls)),eo(["method","in a second","cal\
ls","errors","p50","p99","longest","calls and errors","latencies"],s.map(({name:o,figures:i,rate:a,calls:c,failed:d,rates:p,times:u})=>[o,a.toFixed(a<10?1:0),c,
d,hr(i?.p50Ns),hr(i?.p99Ns),hr(i?.maxNs),yr(`Calls and errors of ${o}, in the last two minutes`,p,["curve","curve failed"],r),yr(`Average latencies of ${o}, in \
the last two minutes`,u,["curve"],r)]))}},gr=t=>t.reduce((e,n)=>e+n,0),Zs=t=>String(Math.round(t)),hr=(t=0n)=>de(Number(t)/1e6),pa=t=>l("span",{className:"faile\
d"},t),Qs=t=>l("span",{className:"second"},t),br=(t,e)=>l("figure",{},l("figcaption",{},...t),e);function fa({figures:t},e,n,r=n){let s=(t?.failed??[]).reduce((d,{
count:p})=>d+p,0n),o=(t?.ok??0n)+s,i=t?.sumNs??0n;if(!e||o<e.calls||n<=r)return{calls:o,failed:s,spent:i,rates:[],times:[]};let a=(n-r)/1e3,c=Number(o-e.calls);
return{calls:o,failed:s,spent:i,rates:vt(e.rates,{at:n,values:[c/a,Number(s-e.failed)/a]}),times:c>0?vt(e.times,{at:n,values:[Number(i-e.spent)/c/1e6]}):e.times}}
function ma({name:t,open:e,opened:n,shed:r,memoryHeld:s,memoryMax:o,workers:i}){let a=[["server",t],["connections",`${e} open, ${n} in all`],["held for clients",
`${Bt(s)} of at most ${Bt(o)}`],["shed",String(r)],["workers",i.length===0?"none of its own":`${i.length}, with ${i.reduce((c,{tasks:d})=>c+d,0n)} tasks`]];return l(
"dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var ya=({peer:t,ageMs:e,calls:n,oldestCallMs:r,streams:s,queued:o,memory:i})=>[
t||"unknown",de(Number(e)),n,n>0n?de(Number(r)):"",s,Bt(o),Bt(i)];function eo(t,e){return l("div",{className:"scroll"},l("table",{},l("thead",{},l("tr",{},...t.
map((n,r)=>l("th",{scope:"col",className:r>0?"count":""},n)))),l("tbody",{},...e.map(n=>l("tr",{},...n.map((r,s)=>l("td",{className:s>0?"count":""},r instanceof
Node?r:String(r))))))))}function Bt(t){let e=Number(t);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:`${(e/1e9).toFixed(
1)} GB`}var ga=1e3,Tn=class{constructor(e,n,r,s,o){this.server=e;this.records=n;this.catalog=r;this.open=s;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new Mn(e,r);let i=new ut(()=>{this.problem.textContent="";try{e.metadata=i.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"For example a token. Kep\
t until the page is closed."),i.element,this.problem,l("button",{type:"button",onclick:o},"Reload the schema"))),setInterval(()=>this.draw(),ga)}draw(){let e=this.
element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:n,traffic:r},records:s}=this,o=this.catalog(),i=o?.services.reduce((p,u)=>p+
u.methods.length,0)??0,a=[["connection",n==="open"?`open since ${nt(r.since)}`:n],["connections made",String(r.connections)],["sent",to(r.sent)],["received",to(
r.received)],["services",o?`${o.services.length}, with ${i} methods`:"unknown"]];$(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));let c=Date.
now();$(this.plots,l("figure",{},l("figcaption",{},"Calls per two seconds, ",l("span",{className:"failed"},"errors")," below"),Gs(s.all,c)),l("figure",{},l("fig\
caption",{},"Latency of each call; of a stream, its duration"),Ks(s.all,c)));let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.
drawnOf&&(this.drawnOf=d,$(this.methods,s.all.length>0&&this.table()),$(this.history,fn(s.all,this.open,!1)))}table(){let e=n=>l("td",{className:"count"},n);return l(
"table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((n,r)=>l("th",{scope:"col",className:r>0&&r<6?"count":
""},n)))),l("tbody",{},...this.records.totals().map(({path:n,calls:r,errors:s,p50:o,p95:i,max:a,last:c})=>{let d=l("a",{href:`#/${n}`},n);return l("tr",{},l("td",
{},d),e(String(r)),l("td",{className:s>0?"count failed":"count"},String(s)),e(de(o)),e(de(i)),e(de(a)),l("td",{},zs(c)))})))}};function to(t){return t<1e4?`${t}\
 B`:t<1e7?`${(t/1e3).toFixed(1)} kB`:`${(t/1e6).toFixed(1)} MB`}var no=500,ro=2e4,$n=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:oe()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let n=l("input",{type:"text",id:oe(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),r=l("input",{type:"text",id:oe(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),s=l("textarea",{id:oe(),rows:3,spellcheck:!1}),o=this.typed("written as"),i=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"Messages of the broker of this server. In a pattern, * matches one token, and a fin\
al > all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),i("inline short",()=>this.
watch(n.value.trim()),l("label",{htmlFor:n.id},"Pattern"),n,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),i("inline",()=>this.
publish(r.value.trim(),s.value,o.value),l("label",{htmlFor:r.id},"Topic"),r,l("label",{htmlFor:s.id},"Payload"),s,o,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>$(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new at(e.schema)},$(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:n})=>!n).map(({name:n})=>n)].map(n=>l("option",{value:n})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let n=await this.server.topics.subscribe(e);this.watches.set(e,n);let r=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Stop watching ${e}`,onclick:()=>void n.return?.()},"×"));this.list.append(r),(async()=>{try{for await(let s of n)
this.arrived(s)}catch(s){this.problem.textContent=`${e}: ${s.message}`}this.watches.delete(e),r.remove()})()}async publish(e,n,r){if(!e)throw new Error("a messa\
ge has a topic");let s=n;r==="base64"?s=Se(n.replace(/\s/g,"")):r==="hex"?s=Uint8Array.from(n.match(/[\da-f]{2}/gi)??[],o=>parseInt(o,16)):r!=="text"&&this.schema&&
(s=Un(this.schema.tables.of(r),ze(this.schema.catalog.schema,r,Be(n)))),await this.server.topics.publish(e,s)}arrived(e){this.waiting.push(e),this.waiting.length>
no&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:n,payload:r,lagged:s}of this.waiting){s>0&&this.log.append(l("li",{className:"muted"},`${s} messages were lost here, since thi\
s page did not take them in time`));let o=this.text(r);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},n),l(
"span",{className:"muted"},`${r.length} bytes · ${nt(Date.now())}`),l("span",{className:"grow"}),tt(()=>o)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
o)?Vt(o):o)))}for(this.waiting=[];this.log.childElementCount>no;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let n=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(n))return JSON.stringify(Ut(this.schema.catalog.schema,n,Dn(this.schema.tables.of(n),e)),void 0,
2)}catch(s){return`not a valid ${n}: ${s.message}
${Ye(e.subarray(0,ro))}`}let r=e.subarray(0,ro);return(n==="hex"?void 0:dt(r))??Ye(r)}};var ha=[["/","filter the methods"],["↑ ↓","move through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","cancel t\
he call"],["?","show the keys"]],[so,vr,oo,qt,xr]=[ve("services"),ve("main"),ve("state"),ve("filter"),ve("keys")],Fe=new un(`${location.origin.replace(/^http/,"\
ws")}/`,()=>ba()),Cn=new Wt,An=new Map,ao=new $n(Fe),Le,Ht="",io=!1,Ue,wr=0,Sr=new Tn(Fe,Cn,()=>Le,t=>uo(t),()=>void lo(!0));async function lo(t){let e=++wr,n=t?
void 0:Le;try{let r=await Fe.catalog(n);if(e!==wr)return;if(Ht="",r){Le=r;for(let[s,o]of An)o.isBusy||An.delete(s);ao.know(r)}}catch(r){if(e!==wr)return;Ht=r.message}
Er(),kr(),io=await Fe.hasBroker(),ve("to-topics").hidden=!io}function ba(){oo.textContent=Fe.wire==="open"?"connected":Fe.wire==="lost"?"connection lost":"conne\
cting",oo.className=`state ${Fe.wire}`,Fe.wire==="open"&&setTimeout(()=>void lo(!1))}function Er(){let t=qt.value.trim().toLowerCase().split(/\s+/),e=o=>t.every(
i=>Ie(o).toLowerCase().includes(i)),n=decodeURIComponent(location.hash.slice(2)),r=(Le?.services??[]).map(o=>({service:o,methods:o.methods.filter(e)})).filter(({
methods:o})=>o.length>0),s=o=>/^(frpc|grpc)\./.test(o);r.sort((o,i)=>Number(s(o.service.name))-Number(s(i.service.name))),$(so,...r.map(({service:o,methods:i})=>l(
"details",{open:!s(o.name)||qt.value!==""||n.startsWith(`${o.name}/`)},l("summary",{title:o.docs},l("span",{},o.name.includes(".")&&l("span",{className:"of"},o.
name.slice(0,o.name.lastIndexOf("."))),o.name.slice(o.name.lastIndexOf(".")+1))),l("ul",{},...i.map(c=>{let d=Ie(c),p=dr(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.
docs,className:c.isDeprecated?"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===n&&u.setAttribute(
"aria-current","page"),l("li",{},u)}))))),r.length===0&&$(so,l("p",{className:"empty"},Le?"No matching methods.":Ht?"No services.":"Loading the services…"))}function kr(){
let t=decodeURIComponent(location.hash.slice(2));for(let n of document.querySelectorAll("nav a"))decodeURIComponent(n.hash.slice(2))===t?n.setAttribute("aria-cu\
rrent","page"):n.removeAttribute("aria-current");document.body.classList.remove("listing"),Ue=void 0;let e=Le?.services.flatMap(n=>n.methods).find(n=>Ie(n)===t);
if(document.title=e?`${e.name} · frpc console`:`${location.host} · frpc console`,t==="topics")$(vr,ao.element);else if(e&&Le)Ue=An.get(t)??new En(Fe,Le,e,Cn),
An.set(t,Ue),$(vr,Ue.element,wa(t));else{let n=t&&Le?`The server has no method ${t}.`:"";$(vr,Ht&&va(),n&&l("p",{className:"notice"},n),Sr.element),Sr.draw()}}function va(){
return l("div",{className:"notice"},l("p",{},`The schema of the server could not be loaded: ${Ht}.`),l("p",{className:"muted"},"The console needs a server with \
Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."))}function wa(t){let e=l("div",{}),n=()=>$(
e,fn(Cn.all.filter(r=>r.path===t),uo,!0));return n(),co=n,l("section",{className:"past"},l("h2",{},"History"),e)}var co=()=>{};Cn.listen(()=>{co(),Sr.draw()});function uo(t){
location.hash===`#/${encodeURI(t.path)}`?Ue?.restore(t):(location.hash=`#/${encodeURI(t.path)}`,addEventListener("hashchange",()=>Ue?.restore(t),{once:!0}))}function xa(t){
let e=[...document.querySelectorAll("nav a, nav summary")].filter(r=>r.offsetParent!==null),n=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,
n+t))]?.focus()}addEventListener("keydown",t=>{let e=t.target,n=e.matches("input, textarea, select"),r=t.ctrlKey||t.metaKey;if(t.key==="Enter"&&r)t.shiftKey?Ue?.
end():Ue?.send();else if(t.key==="Escape"&&!xr.open){if(!Ue?.cancel())return}else if(t.key==="/"&&!n)qt.focus();else if(t.key==="?"&&!n)xr.showModal();else if((t.
key==="ArrowDown"||t.key==="ArrowUp")&&e.closest("nav")&&!e.matches("select"))xa(t.key==="ArrowDown"?1:-1);else return;t.preventDefault()});addEventListener("ha\
shchange",kr);qt.addEventListener("input",Er);ve("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains(
"listing")&&qt.focus()});ve("help").addEventListener("click",()=>xr.showModal());$(ve("key-list"),...ha.flatMap(([t,e])=>[l("dt",{},...t.split(" ").map(n=>l("kb\
d",{},n))),l("dd",{},e)]));Er();kr();})();
