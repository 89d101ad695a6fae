"use strict";(()=>{function l(n,e={},...t){let s=document.createElement(n);for(let[r,i]of Object.entries(e))i!==void 0&&(r.startsWith("on")?s.addEventListener(r.slice(2),i):r.includes(
"-")||r==="role"||r==="list"?s.setAttribute(r,String(i)):s[r]=i);return fn(s,...t),s}function fn(n,...e){for(let t of e)t!==!1&&t!==void 0&&n.append(typeof t=="\
number"?String(t):t)}function y(n,...e){n.replaceChildren(),fn(n,...e)}function R(n,e,...t){let s=document.createElementNS("http://www.w3.org/2000/svg",n);for(let[
r,i]of Object.entries(e))s.setAttribute(r,String(i));return s.append(...t),s}function I(n){let e=document.getElementById(n);if(!e)throw new Error(`the page has \
no ${n}`);return e}var Ns=0,k=()=>`e${++Ns}`;function bt(n,e,t){let s=n.map(o=>l("button",{type:"button",role:"tab",onclick:()=>r(o)},o)),r=o=>{for(let a of s){
let d=a.textContent===o;a.setAttribute("aria-selected",String(d)),a.tabIndex=d?0:-1}t(o)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:o=>{let a=o.key==="ArrowRight"?1:o.key==="ArrowLeft"?-1:0;if(a===0)return;let d=s[(s.indexOf(o.target)+a+s.length)%s.length];d?.focus(),d?.click(),o.preventDefault()}},
...s),select:r}}function ee(n){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(n()).then(()=>"Copied",()=>"\
Select and copy").then(t=>{e.textContent=t,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Fe(n){let e=document.createDocumentFragment();
if(n.length>5e4)return e.append(n),e;let t=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,s=0;for(let r of n.matchAll(t)){let[i,o,a]=r;
e.append(n.slice(s,r.index)),s=r.index+i.length;let d=o===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${d}`},o??i),a??"")}return e.
append(n.slice(s)),e}var Ue=class{all=[];counts=new Map;listeners=new Set;add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?void 0:e.request}),this.all.length>
2e3&&this.all.shift();let t=this.counts.get(e.path)??{calls:0,errors:0};t.calls++,e.code!==0&&t.errors++,this.counts.set(e.path,t);for(let s of this.listeners)s()}listen(e){
this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:t,errors:s}])=>{let r=this.all.filter(a=>a.path===e),i=r.map(({took:a})=>a).sort((a,d)=>a-d),
o=a=>i[Math.min(i.length-1,Math.floor(i.length*a))]??0;return{path:e,calls:t,errors:s,p50:o(.5),p95:o(.95),max:o(1),last:r}})}};function L(n){return n>=1e4?`${(n/
1e3).toFixed(1)} s`:`${n>=100?n.toFixed(0):n>=10?n.toFixed(1):n.toFixed(2)} ms`}var te=n=>new Date(n).toTimeString().slice(0,8);var Ts=new TextEncoder,$s=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),wt=40,he=new DataView(new ArrayBuffer(8)),g=class extends Error{},De=()=>{throw new g(
"it is cut off")},N=n=>Ts.encode(n),F=class n{bytes;at=0;constructor(e=256){this.bytes=new Uint8Array(e)}room(e){let t=this.at+e;if(t>this.bytes.length){let s=new Uint8Array(
Math.max(t,this.bytes.length*2));s.set(this.bytes.subarray(0,this.at)),this.bytes=s}}byte(e){this.at===this.bytes.length&&this.room(1),this.bytes[this.at++]=e}half(e){
this.byte(e>>8),this.byte(e)}varint(e){for(;e>127;e=Math.floor(e/128))this.byte(e|128);this.byte(e)}raw(e){this.room(e.length),this.bytes.set(e,this.at),this.at+=
e.length}sized(e){this.varint(e.length),this.raw(e)}item(e,t){let s=new n(64);t?.(s),this.byte(e),this.sized(s.done())}text(e){let{at:t}=this,{length:s}=e,r=0;if(s<=
wt){this.room(s+1),this.byte(s);for(let i=0;i<s&&r<128;i++)this.byte(r=e.charCodeAt(i))}(s>wt||r>127)&&(this.at=t,this.sized(N(e)))}done(){return this.bytes.subarray(
0,this.at)}},x=class{constructor(e){this.bytes=e}at=0;get left(){return this.bytes.length-this.at}get next(){return this.bytes[this.at]}byte(){let{next:e}=this;
return e===void 0&&De(),this.at++,e}varint(e=5){let t=0;for(let s=1;e-- >0;s*=128){let r=this.byte();if(r<128)return t+r*s;t+=(r-128)*s}throw new g("a number is\
 too long")}view(e=this.varint()){return e>this.left&&De(),this.bytes.subarray(this.at,this.at+=e)}rest(){return this.bytes.slice(this.at)}text(e=this.varint()){
let{bytes:t,at:s}=this,r="",i=0;if(e<=wt)for(let o;i<e&&(o=t[s+i])<128;i++)r+=String.fromCharCode(o);if(i<e){let o=this.view(e);try{return $s.decode(o)}catch{throw new g(
"a text is not UTF-8")}}return this.at+=e,r}};var Be={OK:0,CANCELLED:1,UNKNOWN:2,INVALID_ARGUMENT:3,DEADLINE_EXCEEDED:4,NOT_FOUND:5,ALREADY_EXISTS:6,PERMISSION_DENIED:7,RESOURCE_EXHAUSTED:8,FAILED_PRECONDITION:9,
ABORTED:10,OUT_OF_RANGE:11,UNIMPLEMENTED:12,INTERNAL:13,UNAVAILABLE:14,DATA_LOSS:15,UNAUTHENTICATED:16};var v=class n extends Error{constructor(t,s,{details:r=new Uint8Array,metadata:i={},mayHaveRun:o=!0,cause:a}={}){super(s,{cause:a});this.code=t;this.details=r,this.
metadata=i,this.mayHaveRun=o}name="Status";details;metadata;mayHaveRun;static from(t){return t instanceof n?t:new n(2,t instanceof Error?t.message:String(t),{cause:t})}},
E=(n,e)=>new v(n,e,{mayHaveRun:!1}),_e=n=>n>0&&n<=16?n:2,ne=(n=!0)=>new v(1,"the caller gave the call up",{mayHaveRun:n}),Pe=(n=!0)=>new v(4,"no answer before t\
he deadline",{mayHaveRun:n});var ge=100,Is=64<<20,Os=12,St=8,Et=56,O=(n,e,t)=>new xt(n,e,t);function kt(n,e){let t=new F;return ve(t,n,e),t.done()}var Mt=(n,e)=>be(new x(e),n,0),ve=(n,e,t)=>yn(
n,e,t,ge);function be(n,e,t){let s={depth:ge,memory:Math.max(Is,n.left*Os),missing:t};return gn(n,e,s)??vn(e,{})}var xt=class n{constructor(e,t,s){this.name=e;this.
spec=t;this.refs=s}known;get fields(){if(this.known)return this.known;let e=this.refs?.()??[],t={},s=0;return this.known=(this.spec&&this.spec.split(" ")||[]).map(
r=>{let[,i,o,a,d,c,f]=/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)$/.exec(r),u=f==="e"||f==="m"?e[s++]:void 0,p=u instanceof n?Cs(u):u?Us(u):mn[f],m=d==="?"?Rs(p):
d==="*"?Ls(p):d?Fs(mn[c],p):p;if(!o)return{...m,name:i,member:void 0};let h=t[o]??=[],w={...p,case:i,number:+a,all:h};return h.push(w),{...w,name:o,member:w,zero:()=>{}}})}};
function yn(n,e,t,s){if(!s)throw hn(e.name,`nests deeper than ${ge}`);n.byte(8),n.byte(0);let r="";try{for(let i of e.fields){let{name:o,member:a}=i;if(r=o,!a)i.
put(n,t[o],s);else if(a===a.all[0]){n.byte(3);let d=t[o],c=d&&a.all.find(f=>f.case===d.case);if(d&&!c)throw new Error(`has no member ${d.case}`);n.varint(c?c.number:
0),c?.put(n,d?.value,s)}}}catch(i){throw i instanceof v?i:hn(`${e.name}.${r}`,i.message)}}function gn(n,e,t){let s=n.byte();if(s===0)return;if(s!==8)throw new g(
`${e.name}: byte ${s} begins no message`);n.byte();let r=t.depth===ge;if(!t.depth--)throw new g(`messages nest deeper than ${ge}`);let{fields:i}=e;At(t,Et+St*i.
length);let o={},a=[];for(let d of i){let{name:c,member:f}=d;if(!n.left&&r&&t.missing>0)t.missing--,Object.hasOwn(o,c)||(o[c]=d.zero());else if(!f)o[c]=d.take(n,
t);else if(f===f.all[0]&&n.next===3){n.at++,a.push(c);let u=n.varint(),p=f.all.find(m=>m.number===u);if(u&&!p)throw new g(`${e.name}.${c} has no member ${u}`);o[c]=
p&&{case:p.case,value:Nt(p,n,t)}}else if(!a.includes(c)){let u=f.take(n,t);(u instanceof Uint8Array?u.length>0:u!==""&&u!==0n&&u!==!1&&u!==void 0&&!Object.is(u,
0))?o[c]={case:f.case,value:u}:Object.hasOwn(o,c)||(o[c]=void 0)}}return t.depth++,o}function vn(n,e){for(let{name:t,zero:s}of n.fields)e[t]=s();return e}function At(n,e){
if((n.memory-=e)<0)throw new g("it takes too much memory")}function Je(n,e){let t=n.byte();if(t!==e)throw new g(`kind ${t} stands in the place of ${e}`)}var Cs=n=>({
kind:3,least:1,zero(){},put:(e,t,s)=>t===void 0?e.byte(0):yn(e,n,t,s-1),take:(e,t)=>gn(e,n,t),table:n});function Nt(n,e,t){let s=n.take(e,t);return s!==void 0||
!n.table?s:(At(t,Et+St*n.table.fields.length),vn(n.table,{}))}var Rs=n=>({...n,zero(){},put:(e,t,s)=>t===void 0?e.byte(0):n.put(e,t,s),take:(e,t)=>e.next===0?void e.
at++:n.take(e,t)});function bn(n,e,t){for(let s of e)n.byte(s);n.varint(t)}function wn(n,e,t,s,r){for(let o of t)Je(n,o);let i=n.varint();return i*s>n.left&&De(),
At(e,i*r),i}function Ls(n){let e=[1,n.kind,10];return{...n,zero:()=>[],put(t,s=[],r){bn(t,e,s.length);for(let i of s)n.put(t,i,r)},take(t,s){let r=[];for(let i=wn(
t,s,e,n.least,St);i>0;i--)r.push(Nt(n,t,s));return r}}}function Fs(n,e){let t=[2,n.kind,e.kind,10];return{...e,zero:()=>new Map,put(s,r=new Map,i){bn(s,t,r.size);
for(let[o,a]of r)n.put(s,o,i),e.put(s,a,i)},take(s,r){let i=new Map;if(s.next===0)s.at++;else for(let o=wn(s,r,t,n.least+e.least,Et);o>0;o--)i.set(n.take(s,r),Nt(
e,s,r));return i}}}var q=(n,e,t,s,r)=>({kind:n,least:e,zero:t,put(i,o=t()){i.byte(n),s(i,o)},take(i){return Je(i,n),r(i)}});function Us(n){let e=Object.values(n);
return q(10,2,()=>e[0],(t,s)=>{let r=e.indexOf(s),i=s+2147483648;ye(r>=0||s===(s|0)&&s<0&&i>=e.length,s),t.varint(r<0?i:r)},t=>{let s=t.varint()>>>0,r=s-2147483648;
if(s>=e.length&&(r>=0||e.includes(r)))throw new g(`an enum has the index ${s}`);return e[s]??r})}var He=(n,e)=>q(n?13:11,2,()=>e?0:0n,(t,s)=>{let r=BigInt(s);ye(
(n?BigInt.asIntN:BigInt.asUintN)(64,r)===r,s);let i=n?BigInt.asUintN(64,r<<1n^r>>63n):r;for(;i>>53n;i>>=7n)t.byte(Number(i&127n)|128);t.varint(Number(i))},t=>{let{
at:s}=t,r=t.varint(10),i=0n;if(r<=Number.MAX_SAFE_INTEGER)i=BigInt(r);else for(let a=0n;s<t.at;a+=7n)i|=BigInt(t.bytes[s++]&127)<<a;i=BigInt.asUintN(64,i);let o=n?
i>>1n^-(i&1n):i;if(!e)return o;if(!Number.isSafeInteger(Number(o)))throw new g("an integer is beyond 2^53");return Number(o)}),pn=(n,e,t)=>q(n,e+1,()=>0,(s,r)=>{
he[`set${t}`](0,r);for(let i=0;i<e;i++)s.byte(he.getUint8(i))},s=>{for(let r=0;r<e;r++)he.setUint8(r,s.byte());return he[`get${t}`](0)}),mn={b:q(7,2,()=>!1,(n,e)=>n.
byte(+e),n=>{let e=n.byte();if(e>1)throw new g(`a bool is ${e}`);return e>0}),i:q(12,2,()=>0,(n,e)=>{ye(e===(e|0),e),n.varint((e<<1^e>>31)>>>0)},n=>{let e=n.varint();
return e>>>1^-(e&1)}),u:q(10,2,()=>0,(n,e)=>{ye(e===e>>>0,e),n.varint(e)},n=>n.varint()>>>0),l:He(!0,!1),w:He(!1,!1),L:He(!0,!0),W:He(!1,!0),f:pn(14,4,"Float32"),
d:pn(15,8,"Float64"),s:q(5,3,()=>"",(n,e)=>{ye(typeof e=="string",e),n.byte(10),n.text(e)},n=>(Je(n,10),n.text())),y:q(4,3,()=>new Uint8Array,(n,e)=>{n.byte(10),
n.sized(e)},n=>(Je(n,10),n.view().slice()))},hn=(n,e)=>E(3,`${n} ${e}`);function ye(n,e){if(!n)throw new Error(`cannot be ${String(e)}`)}var $t=16,xn=65536,Sn=256,Ds=61440,Bs=/^[a-z0-9_.-]{1,256}$/,_s=/^[ -~]*$/,Ps={metadata:{}},En=(n,e)=>Bs.test(n)&&(typeof e=="string"?!Tt(n)&&_s.test(e):Tt(n)),
Tt=n=>n.endsWith("-bin");function qe(n,{backward:e,timeout:t,metadata:s,status:r}){let i=new F(64);e&&i.item(4),t!==void 0&&i.item(1,d=>d.varint(Math.min(Math.max(
0,Math.round(t*1e3)),Number.MAX_SAFE_INTEGER)));let o=Object.entries(s??{}),a=0;for(let[d,c]of o){if(!En(d,c))throw E(3,`metadata cannot have this entry: ${d}`);
if(a+=d.length+c.length+8,o.length>Sn||a>Ds)throw E(8,"too much metadata");i.item(2,f=>{f.text(d),f.raw(typeof c=="string"?N(c):c)})}r&&(i.item(3,d=>{d.varint(r.
code),i.at+r.details.length+16<=xn&&d.raw(r.details)}),r.mayHaveRun||i.item(5)),i.at&&(n.byte($t),n.sized(i.done()))}function We(n){if(n.next!==$t)return Ps;n.at++;
let e=new x(n.view());if(e.left>xn)throw new g("a prefix is too long");let t=Object.create(null),s={metadata:t},r=0;for(;e.left;){let i=e.byte(),o=new x(e.view());
if(i===1)s.timeout=o.varint(10)/1e3;else if(i===2){let a=o.text(),d=Tt(a)?o.rest():o.text(o.left);if(!En(a,d)||++r>Sn)throw new g("metadata breaks the rules");t[a]=
d}else i===3?(s.code=_e(o.varint(10)),s.details=o.rest()):i===5&&(s.refused=!0)}return s}function kn(n){if(n[0]!==$t)return!1;let e=1;for(;e<6&&n[e]>127;)e++;return n[e+
1]===4&&n[e+2]===0}var Ve=n=>n.next===6;function je(n,{metadata:e,code:t,details:s,refused:r}){if(n.at++,n.byte()!==5||n.byte()!==10)throw new g("an error has n\
o text");return new v(t??2,n.text(),{metadata:e,mayHaveRun:!r,...s&&{details:s}})}function Mn(n,e,t){qe(n,{backward:t,status:e,metadata:e.metadata});for(let s of[
6,5,10])n.byte(s);n.text(e.message)}var we=(n,e,t,s)=>({name:n,fingerprint:e,compatible:t,methods:s});function An(n,e){if(n.fingerprint===e.fingerprint||e.compatible.includes(n.fingerprint))return 0;if(!n.compatible.includes(e.fingerprint))throw E(9,`incompatibl\
e layouts of ${n.name}`);return 1}var It=({added:n=[0,0]},e,t)=>e*n[t],Ot=n=>Object.values(n.methods);function Ct(n,e){let t=r=>{for(let i=0;i<16;i+=2)n.byte(parseInt(
r.slice(i,i+2),16))};n.text(e.name),t(e.fingerprint),n.varint(e.compatible.length),e.compatible.forEach(t);let s=0;for(let r of Ot(e).map(i=>i.operation).sort((i,o)=>i-
o))n.varint(r-s),s=r}function Nn(n){let e=()=>{let s="";for(let r=0;r<8;r++)s+=n.byte().toString(16).padStart(2,"0");return s},t={service:n.text(),fingerprint:e(),
compatible:[],operations:[]};for(let s=n.varint();s>0;s--)t.compatible.push(e());for(let s=0;n.left;)t.operations.push(s+=n.varint());return t}var Rt=5<<20,Js=1024,qs=65536,re=10,X=16384,Ws=X/2,Vs=256,Ge=262144,js=1e5,Xs=64<<20,Gs=65536,zs=2e3,Ks=5,Ys=1e4,Zs=2147483647,G=(n,e)=>setTimeout(e,Math.min(Math.
max(0,n),Zs)),Xe=class{constructor(e,t,s,r,i){this.owner=t;this.named=s;this.serving=r;this.mounts=i;this.setup=G(Ys,()=>this.fail("no HELLO in time")),this.transport=
e({open:()=>{this.hello(),this.flush(),this.beat=setInterval(()=>this.tick(),zs)},data:o=>this.data(o),close:o=>this.closed(o)})}bodyMax=Rt;streamsMax=1/0;credit=0;opened=0;isUp=!1;isClosed=!1;isLeft=!1;out=new F(
16384);streams=new Map;offered=[];calling=[];transport;callsMax=X;slots=[];free=[];ids=[];inFlight=0;givenUp=0;lastStream=0;theirStream=32767;known=new Map;partial;need=re;waste=0;flushing=!1;seen=0;pong=!1;heard=!1;sent=!1;silent=0;beat;setup;alarm;alarmAt=1/0;write(e,t,s){
let{out:r}=this,{at:i}=r;try{for(let d of[15,e,t,0,0])r.half(d);s?.(r);let o=r.at,a=o-i-re;if(a>this.bodyMax)throw E(8,`the message has ${a} bytes, and the serv\
er accepts ${this.bodyMax}`);r.at=i+6,r.half(a>>>16),r.half(a),r.at=o}catch(o){throw r.at=i,o}r.at>Gs?this.flush():this.flushing||(this.flushing=!0,this.seen=0,
queueMicrotask(this.settle))}number(e,t,s){this.write(e,t,r=>r.varint(s))}settle=()=>{this.out.at!==this.seen?(this.seen=this.out.at,queueMicrotask(this.settle)):
(this.flushing=!1,this.flush())};flush(){let{out:e}=this;e.at&&(this.pong=!1,this.sent=!0,this.isClosed||this.transport.send(e.done()),e.at=0,this.seen=0,e.bytes.
length>1<<20&&(e.bytes=new Uint8Array(16384)),this.transport.buffered()>Xs&&this.fail("the server does not take what is sent"))}hello(){this.write(0,3,e=>{e.raw(
N("fris"));let t=this.serving?Vs:0;[Rt,t,t,Ge].forEach((s,r)=>e.item(r+1,i=>i.varint(s)));for(let s of this.serving?.services??[])e.item(32,r=>Ct(r,s));for(let s of this.
named)e.item(33,r=>Ct(r,s))}),this.write(1,0)}tick(){if(this.silent=this.heard?0:this.silent+1,this.silent>=Ks)return this.fail("the server is silent");(!this.heard||
!this.sent)&&this.write(0,0),this.heard=this.sent=!1}data(e){if(this.isClosed)return;this.heard=!0;let{partial:t}=this;if(t){if(t.raw(e),t.at<this.need)return;e=
t.done(),this.partial=void 0}try{let s=this.packets(e);s<e.length&&(this.partial=new F(e.length-s),this.partial.raw(e.subarray(s)))}catch(s){if(!(s instanceof g))
throw s;this.fail(`the server broke the protocol: ${s.message}`)}}packets(e){let t=0;this.need=re;let s=r=>e[t+r]<<8|e[t+r+1];for(;e.length-t>=re&&!this.isClosed;){
if(s(0)!==15)throw new g("a header without its magic");let r=s(6)*65536+s(8);if(r>Rt)throw new g(`a packet of ${r} bytes`);let i=t+re+r;if(i>e.length){this.need=
i-t;break}this.handle(s(2),s(4),e.subarray(t+re,i)),t=i}return t}handle(e,t,s){let r=new x(s),i=this.streams.get(e);if(t>=10){if(!this.isUp)throw new g("a packe\
t before HELLO");if(kn(s))return this.serving?this.serving.request(this,e,t,s):this.wasted();let o=this.slots[e&X-1];if(o?.id===e&&o.operation===t)return o.isOver&&
this.givenUp--,this.release(e),o.reply(s);if(t>=65280&&this.mounts.length)return this.mounts.forEach(a=>a.packet(this,e,t,s))}else if(t<2){if(s.length)throw new g(
"a PING or PONG with a body");t===1?this.isUp||this.fail("the server is a plain peer"):this.pong||(this.pong=!0,this.write(0,1));return}else{if(t===3&&!this.isUp)
return this.greeted(r);if(t===2)return i?i.received(s):this.opening(e,s);if(t===4)return this.leave();if(t===6)return this.serving?.cancel(this,e,r.varint());if(t===
8)throw new g("an answer to no hand-off");if(t===5&&i)return i.credited(r.varint(10));if(t===7&&i)return s.length?i.wasReset(r):i.ended()}this.wasted()}wasted(){
++this.waste>js&&this.fail("too many packets that belong to nothing")}greeted(e){if(e.left>qs||e.text(4)!=="fris"||!e.byte())throw new g("it sent no HELLO");for(;e.
left;){let t=e.byte(),s=new x(e.view());if(t===1)this.bodyMax=Math.max(s.varint(),Js);else if(t===2)this.streamsMax=s.varint();else if(t===3)this.callsMax=Math.
min(s.varint(),X);else if(t===4)this.credit=s.varint();else if(t===32||t===33)try{(t===32?this.offered:this.calling).push(Nn(s))}catch{}}this.isUp=!0,clearTimeout(
this.setup),this.owner.room(this)}opening(e,t){let s=e-this.theirStream&32767;if(e<32768||!s||s>16384)return this.wasted();this.theirStream=e;try{if(!this.serving)
throw E(12,"this end serves nothing");this.serving.open(this,e,t)}catch(r){this.number(e,5,0),this.reset(e,v.from(r))}}reset(e,{code:t,message:s}){this.isClosed||
this.write(e,7,r=>{r.varint(t),r.raw(N(s.slice(0,256)))})}fits(e){let t=this.known.get(e);if(t!==void 0)return t;let s=this.offered.find(r=>r.service===e.name);
if(s){if(s.fingerprint!==e.fingerprint&&!this.named.includes(e))return;t=An(e,s)}else{let r=Ot(e).map(({operation:o})=>o),i=this.offered.find(o=>o.operations.some(
a=>r.includes(a)));if(i)throw E(12,`the server has ${i.service} in the place of ${e.name}`);t=0}return this.known.set(e,t),t}enter(e){if(this.inFlight>=this.callsMax)
return-1;this.inFlight++;let t=this.free.pop()??this.slots.length,s=(this.ids[t]??t)+X&65535;return this.ids[t]=s,this.slots[t]=e,e.until<this.alarmAt&&this.wake(
e.until),s}release(e){let t=e&X-1;this.slots[t]=void 0,this.free.push(t),this.inFlight--,this.inFlight===this.callsMax-1&&this.owner.room(this),this.closeIfIdle()}cancel(e){
let t=e.id&X-1;this.slots[t]!==e||e.isOver||this.isClosed||(e.isOver=!0,this.number(e.id,6,e.operation),++this.givenUp>=Ws&&this.leave(),this.closeIfIdle())}streamId(){
if(this.opened>=Math.min(this.streamsMax,28672))return-1;do this.lastStream=this.lastStream%32767+1;while(this.streams.has(this.lastStream));return this.opened++,
this.lastStream}over(e){this.streams.get(e.id)===e&&(this.streams.delete(e.id),e.id<32768&&(this.opened--,this.owner.room(this)),this.closeIfIdle())}wake(e){clearTimeout(
this.alarm),this.alarmAt=e,this.alarm=G(e-performance.now(),()=>this.expire())}expire(){let e=performance.now(),t=this.alarmAt=1/0;for(let s of this.slots)!s||s.
isOver||(s.until<=e?(this.cancel(s),s.over(Pe())):t=Math.min(t,s.until));t<this.alarmAt&&this.wake(t)}leave(){this.isLeft||(this.isLeft=!0,this.owner.left(this,
"the server is going away"),this.closeIfIdle())}closeIfIdle(){this.isLeft&&this.inFlight===this.givenUp&&!this.streams.size&&!this.serving?.busy(this)&&queueMicrotask(
()=>this.fail("the server is going away"))}fail(e){this.isClosed||(this.flush(),this.transport.close(),this.closed(e))}closed(e){if(this.isClosed)return;this.isClosed=
!0,clearInterval(this.beat),clearTimeout(this.setup),clearTimeout(this.alarm),this.owner.left(this,e);let t=new v(14,`the connection was lost: ${e}`);for(let s of this.
slots)s?.lost(t);for(let s of[...this.streams.values()])s.lost(t);this.serving?.down(this);for(let s of this.mounts)s.down(this,t)}};var Tn={done:!0,value:void 0},ie=class{items=[];readers=[];last=!1;[Symbol.asyncIterator](){return this}next(){return new Promise((e,t)=>{this.readers.push({resolve:e,
reject:t}),this.serve()})}return(){return this.leave(),this.finished(!0,!0),Promise.resolve(Tn)}get isAwaited(){return this.readers.length>0}arrived(e){this.items.
push(e),this.serve()}finished(e,t=!1){t&&(this.items.length=0),this.last||=e,this.serve()}serve(){for(;this.isAwaited;){let e=this.items.shift();if(e===void 0&&
!this.last)return;let t=this.readers.shift();try{if(e===void 0){let{last:s}=this;if(this.last=!0,this.told?.(),s instanceof v)throw s;t.resolve(Tn)}else{let s=this.
taken(e);s===void 0?this.readers.unshift(t):t.resolve({done:!1,value:s})}}catch(s){t.reject(s)}}}};var Lt=64,er=4,Ft=(n,e)=>n instanceof g?new v(13,`not a valid ${e.name}: ${n.message}`):v.from(n),ze=class extends ie{constructor(t,s,r){super();this.sends=t;this.
receives=s;this.whenOver=r??(()=>{})}metadata={};whenMetadata;id=0;link;missing=0;credit=0;wakeSender;stopSource;sending=!0;receiving=!0;refused=!1;whenOver;discards=!1;unread=0;consumed=0;deadline;begin(t,s,r){
this.link=t,this.id=s,this.missing=r,this.credit=t.credit,t.streams.set(s,this)}get isOpen(){return this.link!==void 0}get isOver(){return!this.sending&&!this.receiving}within(t){
this.deadline=G(t,()=>this.fail(Pe(this.isOpen)))}leave(){this.stop(!0)}told(){clearTimeout(this.deadline),this.id<32768&&this.leave()}taken(t){let s=t.length+Lt;
this.unread-=s,this.consumed+=s;let{link:r}=this;r&&this.consumed*er>=Ge&&this.receiving&&(r.number(this.id,5,this.consumed),this.consumed=0);try{let i=new x(t),
o=We(i);if(i.at&&this.whenMetadata?.(this.metadata=o.metadata),i.at&&!i.left)return;if(Ve(i))throw je(i,o);return be(i,this.receives,this.missing)}catch(i){throw this.
leave(),Ft(i,this.receives)}}async pump(t,s=!1){let r=Symbol.asyncIterator in t?t[Symbol.asyncIterator]():t[Symbol.iterator]();this.stopSource=()=>r.return?.();
try{for(;;){for(;this.credit<=0&&!this.isOver;)await new Promise(d=>this.wakeSender=d);if(this.isOver)return;let i=r.next(),{done:o,value:a}=i instanceof Promise?
await i:i;if(this.isOver)return;if(o)break;this.send(a)}this.stopSource=void 0,this.finish()}catch(i){if(s)throw i;this.stop(v.from(i))}}send(t){let{link:s}=this;
!s||!this.sending||(s.write(this.id,2,r=>{let{at:i}=r;t instanceof v?Mn(r,t,!1):ve(r,this.sends,t),this.credit-=r.at-i+Lt}),t instanceof v&&this.finish())}finish(){
this.sending&&(this.sending=!1,this.link?.write(this.id,7),this.release())}received(t){if(!(!this.receiving||this.discards)){if(this.unread+this.consumed>=Ge)return this.
fail(new v(8,"the peer sent more than it had credit for"));this.unread+=t.length+Lt,this.arrived(this.isAwaited?t:new Uint8Array(t))}}credited(t){this.refused||=
t===0,this.credit+=t,this.credit>0&&this.wakeSender?.()}ended(){this.receiving=!1,this.finished(!0),this.release()}wasReset(t){let s=_e(t.varint()),r="";try{r=t.
text(Math.min(t.left,4096))}catch{}this.lost(new v(s,r,{mayHaveRun:!this.refused}))}lost(t){this.sending=this.receiving=!1,this.finished(t),this.release()}fail(t){
this.stop(t,t)}discard(){this.items.length=0,this.discards=!0}stop(t,s=ne()){this.isOver||this.link?.reset(this.id,s),this.sending=this.receiving=!1,this.finished(
t,!0),this.release()}release(){let{whenOver:t}=this;!this.isOver||!t||(this.whenOver=void 0,this.wakeSender?.(),clearTimeout(this.deadline),this.stopSource?.(),
this.link?.over(this),t())}};var tr=3e4,nr=5e3,$n="not sent: the channel is closed",sr=20,In=2e3,On=10,xe=class{constructor(e,t={}){this.dial=e;this.options=t;t.stayConnected&&queueMicrotask(
()=>this.connect())}link;failures=0;retries=On;dialledAt=0;pause;isClosed=!1;trouble="";waiting=new Map;named=new Set;mounts=[];owner={room:e=>queueMicrotask(()=>this.
drain(e)),left:(e,t)=>{this.link===e&&(this.link=void 0,this.judge(e,t))}};name(e){this.named.add(e)}mount(e){this.mounts.push(e)}connected(){return new Promise(
(e,t)=>{let s=r=>(e(r),!0);this.run({isOver:!1,start:s,fail:t},1/0)})}unary(e,t,s,r){return new Promise((i,o)=>{let a=new Ut(this,e,t,s,this.terms(r),i,o);this.
run(a,a.until)})}serverStreaming(e,t,s,r){return this.twoWay(e,t,[s],r)}twoWay(e,t,s,r){return this.open(e,t,s,r)}open(e,t,s,r){return new Dt(this,e,t,s,{...this.
terms(r),told:r?.timeout}).replies}async clientStreaming(e,t,s,r){let i=this.open(e,t,s,r),{done:o,value:a}=await i.next();if(o)throw new v(13,"there is no repl\
y");return i.leave(),a}close(){this.isClosed=!0,clearTimeout(this.pause);for(let[e,t]of this.waiting)clearTimeout(t),e.fail(E(9,$n));this.waiting.clear(),this.link?.
leave()}run(e,t){let{link:s}=this;if(s?.isUp&&this.starts(e,s))return;if(this.isClosed)return e.fail(E(9,$n));let r=performance.now()+(this.options.patience??nr),
i=()=>{let o=performance.now();o<t&&(o<r||this.link?.isUp)?this.waiting.set(e,G((o<r?Math.min(t,r):t)-o,i)):this.waiting.delete(e)&&e.fail(o<t?this.unreachable():
Cn())};this.waiting.set(e,void 0),i(),this.connect()}starts(e,t){let{isOver:s,service:r}=e;try{let i=s||!r?0:t.fits(r);return i!==void 0?s||e.start(t,i):(this.named.
add(r),this.failures=0,t.leave(),!1)}catch(i){return e.fail(v.from(i)),!0}}unreachable(){return E(14,`not sent: there is no connection to the server${this.trouble&&
`; ${this.trouble}`}`)}terms(e){let{timeout:t,metadata:s}=this.options,r=e?.timeout??t;return{told:r,timeout:r??tr,metadata:s&&e?.metadata?{...s,...e.metadata}:
e?.metadata??s,signal:e?.signal,onMetadata:e?.onMetadata}}earn(){this.retries<On&&(this.retries+=.1)}spend(){return this.retries<1?!1:(this.retries--,!0)}connect(){
this.link||this.pause!==void 0||this.isClosed||!this.waiting.size&&!this.options.stayConnected||(this.dialledAt=performance.now(),this.link=new Xe(this.dial,this.
owner,[...this.named],this.options.serve,this.mounts))}judge(e,t){if(e.isUp&&performance.now()-this.dialledAt>=In)this.failures=0;else{this.trouble=t;let r=Math.
min(sr*2**Math.min(this.failures++,16),In);clearTimeout(this.pause),this.pause=G(Math.random()*r,()=>{this.pause=void 0,this.connect()})}this.connect()}drain(e){
for(let[t,s]of this.waiting){if(this.link!==e||!this.starts(t,e))return;clearTimeout(s),this.waiting.delete(t)}}},Cn=()=>E(4,"not sent: the deadline has passed"),
Ut=class{constructor(e,t,s,r,i,o,a){this.channel=e;this.service=t;this.method=s;this.request=r;this.terms=i;this.resolve=o;this.reject=a;this.operation=s.operation,
this.until=performance.now()+i.timeout,i.signal?.addEventListener("abort",this.abort)}id=0;isOver=!1;operation;until;link;missing=0;before;start(e,t){let{terms:s,
method:r}=this,{told:i,metadata:o}=s;if(s.signal?.aborted)throw ne(!1);if(s.timeout<=0)throw Cn();if((this.id=e.enter(this))<0)return!1;try{e.write(this.id,this.
operation,a=>{(i!==void 0||o)&&qe(a,{timeout:i&&this.until-performance.now(),metadata:o}),ve(a,r.request,this.request)})}catch(a){throw e.release(this.id),a}return this.
missing=It(r,t,1),this.link=e,!0}reply(e){let{method:t,terms:s}=this;if(!this.isOver)try{let r=new x(e),i=We(r);if(Ve(r))throw je(r,i);r.at&&s.onMetadata?.(i.metadata),
this.resolve(be(r,t.reply,this.missing)),this.channel.earn(),this.end()}catch(r){this.over(Ft(r,t.reply))}}lost(e){if(this.link=void 0,!this.isOver){if(!this.method.
idempotent||!this.channel.spend())return this.over(e);this.before=e,this.channel.run(this,this.until)}}fail(e){this.over(this.before??e)}over(e){this.reject(e),
this.end()}end(){this.isOver=!0,this.terms.signal?.removeEventListener("abort",this.abort)}abort=()=>{this.link?.cancel(this),this.over(ne(this.link!==void 0))}},
Dt=class{constructor(e,t,s,r,i){this.service=t;this.method=s;this.requests=r;this.terms=i;let{signal:o,told:a}=i,d=()=>this.replies.fail(ne(this.replies.isOpen));
this.replies=new ze(s.request,s.reply,()=>o?.removeEventListener("abort",d)),this.replies.whenMetadata=i.onMetadata,a!==void 0&&this.replies.within(a),this.until=
performance.now()+(a??1/0),o?.addEventListener("abort",d),o?.aborted?d():e.run(this,this.until)}replies;until;get isOver(){return this.replies.isOver}start(e,t){
let{method:s,replies:r,terms:{told:i,metadata:o}}=this;if(!e.streamsMax)throw E(12,"the server does not accept streams");let a=e.streamId();return a<0?!1:(r.begin(
e,a,It(s,t,1)),e.write(a,2,d=>{qe(d,{timeout:i&&this.until-performance.now(),metadata:o}),d.byte(9),d.varint(s.operation)}),r.pump(this.requests),!0)}fail(e){this.
replies.fail(e)}};var Ke=65280,rr=16<<20,Bt=64,Se=class{constructor(e){this.channel=e;e.mount({packet:(t,s,r,i)=>this.handle(t,s,r-Ke,i),down:(t,s)=>{if(t===this.link)for(let r of this.
subscriptions.values())r.end(s)}})}subscriptions=new Map;link;next=0;async subscribe(e,{group:t=""}={}){return this.ask(0,e,t)}async publish(e,t){let s;do s=await this.
channel.connected();while(s.isClosed);s.write(0,Ke+2,r=>{r.sized(N(e)),r.raw(typeof t=="string"?N(t):t)})}async sync(){await(await this.ask(3)).return()}async ask(e,t,s){
let r;do r=this.link=await this.channel.connected();while(r.isClosed);let i=this.next=this.next%65535+1,o=new _t(s?void 0:t?.split("."),()=>{this.subscriptions.
delete(i)&&t!==void 0&&!r.isClosed&&r.write(i,Ke+1)});return this.subscriptions.set(i,o),r.write(i,Ke+e,a=>{t!==void 0&&a.sized(N(t)),a.raw(N(s??""))}),await o.
active,o}handle(e,t,s,r){if(e!==this.link)return;let i=new x(r),o=this.subscriptions.get(t);if(s===2){let a=i.text(),d={topic:a,payload:i.rest()};if(t)o?.put(d);else
for(let c of this.subscriptions.values())c.matches(a)&&c.put(d)}else if(s===4){let a=i.varint(10);for(let d of this.subscriptions.values())d.lost+=a}else if(!r.
length)o?.activate();else{let a=i.byte(),d=a===3?8:a===4?12:3,c=E(d,i.text(i.left));this.subscriptions.delete(t),o?.end(c)}}},_t=class extends ie{constructor(t,s){
super();this.tokens=t;this.leave=s;this.active=new Promise((r,i)=>{this.activate=r,this.refuse=i})}active;lost=0;activate=()=>{};refuse=()=>{};unread=0;matches(t){
let{tokens:s}=this,r=t.split(".");return!s||(s.at(-1)===">"?r.length<s.length:r.length!==s.length)?!1:s.every((i,o)=>i===">"||i==="*"||i===r[o])}put(t){for(this.
unread+=t.payload.length+Bt;this.unread>rr&&this.items.length>0;)this.unread-=this.items.shift().payload.length+Bt,this.lost++;this.arrived(t)}end(t){this.leave(),
this.refuse(t),this.finished(t)}taken({topic:t,payload:s}){let{lost:r}=this;return this.unread-=s.length+Bt,this.lost=0,{topic:t,payload:s,lagged:r}}};var Pt="frisbee.1";function Ht(n,{protocols:e=[],WebSocket:t=globalThis.WebSocket}={}){return s=>{let r=new t(String(n),[Pt,...e]);return r.binaryType="arraybuf\
fer",r.onopen=()=>{r.protocol===Pt?s.open():r.close()},r.onmessage=({data:i})=>{i instanceof ArrayBuffer?s.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.
onclose=({code:i,reason:o})=>{s.close(`the WebSocket was closed (${i}${o&&`, ${o}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var or=64;var Ye=class{messages=new Map;enums=new Map;constructor(e){for(let{number:t,bytes:s}of C(e))t===1&&this.file(s)}message(e){let t=this.messages.get(e);if(!t)throw new Error(
`the schema has no message ${e}`);return t}enumeration(e){let t=this.enums.get(e);if(!t)throw new Error(`the schema has no enum ${e}`);return t}entry(e){let t=e.
isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return t?.isEntry?t:void 0}file(e){let t="",s=[],r=new Map;for(let{number:o,bytes:a}of C(e))o===2?t=U(a):
o===4||o===5?s.push({number:o,bytes:a}):o===9&&(r=dr(a));let i={4:0,5:0};for(let{number:o,bytes:a}of s){let d=i[o]??0;i[o]=d+1;let c=`${o},${d}`;o===4?this.declare(
a,t,[],c,r,0):this.declareEnum(a,t,[],c,r)}}declare(e,t,s,r,i,o){if(o>or)throw new g("types are declared too deep within each other");let a=[],d=[],c=[],f=[],u="",
p=!1;for(let{number:S,bytes:A}of C(e))S===1?u=U(A):S===2?a.push(A):S===3?d.push(A):S===4?c.push(A):S===7?p=Un(A,7):S===8&&f.push({name:Ln(A),docs:i.get(`${r},8,${f.
length}`)??""});let m=[...s,u],h=Rn(t,m),w=a.map((S,A)=>ar(S,i.get(`${r},2,${A}`)??""));this.messages.set(h,{name:h,package:t,path:m,docs:i.get(r)??"",fields:w,
oneofs:f,isEntry:p}),d.forEach((S,A)=>this.declare(S,t,m,`${r},3,${A}`,i,o+1)),c.forEach((S,A)=>this.declareEnum(S,t,m,`${r},4,${A}`,i))}declareEnum(e,t,s,r,i){
let o=[],a="";for(let{number:f,bytes:u}of C(e)){if(f===1&&(a=U(u)),f!==2)continue;let p=0;for(let m of C(u))m.number===2&&(p=m.low|0);o.push({name:Ln(u),number:p,
docs:i.get(`${r},2,${o.length}`)??""})}let d=[...s,a],c=Rn(t,d);this.enums.set(c,{name:c,package:t,path:d,docs:i.get(r)??"",values:o})}},Fn=n=>n===11||n===10||n===
14,Rn=(n,e)=>[...n?[n]:[],...e].join(".");function ar(n,e){let t="",s="",r="",[i,o,a,d]=[0,0,0,-1],c=!1,f=!1;for(let u of C(n))u.number===1?t=U(u.bytes):u.number===
3?i=u.low:u.number===4?o=u.low:u.number===5?a=u.low:u.number===6?r=U(u.bytes).replace(/^\./,""):u.number===8?f=Un(u.bytes,3):u.number===9?d=u.low:u.number===10?
s=U(u.bytes):u.number===17&&(c=u.low!==0);if(a<1||a>18)throw new g(`a field of the kind ${a}`);return{name:t,number:i,kind:a,type:r,isOptional:c,isDeprecated:f,
docs:e,jsonName:s||t.replace(/_(\w)/g,(u,p)=>p.toUpperCase()),isRepeated:o===3,oneof:d<0||c?void 0:d}}var lr=new Uint8Array,U=n=>new x(n).text(n.length);function*C(n){
let e=new x(n);for(;e.left;){let t=e.varint(),s=t>>>3,r=t&7;if(r===0){let i=0,o=0;for(let a of n.subarray(e.at,(e.varint(10),e.at)))o<32&&(i|=(a&127)<<o),o+=7;yield{
number:s,bytes:lr,low:i>>>0}}else if(r===2)yield{number:s,bytes:e.view(e.varint()),low:0};else if(r===1||r===5)e.view(r===1?8:4);else throw new g(`a field of th\
e wire type ${r}`)}}function Ln(n){for(let{number:e,bytes:t}of C(n))if(e===1)return U(t);return""}function Un(n,e){for(let{number:t,low:s}of C(n))if(t===e)return s!==
0;return!1}function dr(n){let e=new Map;for(let{number:t,bytes:s}of C(n)){if(t!==1)continue;let r="",i="",o="";for(let d of C(s))if(d.number===1){let c=new x(d.
bytes),f=[];for(;c.left;)f.push(c.varint());r=f.join(",")}else d.number===3?i=U(d.bytes):d.number===4&&(o=U(d.bytes));let a=i||o;a&&e.set(r,Ze(a))}return e}var Ze=n=>n.
replace(/^ /gm,"").trim();var ae=n=>`f${n.number}`,Qe=n=>`o${n}`,Jt={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
oe=class{constructor(e){this.schema=e}types=new Map;enums=new Map;of(e){let t=this.types.get(e);if(t)return t;let s=this.schema.message(e),r=ur(this.schema,s),i=r.
map(d=>`${ae(d)}:${this.spec(s,d)}`).join(" "),o=r.map(d=>this.schema.entry(d)?.fields[1]??d).filter(d=>Fn(d.kind)),a=O(e,i,()=>o.map(d=>d.kind===14?this.choice(
d.type):this.of(d.type)));return this.types.set(e,a),a}spec(e,t){let s=this.schema.entry(t),r=Jt[t.kind];if(s){let[i,o]=s.fields;if(!i||!o)throw new Error(`${s.
name} is no entry of a map`);return`%${Jt[i.kind]}${Jt[o.kind]}`}if(t.isRepeated)return`*${r}`;if(t.oneof!==void 0){let i=e.fields.filter(o=>o.oneof===t.oneof);
return`${Qe(t.oneof)}/${i.indexOf(t)+1}/${r}`}return t.isOptional&&r!=="m"?`?${r}`:r}choice(e){let t=this.enums.get(e);return t||(t=cr(this.schema.enumeration(e)),
this.enums.set(e,t)),t}},cr=n=>Object.fromEntries(n.values.map(({number:e},t)=>[`v${t}`,e]));function ur(n,e){let t=s=>n.entry(s)?2:s.isRepeated?1:s.kind===11||
s.kind===10?2:0;return[0,1,2].flatMap(s=>e.fields.filter(r=>t(r)===s))}function Dn(n,e,t,s,r){let i=r.map(({operation:a,request:d,response:c,sends:f,receives:u,
isIdempotent:p})=>({operation:a,request:n.of(d),reply:n.of(c),sends:f,receives:u,idempotent:p})),o=we(e,t,s,Object.fromEntries(i.map((a,d)=>[`m${d}`,a])));return i.
map(a=>({service:o,method:a}))}var qt={POLYGLOT:0,PROTOBUF:1},Ee={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},fr=O("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),pr=O("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),mr=O("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[gr]),hr=O("fr\
pc.reflection.v1.ListRequest","etag:s"),yr=O("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Ee]),gr=O("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[qt,yr]),le=we("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:hr,reply:mr,receives:!0,
idempotent:!0},files:{operation:65001,request:pr,reply:fr,receives:!0,idempotent:!0}});var Bn=32<<20,D=n=>`${n.service.name}/${n.name}`,et=class{constructor(e,t){this.url=e;let s=Ht(e),r=o=>{this.wire=o,t()},i=o=>{let a=s({open:()=>{this.traffic.since=
Date.now(),this.traffic.connections++,o.open(),r("open")},data:d=>{this.traffic.received+=d.length,o.data(d)},close:d=>{r("lost"),o.close(d)}});return{...a,send:d=>{
this.traffic.sent+=d.length,a.send(d)}}};this.channel=new xe(i,{stayConnected:!0}),this.channel.name(le),this.topics=new Se(this.channel)}channel;topics;metadata={};wire="\
connecting";traffic={since:0,connections:0,sent:0,received:0};async catalog(e){let{channel:t,metadata:s}=this,r=new Map,i="";for await(let p of t.serverStreaming(
le,le.methods.list,{etag:e?.etag??""},{metadata:s})){if(p.notModified)return;i||=p.etag;for(let m of p.services){let h=r.get(m.name);h?h.methods.push(...m.methods):
r.set(m.name,m)}}let o=[],a=0;for await(let{data:p}of t.serverStreaming(le,le.methods.files,{},{metadata:s}))if(o.push(p),a+=p.length,a>Bn)throw new v(Be.RESOURCE_EXHAUSTED,
`the schema has more than ${Bn} bytes`);let d=new Uint8Array(a),c=0;for(let p of o)d.set(p,c),c+=p.length;let f=new Ye(d),u=new oe(f);return{etag:i,schema:f,services:[
...r.values()].map(p=>vr(p,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function vr(n,e){let t,s=i=>{if(n.codec!==qt.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!n.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return t??=Dn(e,n.name,n.fingerprint,n.compatible,n.methods.map(o=>({...o,sends:o.requestStreams,receives:o.responseStreams,isIdempotent:o.
idempotency!==Ee.UNKNOWN}))),t[i]},r={name:n.name,fingerprint:n.fingerprint,file:n.file,docs:Ze(n.docs),isDeprecated:n.isDeprecated,methods:[]};return r.methods=
n.methods.map((i,o)=>({service:r,name:i.name,operation:i.operation,request:i.request,response:i.response,sends:i.requestStreams,receives:i.responseStreams,idempotency:i.
idempotency===Ee.NO_SIDE_EFFECTS?"no side effects":i.idempotency===Ee.IDEMPOTENT?"idempotent":"",formats:i.formats,docs:Ze(i.docs),isDeprecated:i.isDeprecated,callable:()=>s(
o)})),r}var tt=n=>Object.entries(Be).find(([,e])=>e===n)?.[0]??String(n);var br=50;function nt(n,e,t){let s=n.slice(-br).reverse().map(r=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
r)},l("span",{className:"muted"},te(r.beganAt)),l("span",{className:r.code===0?"badge ok":"badge failed"},tt(r.code)),!t&&l("span",{className:"path"},r.path),l(
"span",{className:"muted shortened"},(r.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},L(r.took)))));return s.length>0?l("ol",{className:"\
histories"},...s):l("p",{className:"empty"},"Nothing has been called yet.")}var b=class extends Error{constructor(e,t){super(e?`${e}: ${t}`:t)}},M=()=>Object.create(null),Vt=n=>typeof n=="object"&&n!==null&&!Array.isArray(n),jt=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
W=n=>jt.test(n)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(n);function V(n){try{return JSON.parse(n||"{}")}catch(e){throw new b(
"",e.message)}}function Ae(n,e,t,s=""){let r=Er(n,e,t,s);if(r)return r;if(!Vt(t))throw new b(s,`${e} is an object`);let i=n.message(e),o={};for(let[a,d]of Object.
entries(t)){let c=i.fields.find(p=>p.jsonName===a||p.name===a),f=s?`${s}.${a}`:a;if(!c)throw new b(f,`${e} has no such field${wr(i)}`);if(d===null&&c.type!=="go\
ogle.protobuf.Value")continue;let u=xr(n,c,d,f);if(c.oneof===void 0)o[ae(c)]=u;else{let p=Qe(c.oneof);if(o[p])throw new b(f,`${i.oneofs[c.oneof]?.name} has two \
members`);o[p]={case:ae(c),value:u}}}return o}var wr=n=>n.fields.length>0?`; it has: ${n.fields.map(e=>e.jsonName).join(", ")}`:"";function xr(n,e,t,s){let r=n.
entry(e),[i,o]=r?.fields??[];if(i&&o){if(!Vt(t))throw new b(s,"a map is an object");return new Map(Object.entries(t).map(([a,d])=>[Sr(i,a,s),Wt(n,o,d,`${s}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Wt(n,e,t,s);if(!Array.isArray(t))throw new b(s,"a list is an array");return t.map((a,d)=>Wt(n,e,a,`${s}[${d}]`))}function Sr(n,e,t){
if(n.kind!==8)return Ne(n,e,t);if(e!=="true"&&e!=="false")throw new b(t,`${e} is not true or false`);return e==="true"}var Pn=(()=>{let n=t=>[-(1n<<t-1n),(1n<<t-
1n)-1n],e=t=>[0n,(1n<<t)-1n];return{5:n(32n),17:n(32n),15:n(32n),3:n(64n),18:n(64n),16:n(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),it=n=>[3,4,6,16,18].includes(
n),Xt=n=>n in Pn;function Wt(n,e,t,s){if(e.kind===11)return Ae(n,e.type,t,s);if(e.kind!==14)return Ne(e,t,s);let{name:r,values:i}=n.enumeration(e.type);if(typeof t==
"number"&&Number.isInteger(t))return t;let o=i.find(a=>a.name===t);if(!o)throw new b(s,`${r} has no value ${ke(t)}; it has: ${i.map(a=>a.name).join(", ")}`);return o.
number}var ke=n=>JSON.stringify(n).slice(0,60);function Ne(n,e,t=""){let{kind:s}=n,r=Pn[s];if(r){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new b(t,`${ke(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new b(t,"an integer of this size is writte\
n as text, in quotes");let o=BigInt(e);if(o<r[0]||o>r[1])throw new b(t,`${o} is not from ${r[0]} to ${r[1]}`);return it(s)?o:Number(o)}if(s===1||s===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new b(t,`${ke(e)} is no number`);return Number(
e)}if(s===8){if(typeof e!="boolean")throw new b(t,`${ke(e)} is not true or false`);return e}if(typeof e!="string")throw new b(t,`${ke(e)} is no text`);return s===
12?T(e,t):e}function Er(n,e,t,s){let r=jt.test(e)&&n.message(e).fields[0];if(r)return{f1:Ne(r,t,s)};switch(e){case"google.protobuf.Timestamp":return kr(t,s);case"\
google.protobuf.Duration":{let i=typeof t=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(t);if(!i)throw new b(s,'a duration is written as "1.5s"');let[,o,a="",
d=""]=i,c=Number(d.padEnd(9,"0"));return{f1:BigInt(`${o}${a}`),f2:o?-c:c}}case"google.protobuf.FieldMask":if(typeof t!="string")throw new b(s,'a mask is written\
 as "name,homeAddress.city"');return{f1:t===""?[]:t.split(",").map(i=>i.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`))};case"google.protobuf.Struct":if(!Vt(
t))throw new b(s,"a Struct is an object");return{f1:new Map(Object.entries(t).map(([i,o])=>[i,Me(o,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(t))throw new b(
s,"a ListValue is an array");return{f1:t.map(i=>Me(i,0))};case"google.protobuf.Value":return Me(t,0)}}function kr(n,e){let t=typeof n=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(n),s=t?Date.parse(`${t[1]}${t[3]?.toUpperCase()}`):NaN;if(!t||Number.isNaN(s))throw new b(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
s/1e3),f2:Number((t[2]??"").padEnd(9,"0"))}}function Me(n,e){if(e>90)throw new b("","nests too deep");let t=(s,r)=>({o0:{case:`f${s}`,value:r}});return n===null?
t(1,0):typeof n=="number"?t(2,n):typeof n=="string"?t(3,n):typeof n=="boolean"?t(4,n):Array.isArray(n)?t(6,{f1:n.map(s=>Me(s,e+1))}):t(5,{f1:new Map(Object.entries(
n).map(([s,r])=>[s,Me(r,e+1)]))})}function Te(n,e,t){let s=Nr(n,e,t);if(s!==void 0)return s;let r=M();for(let i of n.message(e).fields){let o=i.oneof===void 0?void 0:
t[Qe(i.oneof)],a=i.oneof===void 0?t[ae(i)]:o?.case===ae(i)?o.value:void 0;if(a===void 0)continue;let d=Mr(n,i,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(r[i.jsonName]=d)}return r}function Mr(n,e,t){let s=n.entry(e)?.fields[1];if(s&&t instanceof Map){let r=M();for(let[i,o]of t)r[String(i)]=st(n,s,o);
return r}return Array.isArray(t)?t.map(r=>st(n,e,r)):st(n,e,t)}function st(n,e,t){return e.kind===11?Te(n,e.type,t):e.kind===14?n.enumeration(e.type).values.find(
({number:s})=>s===t)?.name??t:t instanceof Uint8Array?B(t):typeof t=="bigint"||typeof t=="number"&&!Number.isFinite(t)?String(t):e.kind===2?Ar(t):t}function Ar(n){
for(let e=6;e<10;e++){let t=Number(n.toPrecision(e));if(Math.fround(t)===n)return t}return n}function Nr(n,e,t){let s=jt.test(e)&&n.message(e).fields[0];if(s)return st(
n,s,t.f1);switch(e){case"google.protobuf.Timestamp":{let r=Number(t.f1),i=new Date(r*1e3);return Number.isNaN(i.getTime())||r<-62135596800||r>253402300799?void 0:
`${i.toISOString().slice(0,19)}${_n(t.f2)}Z`}case"google.protobuf.Duration":{let[r,i]=[t.f1,t.f2];return`${r<0n||i<0?"-":""}${r<0n?-r:r}${_n(Math.abs(i))}s`}case"\
google.protobuf.FieldMask":return t.f1.map(r=>r.replace(/_([a-z])/g,(i,o)=>o.toUpperCase())).join(",");case"google.protobuf.Struct":return Hn(t);case"google.pro\
tobuf.ListValue":return t.f1.map(rt);case"google.protobuf.Value":return rt(t)}}function Hn(n){let e=M();for(let[t,s]of n.f1)e[t]=rt(s);return e}function rt(n){let e=n.
o0;return!e||e.case==="f1"?null:e.case==="f5"?Hn(e.value):e.case==="f6"?e.value.f1.map(rt):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var _n=n=>{let e=String(n).padStart(9,"0");return n===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function B(n){let e="";for(let t=0;t<n.length;t+=32768)e+=String.
fromCharCode(...n.subarray(t,t+32768));return btoa(e)}function T(n,e=""){try{return Uint8Array.from(atob(n.replace(/-/g,"+").replace(/_/g,"/")),t=>t.charCodeAt(
0))}catch{throw new b(e,"it is no base64")}}function de(n){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(n);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var z=n=>Array.from(n,e=>e.toString(16).padStart(2,"0")).join(" ");var $=n=>zt(JSON.stringify(n)),zt=n=>n.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
_=n=>/^[\w./:=@%+-]+$/.test(n)?n:`'${zt(n).replace(/'/g,"'\\''")}'`,Jn=n=>Object.entries(n).map(([e,t])=>[e,typeof t=="string"?t:B(t)]);function qn({method:n,requests:e,
metadata:t,timeout:s,origin:r}){let i=n.sends||n.receives,o=[i?"curl -sN":"curl",`-H 'content-type: application/${i?"connect+json":"json"}'`];s!==void 0&&o.push(
`-H ${_(`connect-timeout-ms: ${Math.round(s)}`)}`);for(let[f,u]of Jn(t))o.push(`-H ${_(`${f}: ${u}`)}`);let a=_(`${r}/${D(n)}`);if(!i)return[...o,`-d ${_($(e[0]??
{}))}`,a].join(` \\
  `);let d=e.map($);return[`printf '${d.map(f=>`\\0${Tr(new TextEncoder().encode(f).length)}%s`).join("")}' ${d.map(_).join(" ")} | ${o[0]}`,...o.slice(1),"--da\
ta-binary @-",a].join(` \\
  `)}var Tr=n=>[24,16,8,0].map(e=>`\\${(n>>>e&255).toString(8).padStart(3,"0")}`).join("");function Wn({method:n,requests:e,metadata:t,timeout:s,origin:r}){let{
host:i,protocol:o}=new URL(r),a=o==="https:"?`wss://${i}/`:i,d=[`frpc call --server ${_(a)}`,_(D(n))];for(let c of e)d.push(_($(c)));for(let[c,f]of Jn(t))d.push(
`-H ${_(`${c}=${f}`)}`);return s!==void 0&&d.push(`--deadline ${Math.round(s)}ms`),d.join(` \\
  `)}var ct=n=>n.replace(/\W/g,"_")||"_",ce=n=>ct(n).replace(/^_(?=\d)/,"-"),Vn=n=>ct(n).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),$e=n=>Vn(n).map(e=>e.toLowerCase()).join("_")||"_",K=n=>Vn(n).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"_",
ot=n=>K(n).replace(/^./,e=>e.toLowerCase()),$r=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut p\
ub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized virtual\
 yield gen".split(" ")),dt=n=>$r.has($e(n))?/^(self|super|crate)$/.test($e(n))?`${$e(n)}_`:`r#${$e(n)}`:$e(n),j=n=>zt(JSON.stringify(n)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function jn(n){let{schema:e,method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=ct(t.service.name.
split(".").pop()??""),d=s.map(m=>Gn(e,t.request,m,0)),c=dt(t.name),f=[`let client = ${a}Client::connect(${j(new URL(o).host)}).await?;`],u=d[0]??`${K(t.request)}\
::default()`;t.sends&&(f.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let p=[...i===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(i)}));`],...Object.entries(r).map(([m,h])=>typeof h=="string"?`request.metadata_mut().insert(${j(m)}, ${j(h)})?;`:`request.metadata_mut\
().insert_bin(${j(m)}, &[${[...h].join(", ")}][..])?;`)];return p.length>0&&(f.push(`let mut request = frpc::Request::new(${u});`,...p),u="request"),t.receives?
(f.push(`let mut replies = client.${c}(${u}).await?.into_inner();`),f.push(...d.slice(0,t.sends?void 0:0).map(m=>`requests.send(${m}).await?;`),...t.sends?["dro\
p(requests);"]:[]),f.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):t.sends?(f.push(`let call = client.${c}(${u});`,
"let sending = async {",...d.map(m=>`    requests.send(${m}).await?;`),"    drop(requests);","    Ok(())","};"),f.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):f.push(`let reply = client.${c}(${u}).await?.into_inner();`,'println!("{reply:?}");'),f.join(`
`)}function Xn({path:n,package:e}){let t=[...n.slice(0,-1).map(dt),K(n[n.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${t}`:t}var Gt=(n,e)=>`${"\
    ".repeat(e)}${n}`;function Gn(n,e,t,s){let r=n.message(e),i=Xn(r),o=typeof t=="object"&&t!==null&&!Array.isArray(t)?t:{},a=[],d=new Set;for(let u of r.fields){
let p=o[u.jsonName]??o[u.name];if(p==null)continue;let m=u.oneof===void 0?void 0:r.oneofs[u.oneof],h=Ir(n,r,u,p,s+1),w=m?m.name:u.name;d.add(w);let S=[...r.path.
map(dt),K(m?.name??"")].join("::");a.push(Gt(`${dt(w)}: ${m?`Some(${S}::${K(u.name)}(${h}))`:h},`,s+1))}let c=new Set(r.fields.map(u=>u.oneof===void 0?u.name:r.
oneofs[u.oneof]?.name));if(a.length===0)return`${i}${c.size===0?" {}":"::default()"}`;d.size<c.size&&a.push(Gt(`..${i}::default()`,s+1));let f=`${i} { ${a.map(u=>u.
trim().replace(/,$/,"")).join(", ")} }`;return f.length<90&&!f.includes(`
`)?f:`${i} {
${a.join(`
`)}
${Gt("}",s)}`}function Ir(n,e,t,s,r){let[i,o]=n.entry(t)?.fields??[];if(i&&o)return`HashMap::from([${Object.entries(s).map(([u,p])=>`(${i.kind===9?`${j(u)}.to_o\
wned()`:ce(u)}, ${at(n,o,p,r)})`).join(", ")}])`;if(t.isRepeated)return`vec![${s.map(c=>at(n,t,c,r)).join(", ")}]`;let a=at(n,t,s,r),d=t.kind===11&&!W(t.type)&&
zn(n,t.type,e.name,new Set)?`Box::new(${a})`:a;return t.oneof===void 0&&(t.isOptional||t.kind===11)?`Some(${d})`:d}function zn(n,e,t,s){return e===t?!0:s.has(e)?
!1:(s.add(e),n.messages.get(e)?.fields.some(r=>r.kind===11&&!r.isRepeated&&zn(n,r.type,t,s))??!1)}function at(n,e,t,s){if(e.kind===11){let[r]=n.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${j(String(t))}.parse()?`:W(e.type)&&r&&/Value$/.test(e.type)&&r.name===
"value"?at(n,r,t,s):W(e.type)?`serde_json::from_str(${j($(t))})?`:Gn(n,e.type,t,s)}if(e.kind===14){let r=n.enumeration(e.type),i=r.values.find(({name:d})=>d===t);
if(!i)return String(Number(t)|0);let o=K(r.path[r.path.length-1]??""),a=K(i.name);return`${Xn(r)}::${a.startsWith(o)&&a.length>o.length?a.slice(o.length):a}.int\
o()`}return e.kind===12?`vec![${[...T(String(t))].join(", ")}]`:e.kind===9?`${j(String(t))}.to_owned()`:e.kind===1||e.kind===2?Or(Number(t),e.kind===1?"f64":"f3\
2"):ce(String(t))}var Or=(n,e)=>Number.isFinite(n)?Number.isInteger(n)&&Math.abs(n)<1e15?n.toFixed(1):String(n):Number.isNaN(n)?`${e}::NAN`:n<0?`${e}::NEG_INFIN\
ITY`:`${e}::INFINITY`;function Kn(n){let{schema:e,method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=ct(t.service.name.split(".").pop()??""),d=s.map(m=>Zn(e,
t.request,m)),c=[...i===void 0?[]:[`timeout: ${i}`],...Object.keys(r).length===0?[]:[`metadata: { ${Object.entries(r).map(([m,h])=>`${$(m)}: ${typeof h=="string"?
$(h):Yn(h)}`).join(", ")} }`]],f=t.sends?`[${d.join(", ")}]`:d[0]??"{}",u=`client.${ot(t.name)}(${f}${c.length>0?`, { ${c.join(", ")} }`:""})`;return`${`const c\
lient = new ${a}Client(connect(${$(`${o.replace(/^http/,"ws")}/`)}));`}
${t.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var Yn=n=>`new Uint8Array([${[...n].join(", ")}])`;function Zn(n,e,t){
let s=n.message(e),r=typeof t=="object"&&t!==null&&!Array.isArray(t)?t:{},i=[];for(let o of s.fields){let a=r[o.jsonName]??r[o.name];if(a==null)continue;let d=Cr(
n,o,a),c=o.oneof===void 0?void 0:s.oneofs[o.oneof];i.push(c?`${ot(c.name)}: { case: "${ot(o.name)}", value: ${d} }`:`${ot(o.name)}: ${d}`)}return i.length>0?`{ ${i.
join(", ")} }`:"{}"}function Cr(n,e,t){let[s,r]=n.entry(e)?.fields??[];if(s&&r){let i=o=>s.kind===9?$(o):it(s.kind)?`${ce(o)}n`:ce(o);return`new Map([${Object.entries(
t).map(([o,a])=>`[${i(o)}, ${lt(n,r,a)}]`).join(", ")}])`}return e.isRepeated?`[${t.map(i=>lt(n,e,i)).join(", ")}]`:lt(n,e,t)}function lt(n,e,t){if(e.kind===14){
let s=n.enumeration(e.type);return String(s.values.find(({name:r})=>r===t)?.number??Number(t))}return e.kind===11?W(e.type)?Rr(n,e.type,t):Zn(n,e.type,t):e.kind===
12?Yn(T(String(t))):it(e.kind)?`${ce(String(t))}n`:e.kind===1||e.kind===2?String(Number(t)):$(t)}function Rr(n,e,t){let[s]=n.message(e).fields;if(e==="google.pr\
otobuf.Timestamp"&&typeof t=="string")return`{ seconds: ${BigInt(Math.floor(Date.parse(t)/1e3)||0)}n }`;if(e==="google.protobuf.Duration"&&typeof t=="string"){let[
r="0",i=""]=t.replace("s","").split(".");return`{ seconds: ${ce(r)}n, nanos: ${Number(i.padEnd(9,"0"))} }`}return s&&s.name==="value"&&!s.isRepeated?`{ value: ${lt(
n,s,t)} }`:`fromJson(${$(e)}, ${$(t)})`}var Qn=new WeakMap;function ue(n,e){return Qn.set(n,e),n}var Ie=n=>Qn.get(n)??M();var es=16<<20,Kt=n=>l("textarea",{rows:1,spellcheck:!1,...n});function Yt(n,e){let t="";try{e()}catch(s){t=s.message}n.setAttribute("aria-invalid",String(t!=="")),
n.title=t}function Zt(n){let e=k(),{kind:t}=n;if(t===8){let o=l("input",{type:"checkbox",id:e});return ue({element:o,id:e,get:()=>o.checked||void 0,set:a=>o.checked=
a===!0},!1)}if(t===9){let o=Kt({id:e});return ue({element:o,id:e,get:()=>o.value||void 0,set:a=>o.value=a===void 0?"":String(a)},"")}let s=()=>Yt(r,()=>void(r.value.
trim()&&Ne(n,i()))),r=l("input",{type:"text",id:e,className:"number",inputMode:Xt(t)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>s()}),i=()=>{
let o=r.value.trim();return Number.isSafeInteger(Number(o))&&!Lr(t)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(o)&&!Xt(t)?Number(o):o};return ue({element:r,id:e,get:()=>r.
value.trim()?Fr(i()):void 0,set(o){r.value=o==null?"":String(o),s()}},0)}var Lr=n=>n===3||n===4||n===6||n===16||n===18,Fr=n=>n===0&&!Object.is(n,-0)||n==="0"?void 0:
n;function ts(n){let e=k(),t=l("select",{id:e},...n.values.map(({name:r,number:i,docs:o})=>l("option",{value:r,title:o},`${r} = ${i}`))),[s]=n.values;return ue(
{element:t,id:e,get:()=>t.value===s?.name?void 0:t.value,set:r=>t.value=n.values.find(({name:i,number:o})=>i===r||o===r)?.name??s?.name??""},s?.name??0)}function ns(){
let n=k(),e,t=Kt({id:n,oninput:()=>p()}),s=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),r=s.value,
i=l("span",{className:"muted"}),o=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=o.files?.[0];if(h){if(h.size>es){i.textContent=`${h.
name} has more than ${es>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),i.textContent=`${h.name}, ${e.length} bytes`,t.disabled=s.disabled=!0,a.hidden=
!1,m.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>d()},"×"),d=()=>{
e=void 0,i.textContent=o.value="",t.disabled=s.disabled=!1,a.hidden=!0},c=h=>{if(h==="text")return new TextEncoder().encode(t.value);if(h==="base64")return T(t.
value.replace(/\s/g,""));let w=t.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(w))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(w.match(/../g)??[],S=>parseInt(S,16))},f=(h,w)=>{let S=w==="text"?de(h):void 0;s.value=r=w==="text"&&S===void 0?"base64":w,t.value=s.value==="text"?S??"":s.
value==="hex"?z(h):B(h),p()},u=()=>{try{f(c(r),s.value)}catch{r=s.value,p()}},p=()=>Yt(t,()=>void c(s.value)),m=l("div",{className:"bytes"},t,s,l("button",{type:"\
button",className:"quiet",onclick:()=>o.click()},"File…"),o,i,a);return ue({element:m,id:n,get(){let h=e??c(s.value);return h.length>0?B(h):void 0},set(h){d(),
f(typeof h=="string"?T(h):new Uint8Array,s.value)}},"")}function Y(n,e,t){let s=k(),r=Kt({id:s,placeholder:e,oninput:()=>Yt(r,()=>void(n==="json"&&r.value&&JSON.
parse(r.value)))}),i=t&&l("button",{type:"button",className:"quiet",onclick:()=>r.value=t.json()},t.label);return{element:l("div",{className:"free"},r,i),id:s,get:()=>r.
value.trim()?n==="json"?JSON.parse(r.value):r.value.trim():void 0,set:o=>r.value=o===void 0?"":n==="json"?JSON.stringify(o):String(o)}}var Ur=3,ft=class{constructor(e,t,s){this.schema=e;this.name=t;this.editor=os(e,t),this.element=l("div",{className:"form",oninput:s,onchange:s,onclick:s},this.editor.
element)}element;editor;get(){return this.editor.get()??M()}set(e){this.editor.set(e)}example(){this.set(rs(this.schema,this.name,[]))}};function rs(n,e,t){switch(e){case"\
google.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let s=n.message(
e),r=s.fields[0];if(W(e)&&r)return ss(n,r,t);let i=M(),o=[...t,e];for(let a of s.fields){let d=n.entry(a),c=d?.fields[1]??a,f=a.oneof===void 0||s.fields.find(h=>h.
oneof===a.oneof)===a,u=c.kind===11&&(o.includes(c.type)||o.length>Ur);if(!f||u||c.kind===10||a.isDeprecated)continue;let p=ss(n,c,o),m=d?.fields[0];m?i[a.jsonName]=
Object.assign(M(),{[m.kind===9?"key":m.kind===8?"true":"1"]:p}):i[a.jsonName]=a.isRepeated?[p]:p}return i}function ss(n,e,t){switch(e.kind){case 11:return rs(n,
e.type,t);case 14:{let{values:s}=n.enumeration(e.type);return(s.find(({number:r})=>r!==0)??s[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Dr(n,e){let t=n.entry(e),[s,r]=t?.fields??
[];return s&&r?`map<${ut(s)}, ${ut(r)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${ut(e)}`}var Br=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],ut=n=>Br[n.kind]||(n.type.split(".").pop()??"");function fe(n,e){
return e.kind===14?ts(n.enumeration(e.type)):e.kind===12?ns():e.kind!==11?Zt(e):_r(n,e.type)}function _r(n,e){switch(e){case"google.protobuf.Timestamp":return Y(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Y("text","1.5s");case"google.protobuf.Field\
Mask":return Y("text","name,homeAddress.city");case"google.protobuf.Struct":return Y("json",'{ "key": "value" }');case"google.protobuf.Value":return Y("json","a\
ny JSON");case"google.protobuf.ListValue":return Y("json","[1, 2]")}let t=W(e)?n.message(e).fields[0]:void 0;if(!t)return os(n,e);let s=fe(n,t);return{...s,get:()=>s.
get()??is(t)}}var is=n=>n.kind===8?!1:n.kind===9||n.kind===12?"":0;function os(n,e){let t=n.message(e),s=[],r=l("div",{className:"fields"}),i=new Set;for(let o of t.
fields){if(o.oneof!==void 0){if(i.has(o.oneof))continue;i.add(o.oneof);let d=Wr(n,t,o.oneof);r.append(d.element),s.push({editor:d,names:[],put:c=>Object.assign(
c,d.get()),take:c=>d.set(c)});continue}let a=Pr(n,o);r.append(as(o.name,Dr(n,o),o.docs,a,o.isDeprecated)),s.push({editor:a,names:[o.jsonName],put:d=>{let c=a.get();
c!==void 0&&(d[o.jsonName]=c)},take:d=>a.set(d[o.jsonName]??d[o.name])})}return t.fields.length===0&&r.append(l("p",{className:"muted"},`${e} has no fields.`)),
{element:r,get(){let o=M();for(let{put:a}of s)a(o);return o},set(o){let a=typeof o=="object"&&o!==null&&!Array.isArray(o)?o:M();for(let{take:d}of s)d(a)}}}function as(n,e,t,s,r){
let i=s.id?l("label",{htmlFor:s.id,className:"name"},n):l("span",{className:"name"},n);return s.id||(s.element.setAttribute("role","group"),s.element.setAttribute(
"aria-label",n)),l("div",{className:"row"},l("div",{className:"about"},i,l("span",{className:"type"},e),r&&l("span",{className:"tag"},"deprecated")),l("div",{className:"\
value"},s.element,t&&l("p",{className:"docs"},t)))}function Pr(n,e){let t=n.entry(e);return t?qr(n,t):e.isRepeated?Jr(()=>fe(n,e)):e.isOptional||e.kind===11?Hr(
()=>fe(n,e),()=>e.kind===11?M():is(e)):fe(n,e)}function Hr(n,e){let t=k(),s,r=l("input",{type:"checkbox",id:t,"aria-label":"set",onchange:()=>a(r.checked)}),i=l(
"div",{className:"inside"}),o=l("div",{className:"presence"},r,i),a=d=>{r.checked=d,d?y(i,(s??=n()).element):y(i,l("span",{className:"muted"},"not set"))};return a(
!1),{element:o,get:()=>r.checked?s?.get()??e():void 0,set(d){a(d!=null),r.checked&&s?.set(d)}}}var ls=n=>l("button",{type:"button",className:"icon","aria-label":"\
Remove",title:"Remove",onclick:n},"×");function Jr(n){let e=[],t=l("div",{className:"items"}),s=i=>{let o=n();i!==void 0&&o.set(i),e.push(o);let a=l("div",{className:"\
item"},o.element,ls(()=>{e=e.filter(d=>d!==o),a.remove()}));return t.append(a),o},r=l("button",{type:"button",className:"quiet",onclick:()=>ds(s().element)},"Ad\
d");return{element:l("div",{className:"list"},t,r),get:()=>e.length>0?e.map(i=>i.get()??Ie(i)):void 0,set(i){e=[],y(t);for(let o of Array.isArray(i)?i:[])s(o)}}}
var ds=n=>(n.matches("input, textarea, select")?n:n.querySelector("input, textarea, select"))?.focus();function qr(n,e){let[t,s]=e.fields;if(!t||!s)throw new Error(
`${e.name} is no entry of a map`);let r=[],i=l("div",{className:"items"}),o=(d,c)=>{let f={key:Zt({...t,kind:t.kind===8?9:t.kind}),value:fe(n,s)};f.key.element.
classList.add("key"),f.key.element.setAttribute("aria-label","key"),d!==void 0&&f.key.set(d),c!==void 0&&f.value.set(c),r.push(f);let u=l("div",{className:"item"},
f.key.element,f.value.element,ls(()=>{r=r.filter(p=>p!==f),u.remove()}));return i.append(u),f.key},a=l("button",{type:"button",className:"quiet",onclick:()=>ds(
o().element)},"Add");return{element:l("div",{className:"list"},i,a),get(){if(r.length===0)return;let d=M();for(let{key:c,value:f}of r)d[String(c.get()??Ie(c))]=
f.get()??Ie(f);return d},set(d){if(r=[],y(i),typeof d=="object"&&d!==null)for(let[c,f]of Object.entries(d))o(c,f)}}}function Wr(n,e,t){let s=e.fields.filter(p=>p.
oneof===t),r=k(),i=l("div",{className:"inside"}),o=new Map,a=l("select",{id:r,onchange:()=>d(a.value)},l("option",{value:""},"not set"),...s.map(p=>l("option",{
value:p.jsonName},`${p.name}: ${ut(p)}`))),d=p=>{a.value=p;let m=s.find(w=>w.jsonName===p);if(!m)return void y(i);let h=o.get(p)??fe(n,m);return o.set(p,h),h.id&&
document.getElementById(h.id)?.setAttribute("aria-label",m.name),y(i,h.element,m.docs&&l("p",{className:"docs"},m.docs)),h},{name:c,docs:f}=e.oneofs[t]??{name:"\
oneof",docs:""},u={element:l("div",{className:"oneof"},a,i),id:r,get:()=>{},set(){}};return{element:as(c,"oneof",f,u,!1),get(){let p=o.get(a.value);return a.value&&
p?Object.assign(M(),{[a.value]:p.get()??Ie(p)}):M()},set(p){let m=p,h=s.find(w=>(m[w.jsonName]??m[w.name])!==void 0);d(h?.jsonName??"")?.set(h&&(m[h.jsonName]??
m[h.name]))}}}var pe=class{constructor(e){this.changed=e;let t=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"\
list metadata",oninput:e},this.rows,t)}element;rows=l("div",{className:"items"});get(){let e={};for(let t of this.rows.children){let[s="",r=""]=[...t.querySelectorAll(
"input")].map(o=>o.value),i=s.trim().toLowerCase();i&&(e[i]=i.endsWith("-bin")?T(r,i):r)}return e}set(e){y(this.rows);for(let[t,s]of Object.entries(e))this.add(
t,typeof s=="string"?s:B(s))}add(e,t){let s=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),r=l("input",{
type:"text",value:t,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),i=l("div",{className:"item"},s,r,l("butto\
n",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{i.remove(),this.changed()}},"×"));return this.rows.append(i),s}},Qt=n=>l("dl",{className:"\
pairs"},...Object.entries(n).flatMap(([e,t])=>[l("dt",{},e),l("dd",{},typeof t=="string"?t:B(t))]));var en=1e5,Vr=90;function cs(n,e){let t=l("div",{className:"status",role:"status"}),s=l("div",{}),r=l("ol",{className:"log","aria-label":"Messages"}),{method:i}=e,
o=i.sends||i.receives;o||r.classList.add("one");let a=0;return y(n,t,s,r),()=>{y(t,...jr(e)),y(s,e.isOver&&e.status&&Xr(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),Qt(e.metadata)));let d=r.scrollHeight-r.scrollTop-r.clientHeight<40,c=Math.max(0,a-e.dropped),f=e.messages.
length-c;for(;r.childElementCount>0&&r.childElementCount+f>e.messages.length;)r.firstElementChild?.remove();for(let u of e.messages.slice(c))(o||!u.isSent)&&r.append(
zr(u,o));a=e.dropped+e.messages.length,d&&(r.scrollTop=r.scrollHeight)}}function jr(n){let{sent:e,received:t,method:s}=n,i=[s.sends&&`${e} sent`,(s.sends||s.receives)&&
`${t} received`,n.waiting>0&&s.sends&&`${n.waiting} waiting`,n.dropped>0&&`${n.dropped} not kept`].filter(a=>!!a).join(", ");if(!n.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},i)];let o=n.status?.code??0;return[l("span",{className:o===0?"badge ok":"badge failed"},`${tt(o)}${o===
0?"":` ${o}`}`),l("span",{className:"muted"},L(n.took),i&&`, ${i}`)]}function Xr({status:n}){let e=n?.details??new Uint8Array;return l("div",{className:"block f\
ailure"},l("p",{},n?.message??""),l("p",{className:"muted"},n?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byte\
s`),e.length>0&&l("pre",{className:"code"},de(e)??z(e.subarray(0,4096))),n&&Object.keys(n.metadata).length>0&&l("h3",{},"Metadata"),n&&Object.keys(n.metadata).length>
0&&Qt(n.metadata))}function Gr(n){let e=n.replace(/\n\s*/g," ");return e.length<=Vr?e:n}function zr(n,e){let t=e?Gr(n.json):n.json,s=l("pre",{className:"code",tabIndex:0},
Fe(t.slice(0,en)),t.length>en&&`
… ${t.length-en} characters more`);return l("li",{className:n.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${n.isSent?
"↑":"↓"} ${n.number}`,e&&` · ${L(n.at)}`),l("span",{className:"grow"}),ee(()=>t)),s)}var Kr=500,Yr=16<<20,pt=class{constructor(e,t,s,r,i){this.catalog=t;this.method=s;this.terms=r;this.changed=i;this.run(e)}messages=[];dropped=0;sent=0;received=0;metadata;status;isOver=!1;began=performance.
now();beganAt=Date.now();took=0;chars=0;stop=new AbortController;outgoing=new tn;send(e,t){this.tell(!0,e),this.outgoing.push(t),this.method.sends||this.outgoing.
end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){return this.outgoing.length}cancel(){this.stop.abort()}async run(e){
let{method:t,terms:s}=this;try{let{service:r,method:i}=t.callable(),o={signal:this.stop.signal,metadata:{...e.metadata,...s.metadata},onMetadata:a=>this.metadata=
a,...s.timeout!==void 0&&{timeout:s.timeout}};if(t.sends||t.receives)for await(let a of e.channel.twoWay(r,i,this.outgoing,o))this.reply(a);else{let{value:a}=await this.
outgoing.next();this.reply(await e.channel.unary(r,i,a,o))}}catch(r){this.status=v.from(r)}this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),
this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Te(this.catalog.schema,this.method.response,e),void 0,2))}tell(e,t){let s=e?++this.sent:++this.received;
for(this.messages.push({isSent:e,at:performance.now()-this.began,number:s,json:t}),this.chars+=t.length;this.messages.length>Kr||this.chars>Yr&&this.messages.length>
1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},tn=class{isEnded=!1;waiting=[];wake;get length(){return this.waiting.length}[Symbol.
asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)
return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(t=>this.wake=t)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Zr=["Form","JSON","Copy as"],us={curl:qn,frpc:Wn,Rust:jn,TypeScript:Kn};function nn({sends:n,receives:e}){return n?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var mt=class{constructor(e,t,s,r){this.server=e;this.catalog=t;this.method=
s;this.records=r;let i="";try{s.callable(),this.form=new ft(t.schema,s.request,()=>this.note("")),this.form.example()}catch(o){i=o.message}this.element=l("artic\
le",{className:"method"},this.header(),i?l("p",{className:"notice"},`This method cannot be called here: ${i}.`):l("div",{className:"panes"},this.request(),this.
output)),i||(this.tabs.select("Form"),this.act(),y(this.output,l("p",{className:"empty"},"Nothing has been called yet.")))}element;form;json=l("textarea",{className:"\
code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});metadata=new pe(()=>this.note(""));timeout=l("input",{type:"text",id:k(),className:"\
number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});problem=l("p",{className:"problem",role:"alert"});body=l("div",{className:"request-body"});actions=l(
"div",{className:"actions"});output=l("section",{className:"pane response","aria-label":"Response"});tabs=bt(Zr,"Request",e=>this.show(e));tab="Form";command="c\
url";run;drawn;pending;send(){this.attempt(()=>{let e=this.text(),t=this.run&&!this.run.isOver;if(t&&!this.method.sends)return;let s=Ae(this.catalog.schema,this.
method.request,V(e));t||this.begin(),this.run?.send(e,s)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.run!==void 0&&
!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:t,timeout:s}){e!==void 0&&(this.
json.value=e,this.attempt(()=>this.form?.set(V(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(t),this.timeout.value=s===void 0?"":String(
s)}header(){let{method:e}=this,t=nn(e),s=r=>l("span",{className:"tag"},r);return l("header",{className:"title"},l("h1",{},l("span",{className:"of"},`${e.service.
name}/`),e.name),l("p",{className:"tags"},s(t.name),e.idempotency&&s(e.idempotency),e.isDeprecated&&s("deprecated"),l("span",{className:"muted"},`${e.sends?"str\
eam ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){let e=(s,r)=>l(
"button",{type:"button",className:"quiet",onclick:r},s),t=s=>{s===void 0?this.form?.example():this.form?.set(s),this.json.value=this.formText(),this.tabs.select(
this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.element,l(
"span",{className:"grow"}),e("Example",()=>t()),e("Clear",()=>t({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),this.metadata.
element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"value unit"},
this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.json.value.
trim()||"{}":this.formText()}show(e){let t=this.tab;this.attempt(()=>{e==="JSON"&&t!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&t==="JSON"&&this.form?.
set(V(this.json.value))}),this.tab=e,e==="Form"?y(this.body,this.form?.element):e==="JSON"?y(this.body,this.json):this.attempt(()=>y(this.body,this.commands()))}commands(){
let e=l("pre",{className:"code",tabIndex:0}),{method:t}=this,s=this.run?.messages.filter(a=>a.isSent).map(a=>V(a.json)),r=t.sends&&s&&s.length>0?s:[V(this.formText())],
i={schema:this.catalog.schema,method:t,requests:r,origin:location.origin,...this.terms()},o=bt(Object.keys(us),"Copy as",a=>{this.command=a,e.textContent=us[this.
command](i)});return o.select(this.command),l("div",{className:"commands"},l("div",{className:"bar"},o.element,l("span",{className:"grow"}),ee(()=>e.textContent??
"")),e)}terms(){let e=this.timeout.value.trim(),t=e===""?void 0:Number(e);if(t!==void 0&&!(t>=0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);
return{metadata:this.metadata.get(),timeout:t}}begin(){let e=new pt(this.server,this.catalog,this.method,this.terms(),t=>this.changed(t));this.run=e,this.drawn=
{run:e,draw:cs(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let t=e.messages.filter(s=>s.isSent);this.records.add({path:D(this.method),
beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:t[t.length-1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.
draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:t}=this,
s=t!==void 0&&!t.isOver,r=d=>l("kbd",{},d),i=`${s},${t?.hasEnded}`;if(this.actions.dataset.state===i)return;this.actions.dataset.state=i;let o=this.actions.contains(
document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:s&&t.hasEnded,onclick:()=>this.send()},s?"Send":"Open and send",r("Ctrl\
 ↵")):l("button",{type:"button",className:"primary",disabled:s,onclick:()=>this.send()},"Call",r("Ctrl ↵"));y(this.actions,a,e.sends&&!s&&l("button",{type:"\
button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&s&&l("button",{type:"button",disabled:t.hasEnded,onclick:()=>this.end()},"End",r("Ctrl ⇧ ↵")),
s&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",r("Esc"))),o&&[...this.actions.querySelectorAll("button")].find(d=>!d.disabled)?.focus()}attempt(e){
this.note("");try{e()}catch(t){this.note(t.message)}}note(e){this.problem.textContent!==e&&(this.problem.textContent=e)}};var rn=12e4,sn=2e3,[me,Z,Q,Ce]=[480,120,44,16];function fs(n){let e=R("svg",{viewBox:`0 0 ${me} ${Z}`,class:"plot",role:"img","aria-label":n});for(let[t,s]of[[0,
"2 min ago"],[.5,"1 min"],[1,"now"]]){let r=R("text",{x:Q+(me-Q)*t,y:Z-3,"text-anchor":t===0?"start":t===1?"end":"middle"});r.textContent=s,e.append(r)}return e}
function ps(n,e,t){let s=R("text",{x:Q-6,y:e+3.5,"text-anchor":"end"});s.textContent=t,n.append(R("line",{x1:Q,x2:me,y1:e,y2:e,class:"grid"}),s)}var Oe=Z-Ce-8;function ms(n,e){
let t=fs("Calls and errors in the last two minutes"),s=rn/sn,r=Array.from({length:s},()=>({ok:0,failed:0})),i=Math.floor(e/sn);for(let{beganAt:d,took:c,code:f}of n){
let u=r[s-1-(i-Math.floor((d+c)/sn))];u&&u[f===0?"ok":"failed"]++}let o=Math.max(4,...r.map(({ok:d,failed:c})=>d+c));for(let d of[0,.5,1])ps(t,Z-Ce-Oe*d,String(
Math.round(o*d)));let a=(me-Q)/s;return r.forEach(({ok:d,failed:c},f)=>{let u=(p,m,h)=>{m>0&&t.append(R("rect",{x:Q+f*a+.75,width:a-1.5,y:Z-Ce-(p+m)/o*Oe,height:m/
o*Oe,class:h}))};u(0,c,"failed"),u(c,d,"ok")}),t}function hs(n,e){let t=fs("Latencies in the last two minutes"),s=n.filter(({beganAt:a,took:d})=>e-a-d<rn),r=s.map(
({took:a})=>Math.log10(Math.max(a,.01))),i=Math.floor(Math.min(0,...r)),o=Math.ceil(Math.max(2,...r));for(let a=i;a<=o;a++)ps(t,Z-Ce-Oe*(a-i)/(o-i),a<3?`${10**a}\
 ms`:`${10**(a-3)} s`);return s.forEach(({beganAt:a,took:d,code:c},f)=>{let u=me-(me-Q)*(e-a-d)/rn,p=Z-Ce-Oe*((r[f]??0)-i)/(o-i);t.append(R("circle",{cx:u,cy:p,
r:2.5,class:c===0?"ok":"failed"}))}),t}function ys(n){let e=n.slice(-40),t=R("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),s=Math.max(.01,...e.
map(({took:r})=>r));return e.forEach(({took:r,code:i},o)=>{let a=Math.max(1.5,r/s*20);t.append(R("rect",{x:o*3,width:2,y:20-a,height:a,class:i===0?"ok":"failed"}))}),
t}var Qr=1e3,ht=class{constructor(e,t,s,r,i){this.server=e;this.records=t;this.catalog=s;this.open=r;let o=new pe(()=>{this.problem.textContent="";try{e.metadata=
o.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"overview"},l("header",{className:"title"},l("h1",{},location.host),this.
facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metad\
ata of every call"),l("p",{className:"muted"},"Such as a token. It is kept until the page is closed."),o.element,this.problem,l("button",{type:"button",onclick:i},
"Ask for the schema again"))),setInterval(()=>this.draw(),Qr)}element;facts=l("dl",{className:"facts"});plots=l("div",{className:"plots"});methods=l("div",{className:"\
scroll"});history=l("div",{});problem=l("p",{className:"problem",role:"alert"});drawnOf=-1;draw(){if(!this.element.isConnected||document.hidden)return;let{server:{
wire:e,traffic:t},records:s}=this,r=this.catalog(),i=r?.services.reduce((c,f)=>c+f.methods.length,0)??0,o=[["connection",e==="open"?`open since ${te(t.since)}`:
e],["connections made",String(t.connections)],["sent",gs(t.sent)],["received",gs(t.received)],["services",r?`${r.services.length}, with ${i} methods`:"unknown"]];
y(this.facts,...o.map(([c,f])=>l("div",{},l("dt",{},c),l("dd",{},f))));let a=Date.now();y(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds,\
 ",l("span",{className:"failed"},"errors")," below"),ms(s.all,a)),l("figure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),hs(s.all,a)));
let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.drawnOf&&(this.drawnOf=d,y(this.methods,s.all.length>0&&this.table()),y(this.
history,nt(s.all,this.open,!1)))}table(){let e=t=>l("td",{className:"count"},t);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","\
p95","longest","the last calls"].map((t,s)=>l("th",{scope:"col",className:s>0&&s<6?"count":""},t)))),l("tbody",{},...this.records.totals().map(({path:t,calls:s,
errors:r,p50:i,p95:o,max:a,last:d})=>{let c=l("a",{href:`#/${t}`},t);return l("tr",{},l("td",{},c),e(String(s)),l("td",{className:r>0?"count failed":"count"},String(
r)),e(L(i)),e(L(o)),e(L(a)),l("td",{},ys(d)))})))}};function gs(n){return n<1e4?`${n} B`:n<1e7?`${(n/1e3).toFixed(1)} kB`:`${(n/1e6).toFixed(1)} MB`}var vs=500,bs=2e4,yt=class{constructor(e){this.server=e;let t=l("input",{type:"text",id:k(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"\
off"}),s=l("input",{type:"text",id:k(),placeholder:"orders.1.created",spellcheck:!1,autocomplete:"off"}),r=l("textarea",{id:k(),rows:3,spellcheck:!1}),i=this.typed(
"written as"),o=(a,d,...c)=>l("form",{className:a,onsubmit:f=>{f.preventDefault(),this.problem.textContent="",d().catch(u=>this.problem.textContent=u.message)}},
...c);this.element=l("article",{className:"topics"},l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"What the broker of this server \
publishes. A pattern has * for one part, and > for all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publ\
ish"},l("h2",{},"Watch"),o("inline short",()=>this.watch(t.value.trim()),l("label",{htmlFor:t.id},"Pattern"),t,l("button",{type:"submit",className:"primary"},"W\
atch")),this.list,l("h2",{},"Publish"),o("inline",()=>this.publish(s.value.trim(),r.value,i.value),l("label",{htmlFor:s.id},"Topic"),s,l("label",{htmlFor:r.id},
"Payload"),r,i,l("button",{type:"submit",className:"primary"},"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"\
bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.as,l("button",{type:"button",className:"quiet",onclick:()=>y(this.log)},"Clear")),this.log)))}element;watches=new Map;list=l(
"div",{className:"watches"});log=l("ol",{className:"log","aria-label":"Messages"});problem=l("p",{className:"problem",role:"alert"});types=l("datalist",{id:k()});as=this.
typed("shown as");schema;waiting=[];pending;count=0;know(e){this.schema={catalog:e,tables:new oe(e.schema)},y(this.types,...["text","base64","hex",...[...e.schema.
messages.values()].filter(({isEntry:t})=>!t).map(({name:t})=>t)].map(t=>l("option",{value:t})))}typed(e){return l("input",{type:"text",list:this.types.id,value:"\
text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){if(!e||this.watches.has(e))return;
let t=await this.server.topics.subscribe(e);this.watches.set(e,t);let s=l("span",{className:"watch"},l("code",{},e),l("button",{type:"button",className:"icon","\
aria-label":`Watch ${e} no longer`,onclick:()=>void t.return?.()},"×"));this.list.append(s),(async()=>{try{for await(let r of t)this.arrived(r)}catch(r){this.problem.
textContent=`${e}: ${r.message}`}this.watches.delete(e),s.remove()})()}async publish(e,t,s){if(!e)throw new Error("a message has a topic");let r=t;s==="base64"?
r=T(t.replace(/\s/g,"")):s==="hex"?r=Uint8Array.from(t.match(/[\da-f]{2}/gi)??[],i=>parseInt(i,16)):s!=="text"&&this.schema&&(r=kt(this.schema.tables.of(s),Ae(this.
schema.catalog.schema,s,V(t)))),await this.server.topics.publish(e,r)}arrived(e){this.waiting.push(e),this.waiting.length>vs&&this.waiting.shift(),this.count++,
this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.log.clientHeight<40;for(let{topic:t,
payload:s,lagged:r}of this.waiting){r>0&&this.log.append(l("li",{className:"muted"},`${r} messages were lost here, since this page did not take them in time`));
let i=this.text(s);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},t),l("span",{className:"muted"},`${s.length}\
 bytes · ${te(Date.now())}`),l("span",{className:"grow"}),ee(()=>i)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(i)?Fe(i):i)))}for(this.waiting=[];this.
log.childElementCount>vs;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let t=this.as.value.trim();try{if(this.schema?.
catalog.schema.messages.has(t))return JSON.stringify(Te(this.schema.catalog.schema,t,Mt(this.schema.tables.of(t),e)),void 0,2)}catch(r){return`not a valid ${t}:\
 ${r.message}
${z(e.subarray(0,bs))}`}let s=e.subarray(0,bs);return(t==="hex"?void 0:de(s))??z(s)}};var ei=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[ws,on,xs,Re,ln]=[I("services"),I("main"),I("state"),I("filter"),I("keys")],P=new et(`${location.origin.replace(/^http/,"ws")}/`,
()=>ti()),vt=new Ue,gt=new Map,Es=new yt(P),H,Le="",Ss=!1,J,an=0,dn=new ht(P,vt,()=>H,n=>As(n),()=>void ks(!0));async function ks(n){let e=++an,t=n?void 0:H;try{
let s=await P.catalog(t);if(e!==an)return;if(Le="",s){H=s;for(let[r,i]of gt)i.isBusy||gt.delete(r);Es.know(s)}}catch(s){if(e!==an)return;Le=s.message}cn(),un(),
Ss=await P.hasBroker(),I("to-topics").hidden=!Ss}function ti(){xs.textContent=P.wire==="open"?"connected":P.wire==="lost"?"connection lost":"connecting",xs.className=
`state ${P.wire}`,P.wire==="open"&&setTimeout(()=>void ks(!1))}function cn(){let n=Re.value.trim().toLowerCase().split(/\s+/),e=i=>n.every(o=>D(i).toLowerCase().
includes(o)),t=decodeURIComponent(location.hash.slice(2)),s=(H?.services??[]).map(i=>({service:i,methods:i.methods.filter(e)})).filter(({methods:i})=>i.length>0),
r=i=>/^(frpc|grpc)\./.test(i);s.sort((i,o)=>Number(r(i.service.name))-Number(r(o.service.name))),y(ws,...s.map(({service:i,methods:o})=>l("details",{open:!r(i.name)||
Re.value!==""||t.startsWith(`${i.name}/`)},l("summary",{title:i.docs},l("span",{},i.name.includes(".")&&l("span",{className:"of"},i.name.slice(0,i.name.lastIndexOf(
"."))),i.name.slice(i.name.lastIndexOf(".")+1))),l("ul",{},...o.map(d=>{let c=D(d),f=nn(d),u=l("a",{href:`#/${encodeURI(c)}`,title:d.docs,className:d.isDeprecated?
"deprecated":""},d.name,l("span",{className:"sign",title:f.name,"aria-label":f.name,role:"img"},f.sign));return c===t&&u.setAttribute("aria-current","page"),l("\
li",{},u)}))))),s.length===0&&y(ws,l("p",{className:"empty"},H?"No method has this name.":Le?"No services.":"Asking the server…"))}function un(){let n=decodeURIComponent(
location.hash.slice(2));for(let t of document.querySelectorAll("nav a"))decodeURIComponent(t.hash.slice(2))===n?t.setAttribute("aria-current","page"):t.removeAttribute(
"aria-current");document.body.classList.remove("listing"),J=void 0;let e=H?.services.flatMap(t=>t.methods).find(t=>D(t)===n);if(document.title=e?`${e.name} · fr\
pc console`:`${location.host} · frpc console`,n==="topics")y(on,Es.element);else if(e&&H)J=gt.get(n)??new mt(P,H,e,vt),gt.set(n,J),y(on,J.element,si(n));else{let t=n&&
H?`The server shows no method ${n}.`:"";y(on,Le&&ni(),t&&l("p",{className:"notice"},t),dn.element),dn.draw()}}function ni(){return l("div",{className:"notice"},
l("p",{},`The schema of the server could not be had: ${Le}.`),l("p",{className:"muted"},"The console needs a server with Reflection::new() of frpc-reflection. I\
f its middleware asks for metadata, such as a token, give it below and ask again."))}function si(n){let e=l("div",{}),t=()=>y(e,nt(vt.all.filter(s=>s.path===n),
As,!0));return t(),Ms=t,l("section",{className:"past"},l("h2",{},"History"),e)}var Ms=()=>{};vt.listen(()=>{Ms(),dn.draw()});function As(n){location.hash===`#/${encodeURI(
n.path)}`?J?.restore(n):(location.hash=`#/${encodeURI(n.path)}`,addEventListener("hashchange",()=>J?.restore(n),{once:!0}))}function ri(n){let e=[...document.querySelectorAll(
"nav a, nav summary")].filter(s=>s.offsetParent!==null),t=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,t+n))]?.focus()}addEventListener("k\
eydown",n=>{let e=n.target,t=e.matches("input, textarea, select"),s=n.ctrlKey||n.metaKey;if(n.key==="Enter"&&s)n.shiftKey?J?.end():J?.send();else if(n.key==="Es\
cape"&&!ln.open){if(!J?.cancel())return}else if(n.key==="/"&&!t)Re.focus();else if(n.key==="?"&&!t)ln.showModal();else if((n.key==="ArrowDown"||n.key==="ArrowUp")&&
e.closest("nav")&&!e.matches("select"))ri(n.key==="ArrowDown"?1:-1);else return;n.preventDefault()});addEventListener("hashchange",un);Re.addEventListener("inpu\
t",cn);I("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains("listing")&&Re.focus()});I("help").addEventListener(
"click",()=>ln.showModal());y(I("key-list"),...ei.flatMap(([n,e])=>[l("dt",{},...n.split(" ").map(t=>l("kbd",{},t))),l("dd",{},e)]));cn();un();})();
