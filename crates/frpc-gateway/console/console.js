"use strict";(()=>{function l(n,e={},...t){let s=document.createElement(n);for(let[r,i]of Object.entries(e))i!==void 0&&(r.startsWith("on")?s.addEventListener(r.slice(2),i):r.includes(
"-")||r==="role"||r==="list"?s.setAttribute(r,String(i)):s[r]=i);return kn(s,...t),s}function kn(n,...e){for(let t of e)t!==!1&&t!==void 0&&n.append(typeof t=="\
number"?String(t):t)}function y(n,...e){n.replaceChildren(),kn(n,...e)}function A(n,e,...t){let s=document.createElementNS("http://www.w3.org/2000/svg",n);for(let[
r,i]of Object.entries(e))s.setAttribute(r,String(i));return s.append(...t),s}function R(n){let e=document.getElementById(n);if(!e)throw new Error(`the page has \
no ${n}`);return e}var Ks=0,M=()=>`e${++Ks}`;function kt(n,e,t){let s=n.map(o=>l("button",{type:"button",role:"tab",onclick:()=>r(o)},o)),r=o=>{for(let a of s){
let c=a.textContent===o;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}t(o)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:o=>{let a=o.key==="ArrowRight"?1:o.key==="ArrowLeft"?-1:0;if(a===0)return;let c=s[(s.indexOf(o.target)+a+s.length)%s.length];c?.focus(),c?.click(),o.preventDefault()}},
...s),select:r}}function re(n){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(n()).then(()=>"Copied",()=>"\
Select and copy").then(t=>{e.textContent=t,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function _e(n){let e=document.createDocumentFragment();
if(n.length>5e4)return e.append(n),e;let t=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,s=0;for(let r of n.matchAll(t)){let[i,o,a]=r;
e.append(n.slice(s,r.index)),s=r.index+i.length;let c=o===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},o??i),a??"")}return e.
append(n.slice(s)),e}var qe=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let t=this.counts.get(e.path)??{calls:0,errors:0};t.calls++,e.code!==0&&t.errors++,this.counts.set(e.path,
t);for(let s of this.listeners)s()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:t,errors:s}])=>{let r=this.all.filter(a=>a.path===
e),i=r.map(({took:a})=>a).sort((a,c)=>a-c),o=a=>i[Math.min(i.length-1,Math.floor(i.length*a))]??0;return{path:e,calls:t,errors:s,p50:o(.5),p95:o(.95),max:o(1),last:r}})}};
function $(n){return n>=1e4?`${(n/1e3).toFixed(1)} s`:`${n>=100?n.toFixed(0):n>=10?n.toFixed(1):n.toFixed(2)} ms`}var ie=n=>new Date(n).toTimeString().slice(0,8);var Ys=new TextEncoder,Zs=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Mt=40,Se=new DataView(new ArrayBuffer(8)),g=class extends Error{},He=()=>{throw new g(
"it is cut off")},C=n=>Ys.encode(n),F=class n{constructor(e=256){this.at=0;this.bytes=new Uint8Array(e)}room(e){let t=this.at+e;if(t>this.bytes.length){let s=new Uint8Array(
Math.max(t,this.bytes.length*2));s.set(this.bytes.subarray(0,this.at)),this.bytes=s}}byte(e){this.at===this.bytes.length&&this.room(1),this.bytes[this.at++]=e}half(e){
this.byte(e>>8),this.byte(e)}varint(e){for(;e>127;e=Math.floor(e/128))this.byte(e|128);this.byte(e)}raw(e){this.room(e.length),this.bytes.set(e,this.at),this.at+=
e.length}sized(e){this.varint(e.length),this.raw(e)}item(e,t){let s=new n(64);t?.(s),this.byte(e),this.sized(s.done())}text(e){let{at:t}=this,{length:s}=e,r=0;if(s<=
Mt){this.room(s+1),this.byte(s);for(let i=0;i<s&&r<128;i++)this.byte(r=e.charCodeAt(i))}(s>Mt||r>127)&&(this.at=t,this.sized(C(e)))}done(){return this.bytes.subarray(
0,this.at)}},x=class{constructor(e){this.bytes=e;this.at=0}get left(){return this.bytes.length-this.at}get next(){return this.bytes[this.at]}byte(){let{next:e}=this;
return e===void 0&&He(),this.at++,e}varint(e=5){let t=0;for(let s=1;e-- >0;s*=128){let r=this.byte();if(r<128)return t+r*s;t+=(r-128)*s}throw new g("a number is\
 too long")}view(e=this.varint()){return e>this.left&&He(),this.bytes.subarray(this.at,this.at+=e)}rest(){return this.bytes.slice(this.at)}text(e=this.varint()){
let{bytes:t,at:s}=this,r="",i=0;if(e<=Mt)for(let o;i<e&&(o=t[s+i])<128;i++)r+=String.fromCharCode(o);if(i<e){let o=this.view(e);try{return Zs.decode(o)}catch{throw new g(
"a text is not UTF-8")}}return this.at+=e,r}};var Je={OK:0,CANCELLED:1,UNKNOWN:2,INVALID_ARGUMENT:3,DEADLINE_EXCEEDED:4,NOT_FOUND:5,ALREADY_EXISTS:6,PERMISSION_DENIED:7,RESOURCE_EXHAUSTED:8,FAILED_PRECONDITION:9,
ABORTED:10,OUT_OF_RANGE:11,UNIMPLEMENTED:12,INTERNAL:13,UNAVAILABLE:14,DATA_LOSS:15,UNAUTHENTICATED:16};var v=class n extends Error{constructor(t,s,{details:r=new Uint8Array,metadata:i={},mayHaveRun:o=!0,cause:a}={}){super(s,{cause:a});this.code=t;this.name="Statu\
s";this.details=r,this.metadata=i,this.mayHaveRun=o}static from(t){return t instanceof n?t:new n(2,t instanceof Error?t.message:String(t),{cause:t})}},k=(n,e)=>new v(
n,e,{mayHaveRun:!1}),We=n=>n>0&&n<=16?n:2,oe=(n=!0)=>new v(1,"the caller gave the call up",{mayHaveRun:n}),Ve=(n=!0)=>new v(4,"no answer before the deadline",{mayHaveRun:n});var ke=100,Qs=64<<20,er=12,$t=8,Tt=56,b=(n,e,t)=>new Nt(n,e,t);function At(n,e){let t=new F;return Me(t,n,e),t.done()}var Ct=(n,e)=>Ne(new x(e),n,0),Me=(n,e,t)=>An(
n,e,t,ke);function Ne(n,e,t){let s={depth:ke,memory:Math.max(Qs,n.left*er),missing:t};return Cn(n,e,s)??Rn(e,{})}var Nt=class n{constructor(e,t,s){this.name=e;this.
spec=t;this.refs=s}get fields(){if(this.known)return this.known;let e=this.refs?.()??[],t={},s=0;return this.known=(this.spec&&this.spec.split(" ")||[]).map(r=>{
let[,i,o,a,c,d,p]=/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)$/.exec(r),u=p==="e"||p==="m"?e[s++]:void 0,m=u instanceof n?tr(u):u?ir(u):$n[p],f=c==="?"?nr(m):c===
"*"?sr(m):c?rr($n[d],m):m;if(!o)return Mn(f,i);let h=t[o]??=[],S={...m,case:i,number:+a,all:h};return h.push(S),Mn({...m,zero(){}},o,S)})}},Mn=({kind:n,least:e,
zero:t,put:s,take:r},i,o)=>({kind:n,least:e,zero:t,put:s,take:r,name:i,member:o});function An(n,e,t,s){if(!s)throw Tn(e.name,`nests deeper than ${ke}`);n.byte(8),
n.byte(0);let r="";try{for(let i of e.fields){let{name:o,member:a}=i;if(r=o,!a)i.put(n,t[o],s);else if(a===a.all[0]){n.byte(3);let c=t[o],d=c&&a.all.find(p=>p.case===
c.case);if(c&&!d)throw new Error(`has no member ${c.case}`);n.varint(d?d.number:0),d?.put(n,c?.value,s)}}}catch(i){throw i instanceof v?i:Tn(`${e.name}.${r}`,i.
message)}}function Cn(n,e,t){let s=n.byte();if(s===0)return;if(s!==8)throw new g(`${e.name}: byte ${s} begins no message`);n.byte();let r=t.depth===ke;if(!t.depth--)
throw new g(`messages nest deeper than ${ke}`);let{fields:i}=e;Rt(t,Tt+$t*i.length);let o={},a;for(let c of i){let{name:d,member:p}=c;if(!n.left&&r&&t.missing>0)
t.missing--,Object.hasOwn(o,d)||(o[d]=c.zero());else if(!p)o[d]=c.take(n,t);else if(p===p.all[0]&&n.next===3){n.at++,(a??=[]).push(d);let u=n.varint(),m=p.all.find(
f=>f.number===u);if(u&&!m)throw new g(`${e.name}.${d} has no member ${u}`);o[d]=m&&{case:m.case,value:It(m,n,t)}}else if(!a?.includes(d)){let u=p.take(n,t);(u instanceof
Uint8Array?u.length>0:u!==""&&u!==0n&&u!==!1&&u!==void 0&&!Object.is(u,0))?o[d]={case:p.case,value:u}:Object.hasOwn(o,d)||(o[d]=void 0)}}return t.depth++,o}function Rn(n,e){
for(let{name:t,zero:s}of n.fields)e[t]=s();return e}function Rt(n,e){if((n.memory-=e)<0)throw new g("it takes too much memory")}function Xe(n,e){let t=n.byte();
if(t!==e)throw new g(`kind ${t} stands in the place of ${e}`)}var tr=n=>({kind:3,least:1,zero(){},put:(e,t,s)=>t===void 0?e.byte(0):An(e,n,t,s-1),take:(e,t)=>Cn(
e,n,t),table:n});function It(n,e,t){let s=n.take(e,t);return s!==void 0||!n.table?s:(Rt(t,Tt+$t*n.table.fields.length),Rn(n.table,{}))}var nr=n=>({...n,zero(){},
put:(e,t,s)=>t===void 0?e.byte(0):n.put(e,t,s),take:(e,t)=>e.next===0?void e.at++:n.take(e,t)});function In(n,e,t){for(let s of e)n.byte(s);n.varint(t)}function On(n,e,t,s,r){
for(let o of t)Xe(n,o);let i=n.varint();return i*s>n.left&&He(),Rt(e,i*r),i}function sr(n){let e=[1,n.kind,10];return{...n,zero:()=>[],put(t,s=[],r){In(t,e,s.length);
for(let i of s)n.put(t,i,r)},take(t,s){let r=[];for(let i=On(t,s,e,n.least,$t);i>0;i--)r.push(It(n,t,s));return r}}}function rr(n,e){let t=[2,n.kind,e.kind,10];
return{...e,zero:()=>new Map,put(s,r=new Map,i){In(s,t,r.size);for(let[o,a]of r)n.put(s,o,i),e.put(s,a,i)},take(s,r){let i=new Map;if(s.next===0)s.at++;else for(let o=On(
s,r,t,n.least+e.least,Tt);o>0;o--)i.set(n.take(s,r),It(e,s,r));return i}}}var J=(n,e,t,s,r)=>({kind:n,least:e,zero:t,put(i,o=t()){i.byte(n),s(i,o)},take(i){return Xe(
i,n),r(i)}});function ir(n){let e=Object.values(n);return J(10,2,()=>e[0],(t,s)=>{let r=e.indexOf(s),i=s+2147483648;Ee(r>=0||s===(s|0)&&s<0&&i>=e.length,s),t.varint(
r<0?i:r)},t=>{let s=t.varint()>>>0,r=s-2147483648;if(s>=e.length&&(r>=0||e.includes(r)))throw new g(`an enum has the index ${s}`);return e[s]??r})}var je=(n,e)=>J(
n?13:11,2,()=>e?0:0n,(t,s)=>{let r=BigInt(s),i=Number(r),o=n?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(o)&&o>=0)return t.varint(o);Ee((n?BigInt.asIntN:BigInt.asUintN)(
64,r)===r,s);let a=n?r<<1n^r>>63n:r;for(;a>>53n;a>>=7n)t.byte(Number(a&127n)|128);t.varint(Number(a))},t=>{let{at:s}=t,r=t.varint(10);if(r<=Number.MAX_SAFE_INTEGER)
n&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let o=0n;s<t.at;o+=7n)i|=BigInt(t.bytes[s++]&127)<<o;i=BigInt.asUintN(64,i),r=n?i>>1n^-(i&1n):i}if(!e)return BigInt(r);
if(!Number.isSafeInteger(Number(r)))throw new g("an integer is beyond 2^53");return Number(r)}),Nn=(n,e,t)=>J(n,e+1,()=>0,(s,r)=>{Se[`set${t}`](0,r);for(let i=0;i<
e;i++)s.byte(Se.getUint8(i))},s=>{for(let r=0;r<e;r++)Se.setUint8(r,s.byte());return Se[`get${t}`](0)}),$n={b:J(7,2,()=>!1,(n,e)=>n.byte(+e),n=>{let e=n.byte();
if(e>1)throw new g(`a bool is ${e}`);return e>0}),i:J(12,2,()=>0,(n,e)=>{Ee(e===(e|0),e),n.varint((e<<1^e>>31)>>>0)},n=>{let e=n.varint();return e>>>1^-(e&1)}),
u:J(10,2,()=>0,(n,e)=>{Ee(e===e>>>0,e),n.varint(e)},n=>n.varint()>>>0),l:je(!0,!1),w:je(!1,!1),L:je(!0,!0),W:je(!1,!0),f:Nn(14,4,"Float32"),d:Nn(15,8,"Float64"),
s:J(5,3,()=>"",(n,e)=>{Ee(typeof e=="string",e),n.byte(10),n.text(e)},n=>(Xe(n,10),n.text())),y:J(4,3,()=>new Uint8Array,(n,e)=>{n.byte(10),n.sized(e)},n=>(Xe(n,
10),n.view().slice()))},Tn=(n,e)=>k(3,`${n} ${e}`);function Ee(n,e){if(!n)throw new Error(`cannot be ${String(e)}`)}var Lt=16,Ln=65536,Fn=256,or=61440,ar=/^[a-z0-9_.-]{1,256}$/,lr=/^[ -~]*$/,cr={metadata:{}},Un=(n,e)=>ar.test(n)&&(typeof e=="string"?!Ot(n)&&lr.test(e):Ot(n)),
Ot=n=>n.endsWith("-bin");function Ge(n,{backward:e,timeout:t,metadata:s,status:r}){let i=new F(64);e&&i.item(4),t!==void 0&&i.item(1,c=>c.varint(Math.min(Math.max(
0,Math.round(t*1e3)),Number.MAX_SAFE_INTEGER)));let o=Object.entries(s??{}),a=0;for(let[c,d]of o){if(!Un(c,d))throw k(3,`metadata cannot have this entry: ${c}`);
if(a+=c.length+d.length+8,o.length>Fn||a>or)throw k(8,"too much metadata");i.item(2,p=>{p.text(c),p.raw(typeof d=="string"?C(d):d)})}r&&(i.item(3,c=>{c.varint(r.
code),i.at+r.details.length+16<=Ln&&c.raw(r.details)}),r.mayHaveRun||i.item(5)),i.at&&(n.byte(Lt),n.sized(i.done()))}function ze(n){if(n.next!==Lt)return cr;n.at++;
let e=new x(n.view());if(e.left>Ln)throw new g("a prefix is too long");let t=Object.create(null),s={metadata:t},r=0;for(;e.left;){let i=e.byte(),o=new x(e.view());
if(i===1)s.timeout=o.varint(10)/1e3;else if(i===2){let a=o.text(),c=Ot(a)?o.rest():o.text(o.left);if(!Un(a,c)||++r>Fn)throw new g("metadata breaks the rules");t[a]=
c}else i===3?(s.code=We(o.varint(10)),s.details=o.rest()):i===5&&(s.refused=!0)}return s}function Bn(n){if(n[0]!==Lt)return!1;let e=1;for(;e<6&&n[e]>127;)e++;return n[e+
1]===4&&n[e+2]===0}var Ke=n=>n.next===6;function Ye(n,{metadata:e,code:t,details:s,refused:r}){if(n.at++,n.byte()!==5||n.byte()!==10)throw new g("an error has n\
o text");return new v(t??2,n.text(),{metadata:e,mayHaveRun:!r,...s&&{details:s}})}function Dn(n,e,t){Ge(n,{backward:t,status:e,metadata:e.metadata});for(let s of[
6,5,10])n.byte(s);n.text(e.message)}var z=(n,e,t,s)=>({name:n,fingerprint:e,compatible:t,methods:s});function Pn(n,e){if(n.fingerprint===e.fingerprint||e.compatible.includes(n.fingerprint))return 0;if(!n.compatible.includes(e.fingerprint))throw k(9,`incompatibl\
e layouts of ${n.name}`);return 1}var Ft=({added:n=[0,0]},e,t)=>e*n[t],Ut=n=>Object.values(n.methods);function Bt(n,e){let t=r=>{for(let i=0;i<16;i+=2)n.byte(parseInt(
r.slice(i,i+2),16))};n.text(e.name),t(e.fingerprint),n.varint(e.compatible.length),e.compatible.forEach(t);let s=0;for(let r of Ut(e).map(i=>i.operation).sort((i,o)=>i-
o))n.varint(r-s),s=r}function _n(n){let e=()=>{let s="";for(let r=0;r<8;r++)s+=n.byte().toString(16).padStart(2,"0");return s},t={service:n.text(),fingerprint:e(),
compatible:[],operations:[]};for(let s=n.varint();s>0;s--)t.compatible.push(e());for(let s=0;n.left;)t.operations.push(s+=n.varint());return t}var Dt=5<<20,ur=1024,pr=65536,le=10,K=16384,mr=K/2,fr=256,Qe=262144,hr=1e5,yr=64<<20,gr=65536,br=2e3,vr=5,wr=1e4,xr=2147483647,Y=(n,e)=>setTimeout(e,Math.min(Math.
max(0,n),xr)),Ze=class{constructor(e,t,s,r,i){this.owner=t;this.named=s;this.serving=r;this.mounts=i;this.bodyMax=Dt;this.streamsMax=1/0;this.credit=0;this.opened=
0;this.isUp=!1;this.isClosed=!1;this.isLeft=!1;this.out=new F(16384);this.streams=new Map;this.offered=[];this.calling=[];this.callsMax=K;this.slots=[];this.free=
[];this.ids=[];this.inFlight=0;this.givenUp=0;this.lastStream=0;this.theirStream=32767;this.known=new Map;this.need=le;this.waste=0;this.flushing=!1;this.seen=0;
this.pong=!1;this.heard=!1;this.sent=!1;this.silent=0;this.alarmAt=1/0;this.settle=()=>{this.out.at!==this.seen?(this.seen=this.out.at,queueMicrotask(this.settle)):
(this.flushing=!1,this.flush())};this.setup=Y(wr,()=>this.fail("no HELLO in time")),this.transport=e({open:()=>{this.hello(),this.flush(),this.beat=setInterval(
()=>this.tick(),br)},data:o=>this.data(o),close:o=>this.closed(o)})}write(e,t,s){let{out:r}=this,{at:i}=r;try{for(let c of[15,e,t,0,0])r.half(c);s?.(r);let o=r.
at,a=o-i-le;if(a>this.bodyMax)throw k(8,`the message has ${a} bytes, and the server accepts ${this.bodyMax}`);r.at=i+6,r.half(a>>>16),r.half(a),r.at=o}catch(o){
throw r.at=i,o}r.at>gr?this.flush():this.flushing||(this.flushing=!0,this.seen=0,queueMicrotask(this.settle))}number(e,t,s){this.write(e,t,r=>r.varint(s))}flush(){
let{out:e}=this;e.at&&(this.pong=!1,this.sent=!0,this.isClosed||this.transport.send(e.done()),e.at=0,this.seen=0,e.bytes.length>1<<20&&(e.bytes=new Uint8Array(16384)),
this.transport.buffered()>yr&&this.fail("the server does not take what is sent"))}hello(){this.write(0,3,e=>{e.raw(C("fris"));let t=this.serving?fr:0;[Dt,t,t,Qe].
forEach((s,r)=>e.item(r+1,i=>i.varint(s)));for(let s of this.serving?.services??[])e.item(32,r=>Bt(r,s));for(let s of this.named)e.item(33,r=>Bt(r,s))}),this.write(
1,0)}tick(){if(this.silent=this.heard?0:this.silent+1,this.silent>=vr)return this.fail("the server is silent");(!this.heard||!this.sent)&&this.write(0,0),this.heard=
this.sent=!1}data(e){if(this.isClosed)return;this.heard=!0;let{partial:t}=this;if(t){if(t.raw(e),t.at<this.need)return;e=t.done(),this.partial=void 0}try{let s=this.
packets(e);s<e.length&&(this.partial=new F(e.length-s),this.partial.raw(e.subarray(s)))}catch(s){if(!(s instanceof g))throw s;this.fail(`the server broke the pr\
otocol: ${s.message}`)}}packets(e){let t=0;this.need=le;let s=r=>e[t+r]<<8|e[t+r+1];for(;e.length-t>=le&&!this.isClosed;){if(s(0)!==15)throw new g("a header wit\
hout its magic");let r=s(6)*65536+s(8);if(r>Dt)throw new g(`a packet of ${r} bytes`);let i=t+le+r;if(i>e.length){this.need=i-t;break}this.handle(s(2),s(4),e.subarray(
t+le,i)),t=i}return t}handle(e,t,s){let r=new x(s),i=this.streams.get(e);if(t>=10){if(!this.isUp)throw new g("a packet before HELLO");if(Bn(s))return this.serving?
this.serving.request(this,e,t,s):this.wasted();let o=this.slots[e&K-1];if(o?.id===e&&o.operation===t)return o.isOver&&this.givenUp--,this.release(e),o.reply(s);
if(t>=65280&&this.mounts.length)return this.mounts.forEach(a=>a.packet(this,e,t,s))}else if(t<2){if(s.length)throw new g("a PING or PONG with a body");t===1?this.
isUp||this.fail("the server is a plain peer"):this.pong||(this.pong=!0,this.write(0,1));return}else{if(t===3&&!this.isUp)return this.greeted(r);if(t===2)return i?
i.received(s):this.opening(e,s);if(t===4)return this.leave();if(t===6)return this.serving?.cancel(this,e,r.varint());if(t===8)throw new g("an answer to no hand-\
off");if(t===5&&i)return i.credited(r.varint(10));if(t===7&&i)return s.length?i.wasReset(r):i.ended()}this.wasted()}wasted(){++this.waste>hr&&this.fail("too man\
y packets that belong to nothing")}greeted(e){if(e.left>pr||e.text(4)!=="fris"||!e.byte())throw new g("it sent no HELLO");for(;e.left;){let t=e.byte(),s=new x(e.
view());if(t===1)this.bodyMax=Math.max(s.varint(),ur);else if(t===2)this.streamsMax=s.varint();else if(t===3)this.callsMax=Math.min(s.varint(),K);else if(t===4)
this.credit=s.varint();else if(t===32||t===33)try{(t===32?this.offered:this.calling).push(_n(s))}catch{}}this.isUp=!0,clearTimeout(this.setup),this.owner.room(this)}opening(e,t){
let s=e-this.theirStream&32767;if(e<32768||!s||s>16384)return this.wasted();this.theirStream=e;try{if(!this.serving)throw k(12,"this end serves nothing");this.serving.
open(this,e,t)}catch(r){this.number(e,5,0),this.reset(e,v.from(r))}}reset(e,{code:t,message:s}){this.isClosed||this.write(e,7,r=>{r.varint(t),r.raw(C(s.slice(0,
256)))})}fits(e){let t=this.known.get(e);if(t!==void 0)return t;let s=this.offered.find(r=>r.service===e.name);if(s){if(s.fingerprint!==e.fingerprint&&!this.named.
includes(e))return;t=Pn(e,s)}else{let r=Ut(e).map(({operation:o})=>o),i=this.offered.find(o=>o.operations.some(a=>r.includes(a)));if(i)throw k(12,`the server ha\
s ${i.service} in the place of ${e.name}`);t=0}return this.known.set(e,t),t}enter(e){if(this.inFlight>=this.callsMax)return-1;this.inFlight++;let t=this.free.pop()??
this.slots.length,s=(this.ids[t]??t)+K&65535;return this.ids[t]=s,this.slots[t]=e,e.until<this.alarmAt&&this.wake(e.until),s}release(e){let t=e&K-1;this.slots[t]=
void 0,this.free.push(t),this.inFlight--,this.inFlight===this.callsMax-1&&this.owner.room(this),this.closeIfIdle()}cancel(e){let t=e.id&K-1;this.slots[t]!==e||e.
isOver||this.isClosed||(e.isOver=!0,this.number(e.id,6,e.operation),++this.givenUp>=mr&&this.leave(),this.closeIfIdle())}streamId(){if(this.opened>=Math.min(this.
streamsMax,28672))return-1;do this.lastStream=this.lastStream%32767+1;while(this.streams.has(this.lastStream));return this.opened++,this.lastStream}over(e){this.
streams.get(e.id)===e&&(this.streams.delete(e.id),e.id<32768&&(this.opened--,this.owner.room(this)),this.closeIfIdle())}wake(e){clearTimeout(this.alarm),this.alarmAt=
e,this.alarm=Y(e-performance.now(),()=>this.expire())}expire(){let e=performance.now(),t=this.alarmAt=1/0;for(let s of this.slots)!s||s.isOver||(s.until<=e?(this.
cancel(s),s.over(Ve())):t=Math.min(t,s.until));t<this.alarmAt&&this.wake(t)}leave(){this.isLeft||(this.isLeft=!0,this.owner.left(this,"the server is going away"),
this.closeIfIdle())}closeIfIdle(){this.isLeft&&this.inFlight===this.givenUp&&!this.streams.size&&!this.serving?.busy(this)&&queueMicrotask(()=>this.fail("the se\
rver is going away"))}fail(e){this.isClosed||(this.flush(),this.transport.close(),this.closed(e))}closed(e){if(this.isClosed)return;this.isClosed=!0,clearInterval(
this.beat),clearTimeout(this.setup),clearTimeout(this.alarm),this.owner.left(this,e);let t=new v(14,`the connection was lost: ${e}`);for(let s of this.slots)s?.
lost(t);for(let s of[...this.streams.values()])s.lost(t);this.serving?.down(this);for(let s of this.mounts)s.down(this,t)}};var qn={done:!0,value:void 0},ce=class{constructor(){this.items=[];this.readers=[];this.last=!1}[Symbol.asyncIterator](){return this}next(){return new Promise((e,t)=>{
this.readers.push({resolve:e,reject:t}),this.serve()})}return(){return this.leave(),this.finished(!0,!0),Promise.resolve(qn)}get isAwaited(){return this.readers.
length>0}arrived(e){this.items.push(e),this.serve()}finished(e,t=!1){t&&(this.items.length=0),this.last||=e,this.serve()}serve(){for(;this.isAwaited;){let e=this.
items.shift();if(e===void 0&&!this.last)return;let t=this.readers.shift();try{if(e===void 0){let{last:s}=this;if(this.last=!0,this.told?.(),s instanceof v)throw s;
t.resolve(qn)}else{let s=this.taken(e);s===void 0?this.readers.unshift(t):t.resolve({done:!1,value:s})}}catch(s){t.reject(s)}}}};var Pt=64,Er=4,_t=(n,e)=>n instanceof g?new v(13,`not a valid ${e.name}: ${n.message}`):v.from(n),et=class extends ce{constructor(t,s,r){super();this.sends=t;this.
receives=s;this.metadata={};this.id=0;this.missing=0;this.credit=0;this.sending=!0;this.receiving=!0;this.refused=!1;this.discards=!1;this.unread=0;this.consumed=
0;this.whenOver=r??(()=>{})}begin(t,s,r){this.link=t,this.id=s,this.missing=r,this.credit=t.credit,t.streams.set(s,this)}get isOpen(){return this.link!==void 0}get isOver(){
return!this.sending&&!this.receiving}within(t){this.deadline=Y(t,()=>this.fail(Ve(this.isOpen)))}leave(){this.stop(!0)}told(){clearTimeout(this.deadline),this.id<
32768&&this.leave()}taken(t){let s=t.length+Pt;this.unread-=s,this.consumed+=s;let{link:r}=this;r&&this.consumed*Er>=Qe&&this.receiving&&(r.number(this.id,5,this.
consumed),this.consumed=0);try{let i=new x(t),o=ze(i);if(i.at&&this.whenMetadata?.(this.metadata=o.metadata),i.at&&!i.left)return;if(Ke(i))throw Ye(i,o);return Ne(
i,this.receives,this.missing)}catch(i){throw this.leave(),_t(i,this.receives)}}async pump(t,s=!1){let r=Symbol.asyncIterator in t?t[Symbol.asyncIterator]():t[Symbol.
iterator]();this.stopSource=()=>r.return?.();try{for(;;){for(;this.credit<=0&&!this.isOver;)await new Promise(c=>this.wakeSender=c);if(this.isOver)return;let i=r.
next(),{done:o,value:a}=i instanceof Promise?await i:i;if(this.isOver)return;if(o)break;this.send(a)}this.stopSource=void 0,this.finish()}catch(i){if(s)throw i;
this.stop(v.from(i))}}send(t){let{link:s}=this;!s||!this.sending||(s.write(this.id,2,r=>{let{at:i}=r;t instanceof v?Dn(r,t,!1):Me(r,this.sends,t),this.credit-=r.
at-i+Pt}),t instanceof v&&this.finish())}finish(){this.sending&&(this.sending=!1,this.link?.write(this.id,7),this.release())}received(t){if(!(!this.receiving||this.
discards)){if(this.unread+this.consumed>=Qe)return this.fail(new v(8,"the peer sent more than it had credit for"));this.unread+=t.length+Pt,this.arrived(this.isAwaited?
t:new Uint8Array(t))}}credited(t){this.refused||=t===0,this.credit+=t,this.credit>0&&this.wakeSender?.()}ended(){this.receiving=!1,this.finished(!0),this.release()}wasReset(t){
let s=We(t.varint()),r="";try{r=t.text(Math.min(t.left,4096))}catch{}this.lost(new v(s,r,{mayHaveRun:!this.refused}))}lost(t){this.sending=this.receiving=!1,this.
finished(t),this.release()}fail(t){this.stop(t,t)}discard(){this.items.length=0,this.discards=!0}stop(t,s=oe()){this.isOver||this.link?.reset(this.id,s),this.sending=
this.receiving=!1,this.finished(t,!0),this.release()}release(){let{whenOver:t}=this;!this.isOver||!t||(this.whenOver=void 0,this.wakeSender?.(),clearTimeout(this.
deadline),this.stopSource?.(),this.link?.over(this),t())}};var kr=3e4,Mr=5e3,Hn="not sent: the channel is closed",Nr=20,Jn=2e3,Wn=10,$e=class{constructor(e,t={}){this.dial=e;this.options=t;this.failures=0;this.retries=Wn;
this.dialledAt=0;this.isClosed=!1;this.trouble="";this.waiting=new Map;this.named=new Set;this.mounts=[];this.owner={room:e=>queueMicrotask(()=>this.drain(e)),left:(e,t)=>{
this.link===e&&(this.link=void 0,this.judge(e,t))}};t.stayConnected&&queueMicrotask(()=>this.connect())}name(e){this.named.add(e)}mount(e){this.mounts.push(e)}connected(){
return new Promise((e,t)=>{let s=r=>(e(r),!0);this.run({isOver:!1,start:s,fail:t},1/0)})}unary(e,t,s,r){return new Promise((i,o)=>{let a=new qt(this,e,t,s,this.
terms(r),i,o);this.run(a,a.until)})}serverStreaming(e,t,s,r){return this.twoWay(e,t,[s],r)}twoWay(e,t,s,r){return this.open(e,t,s,r)}open(e,t,s,r){return new Ht(
this,e,t,s,{...this.terms(r),told:r?.timeout}).replies}async clientStreaming(e,t,s,r){let i=this.open(e,t,s,r),{done:o,value:a}=await i.next();if(o)throw new v(
13,"there is no reply");return i.leave(),a}close(){this.isClosed=!0,clearTimeout(this.pause);for(let[e,t]of this.waiting)clearTimeout(t),e.fail(k(9,Hn));this.waiting.
clear(),this.link?.leave()}run(e,t){let{link:s}=this;if(s?.isUp&&this.starts(e,s))return;if(this.isClosed)return e.fail(k(9,Hn));let r=performance.now()+(this.options.
patience??Mr),i=()=>{let o=performance.now();o<t&&(o<r||this.link?.isUp)?this.waiting.set(e,Y((o<r?Math.min(t,r):t)-o,i)):this.waiting.delete(e)&&e.fail(o<t?this.
unreachable():Vn())};this.waiting.set(e,void 0),i(),this.connect()}starts(e,t){let{isOver:s,service:r}=e;try{let i=s||!r?0:t.fits(r);return i!==void 0?s||e.start(
t,i):(this.named.add(r),this.failures=0,t.leave(),!1)}catch(i){return e.fail(v.from(i)),!0}}unreachable(){return k(14,`not sent: there is no connection to the s\
erver${this.trouble&&`; ${this.trouble}`}`)}terms(e){let{timeout:t,metadata:s}=this.options,r=e?.timeout??t;return{...e,told:r,timeout:r??kr,metadata:s&&e?.metadata?
{...s,...e.metadata}:e?.metadata??s}}earn(){this.retries<Wn&&(this.retries+=.1)}spend(){return this.retries<1?!1:(this.retries--,!0)}connect(){this.link||this.pause!==
void 0||this.isClosed||!this.waiting.size&&!this.options.stayConnected||(this.dialledAt=performance.now(),this.link=new Ze(this.dial,this.owner,[...this.named],
this.options.serve,this.mounts))}judge(e,t){if(e.isUp&&performance.now()-this.dialledAt>=Jn)this.failures=0;else{this.trouble=t;let r=Math.min(Nr*2**Math.min(this.
failures++,16),Jn);clearTimeout(this.pause),this.pause=Y(Math.random()*r,()=>{this.pause=void 0,this.connect()})}this.connect()}drain(e){for(let[t,s]of this.waiting){
if(this.link!==e||!this.starts(t,e))return;clearTimeout(s),this.waiting.delete(t)}}},Vn=()=>k(4,"not sent: the deadline has passed"),qt=class{constructor(e,t,s,r,i,o,a){
this.channel=e;this.service=t;this.method=s;this.request=r;this.terms=i;this.resolve=o;this.reject=a;this.id=0;this.isOver=!1;this.missing=0;this.abort=()=>{this.
link?.cancel(this),this.over(oe(this.link!==void 0))};this.operation=s.operation,this.until=performance.now()+i.timeout,i.signal?.addEventListener("abort",this.
abort)}start(e,t){let{terms:s,method:r}=this,{told:i,metadata:o}=s;if(s.signal?.aborted)throw oe(!1);if(s.timeout<=0)throw Vn();if((this.id=e.enter(this))<0)return!1;
try{e.write(this.id,this.operation,a=>{(i!==void 0||o)&&Ge(a,{timeout:i&&this.until-performance.now(),metadata:o}),Me(a,r.request,this.request)})}catch(a){throw e.
release(this.id),a}return this.missing=Ft(r,t,1),this.link=e,!0}reply(e){let{method:t,terms:s}=this;if(!this.isOver)try{let r=new x(e),i=ze(r);if(Ke(r))throw Ye(
r,i);r.at&&s.onMetadata?.(i.metadata),this.resolve(Ne(r,t.reply,this.missing)),this.channel.earn(),this.end()}catch(r){this.over(_t(r,t.reply))}}lost(e){if(this.
link=void 0,!this.isOver){if(!this.method.idempotent||!this.channel.spend())return this.over(e);this.before=e,this.channel.run(this,this.until)}}fail(e){this.over(
this.before??e)}over(e){this.reject(e),this.end()}end(){this.isOver=!0,this.terms.signal?.removeEventListener("abort",this.abort)}},Ht=class{constructor(e,t,s,r,i){
this.service=t;this.method=s;this.requests=r;this.terms=i;let{signal:o,told:a}=i,c=()=>this.replies.fail(oe(this.replies.isOpen));this.replies=new et(s.request,
s.reply,()=>o?.removeEventListener("abort",c)),this.replies.whenMetadata=i.onMetadata,a!==void 0&&this.replies.within(a),this.until=performance.now()+(a??1/0),o?.
addEventListener("abort",c),o?.aborted?c():e.run(this,this.until)}get isOver(){return this.replies.isOver}start(e,t){let{method:s,replies:r,terms:{told:i,metadata:o}}=this;
if(!e.streamsMax)throw k(12,"the server does not accept streams");let a=e.streamId();return a<0?!1:(r.begin(e,a,Ft(s,t,1)),e.write(a,2,c=>{Ge(c,{timeout:i&&this.
until-performance.now(),metadata:o}),c.byte(9),c.varint(s.operation)}),r.pump(this.requests),!0)}fail(e){this.replies.fail(e)}};var tt=65280,$r=16<<20,Jt=64,Te=class{constructor(e){this.channel=e;this.subscriptions=new Map;this.next=0;e.mount({packet:(t,s,r,i)=>this.handle(t,s,r-tt,i),down:(t,s)=>{
if(t===this.link)for(let r of this.subscriptions.values())r.end(s)}})}async subscribe(e,{group:t=""}={}){return this.ask(0,e,t)}async publish(e,t){let s;do s=await this.
channel.connected();while(s.isClosed);s.write(0,tt+2,r=>{r.sized(C(e)),r.raw(typeof t=="string"?C(t):t)})}async sync(){await(await this.ask(3)).return()}async ask(e,t,s){
let r;do r=this.link=await this.channel.connected();while(r.isClosed);let i=this.next=this.next%65535+1,o=new Wt(s?void 0:t?.split("."),()=>{this.subscriptions.
delete(i)&&t!==void 0&&!r.isClosed&&r.write(i,tt+1)});return this.subscriptions.set(i,o),r.write(i,tt+e,a=>{t!==void 0&&a.sized(C(t)),a.raw(C(s??""))}),await o.
active,o}handle(e,t,s,r){if(e!==this.link)return;let i=new x(r),o=this.subscriptions.get(t);if(s===2){let a=i.text(),c={topic:a,payload:i.rest()};for(let d of this.
subscriptions.values())(t?d===o:d.matches(a))&&d.put(c)}else if(s===4){let a=i.varint(10);for(let c of this.subscriptions.values())(t?c===o:a)&&(c.lost+=a)}else if(!r.
length)o?.activate();else{let a=[8,12,7][i.byte()-3],c=k(a??3,i.text(i.left));this.subscriptions.delete(t),o?.end(c)}}},Wt=class extends ce{constructor(t,s){super();
this.tokens=t;this.leave=s;this.lost=0;this.activate=()=>{};this.refuse=()=>{};this.unread=0;this.active=new Promise((r,i)=>{this.activate=r,this.refuse=i})}matches(t){
let{tokens:s}=this,r=t.split(".");return!s||(s.at(-1)===">"?r.length<s.length:r.length!==s.length)?!1:s.every((i,o)=>i===">"||i==="*"||i===r[o])}put(t){for(this.
unread+=t.payload.length+Jt;this.unread>$r&&this.items.length>0;)this.unread-=this.items.shift().payload.length+Jt,this.lost++;this.arrived(t)}end(t){this.leave(),
this.refuse(t),this.finished(t)}taken({topic:t,payload:s}){let{lost:r}=this;return this.unread-=s.length+Jt,this.lost=0,{topic:t,payload:s,lagged:r}}};var Vt="frisbee.1";function jt(n,{protocols:e=[],WebSocket:t=globalThis.WebSocket}={}){return s=>{let r=new t(String(n),[Vt,...e]);return r.binaryType="arraybuf\
fer",r.onopen=()=>{r.protocol===Vt?s.open():r.close()},r.onmessage=({data:i})=>{i instanceof ArrayBuffer?s.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.
onclose=({code:i,reason:o})=>{s.close(`the WebSocket was closed (${i}${o&&`, ${o}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Tr=64;var nt=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:t,bytes:s}of I(e))t===1&&this.file(s)}message(e){let t=this.messages.get(e);
if(!t)throw new Error(`the schema has no message ${e}`);return t}enumeration(e){let t=this.enums.get(e);if(!t)throw new Error(`the schema has no enum ${e}`);return t}entry(e){
let t=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return t?.isEntry?t:void 0}file(e){let t="",s=[],r=new Map;for(let{number:o,bytes:a}of I(e))o===
2?t=U(a):o===4||o===5?s.push({number:o,bytes:a}):o===9&&(r=Rr(a));let i={4:0,5:0};for(let{number:o,bytes:a}of s){let c=i[o]??0;i[o]=c+1;let d=`${o},${c}`;o===4?
this.declare(a,t,[],d,r,0):this.declareEnum(a,t,[],d,r)}}declare(e,t,s,r,i,o){if(o>Tr)throw new g("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",m=!1;for(let{number:E,bytes:T}of I(e))E===1?u=U(T):E===2?a.push(T):E===3?c.push(T):E===4?d.push(T):E===7?m=Kn(T,7):E===8&&p.push({name:Gn(T),docs:i.
get(`${r},8,${p.length}`)??""});let f=[...s,u],h=Xn(t,f),S=a.map((E,T)=>Ar(E,i.get(`${r},2,${T}`)??""));this.messages.set(h,{name:h,package:t,path:f,docs:i.get(
r)??"",fields:S,oneofs:p,isEntry:m}),c.forEach((E,T)=>this.declare(E,t,f,`${r},3,${T}`,i,o+1)),d.forEach((E,T)=>this.declareEnum(E,t,f,`${r},4,${T}`,i))}declareEnum(e,t,s,r,i){
let o=[],a="";for(let{number:p,bytes:u}of I(e)){if(p===1&&(a=U(u)),p!==2)continue;let m=0;for(let f of I(u))f.number===2&&(m=f.low|0);o.push({name:Gn(u),number:m,
docs:i.get(`${r},2,${o.length}`)??""})}let c=[...s,a],d=Xn(t,c);this.enums.set(d,{name:d,package:t,path:c,docs:i.get(r)??"",values:o})}},zn=n=>n===11||n===10||n===
14,Xn=(n,e)=>[...n?[n]:[],...e].join(".");function Ar(n,e){let t="",s="",r="",[i,o,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of I(n))u.number===1?t=U(u.bytes):u.number===
3?i=u.low:u.number===4?o=u.low:u.number===5?a=u.low:u.number===6?r=U(u.bytes).replace(/^\./,""):u.number===8?p=Kn(u.bytes,3):u.number===9?c=u.low:u.number===10?
s=U(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new g(`a field of the kind ${a}`);return{name:t,number:i,kind:a,type:r,isOptional:d,isDeprecated:p,
docs:e,jsonName:s||t.replace(/_(\w)/g,(u,m)=>m.toUpperCase()),isRepeated:o===3,oneof:c<0||d?void 0:c}}var Cr=new Uint8Array,U=n=>new x(n).text(n.length);function*I(n){
let e=new x(n);for(;e.left;){let t=e.varint(),s=t>>>3,r=t&7;if(r===0){let i=0,o=0;for(let a of n.subarray(e.at,(e.varint(10),e.at)))o<32&&(i|=(a&127)<<o),o+=7;yield{
number:s,bytes:Cr,low:i>>>0}}else if(r===2)yield{number:s,bytes:e.view(e.varint()),low:0};else if(r===1||r===5)e.view(r===1?8:4);else throw new g(`a field of th\
e wire type ${r}`)}}function Gn(n){for(let{number:e,bytes:t}of I(n))if(e===1)return U(t);return""}function Kn(n,e){for(let{number:t,low:s}of I(n))if(t===e)return s!==
0;return!1}function Rr(n){let e=new Map;for(let{number:t,bytes:s}of I(n)){if(t!==1)continue;let r="",i="",o="";for(let c of I(s))if(c.number===1){let d=new x(c.
bytes),p=[];for(;d.left;)p.push(d.varint());r=p.join(",")}else c.number===3?i=U(c.bytes):c.number===4&&(o=U(c.bytes));let a=i||o;a&&e.set(r,st(a))}return e}var st=n=>n.
replace(/^ /gm,"").trim();var W=n=>`f${n.number}`,ue=n=>`o${n}`,Xt={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
de=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let t=this.types.get(e);if(t)return t;let s=this.schema.message(e),r=Or(this.schema,
s),i=r.map(c=>`${W(c)}:${this.spec(s,c)}`).join(" "),o=r.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>zn(c.kind)),a=b(e,i,()=>o.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,t){let s=this.schema.entry(t),r=Xt[t.kind];if(s){let[i,o]=s.fields;if(!i||!o)throw new Error(
`${s.name} is no entry of a map`);return`%${Xt[i.kind]}${Xt[o.kind]}`}if(t.isRepeated)return`*${r}`;if(t.oneof!==void 0){let i=e.fields.filter(o=>o.oneof===t.oneof);
return`${ue(t.oneof)}/${i.indexOf(t)+1}/${r}`}return t.isOptional&&r!=="m"?`?${r}`:r}choice(e){let t=this.enums.get(e);return t||(t=Ir(this.schema.enumeration(e)),
this.enums.set(e,t)),t}},Ir=n=>Object.fromEntries(n.values.map(({number:e},t)=>[`v${t}`,e]));function Or(n,e){let t=s=>n.entry(s)?2:s.isRepeated?1:s.kind===11||
s.kind===10?2:0;return[0,1,2].flatMap(s=>e.fields.filter(r=>t(r)===s))}function Yn(n,e,t,s,r){let i=r.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:m})=>({operation:a,request:n.of(c),reply:n.of(d),sends:p,receives:u,idempotent:m})),o=z(e,t,s,Object.fromEntries(i.map((a,c)=>[`m${c}`,a])));return i.
map(a=>({service:o,method:a}))}var Gt={POLYGLOT:0,PROTOBUF:1},Ae={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},Lr=b("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Fr=b("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Ur=b("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Pr]),Br=b("fr\
pc.reflection.v1.ListRequest","etag:s"),Dr=b("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Ae]),Pr=b("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Gt,Dr]),pe=z("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Br,reply:Ur,receives:!0,
idempotent:!0},files:{operation:65001,request:Fr,reply:Lr,receives:!0,idempotent:!0}});var Zn=32<<20,B=n=>`${n.service.name}/${n.name}`,rt=class{constructor(e,t){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let s=jt(e),r=o=>{this.wire=o,t()},i=o=>{let a=s({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,o.open(),r("open")},data:c=>{
this.traffic.received+=c.length,o.data(c)},close:c=>{r("lost"),o.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new $e(i,
{stayConnected:!0}),this.channel.name(pe),this.topics=new Te(this.channel)}async catalog(e){let{channel:t,metadata:s}=this,r=new Map,i="";for await(let m of t.serverStreaming(
pe,pe.methods.list,{etag:e?.etag??""},{metadata:s})){if(m.notModified)return;i||=m.etag;for(let f of m.services){let h=r.get(f.name);h?h.methods.push(...f.methods):
r.set(f.name,f)}}let o=[],a=0;for await(let{data:m}of t.serverStreaming(pe,pe.methods.files,{},{metadata:s}))if(o.push(m),a+=m.length,a>Zn)throw new v(Je.RESOURCE_EXHAUSTED,
`the schema has more than ${Zn} bytes`);let c=new Uint8Array(a),d=0;for(let m of o)c.set(m,d),d+=m.length;let p=new nt(c),u=new de(p);return{etag:i,schema:p,services:[
...r.values()].map(m=>_r(m,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function _r(n,e){let t,s=i=>{if(n.codec!==Gt.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!n.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return t??=Yn(e,n.name,n.fingerprint,n.compatible,n.methods.map(o=>({...o,sends:o.requestStreams,receives:o.responseStreams,isIdempotent:o.
idempotency!==Ae.UNKNOWN}))),t[i]},r={name:n.name,fingerprint:n.fingerprint,file:n.file,docs:st(n.docs),isDeprecated:n.isDeprecated,methods:[]};return r.methods=
n.methods.map((i,o)=>({service:r,name:i.name,operation:i.operation,request:i.request,response:i.response,sends:i.requestStreams,receives:i.responseStreams,idempotency:i.
idempotency===Ae.NO_SIDE_EFFECTS?"no side effects":i.idempotency===Ae.IDEMPOTENT?"idempotent":"",formats:i.formats,docs:st(i.docs),isDeprecated:i.isDeprecated,callable:()=>s(
o)})),r}var it=n=>Object.entries(Je).find(([,e])=>e===n)?.[0]??String(n);var qr=50;function ot(n,e,t){let s=n.slice(-qr).reverse().map(r=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
r)},l("span",{className:"muted"},ie(r.beganAt)),l("span",{className:r.code===0?"badge ok":"badge failed"},it(r.code)),!t&&l("span",{className:"path"},r.path),l(
"span",{className:"muted shortened"},(r.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},$(r.took)))));return s.length>0?l("ol",{className:"\
histories"},...s):l("p",{className:"empty"},"Nothing has been called yet.")}var w=class extends Error{constructor(e,t){super(e?`${e}: ${t}`:t)}},N=()=>Object.create(null),Kt=n=>typeof n=="object"&&n!==null&&!Array.isArray(n),Yt=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Z=n=>Yt.test(n)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(n);function V(n){try{return JSON.parse(n||"{}")}catch(e){throw new w(
"",e.message)}}function Q(n,e,t,s=""){let r=jr(n,e,t,s);if(r)return r;if(!Kt(t))throw new w(s,`${e} is an object`);let i=n.message(e),o={};for(let[a,c]of Object.
entries(t)){let d=i.fields.find(m=>m.jsonName===a||m.name===a),p=s?`${s}.${a}`:a;if(!d)throw new w(p,`${e} has no such field${Hr(i)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Jr(n,d,c,p);if(d.oneof===void 0)o[W(d)]=u;else{let m=ue(d.oneof);if(o[m])throw new w(p,`${i.oneofs[d.oneof]?.name} has two m\
embers`);o[m]={case:W(d),value:u}}}return o}var Hr=n=>n.fields.length>0?`; it has: ${n.fields.map(e=>e.jsonName).join(", ")}`:"";function Jr(n,e,t,s){let r=n.entry(
e),[i,o]=r?.fields??[];if(i&&o){if(!Kt(t))throw new w(s,"a map is an object");return new Map(Object.entries(t).map(([a,c])=>[Wr(i,a,s),zt(n,o,c,`${s}[${JSON.stringify(
a)}]`)]))}if(!e.isRepeated)return zt(n,e,t,s);if(!Array.isArray(t))throw new w(s,"a list is an array");return t.map((a,c)=>zt(n,e,a,`${s}[${c}]`))}function Wr(n,e,t){
if(n.kind!==8)return Ie(n,e,t);if(e!=="true"&&e!=="false")throw new w(t,`${e} is not true or false`);return e==="true"}var es=(()=>{let n=t=>[-(1n<<t-1n),(1n<<t-
1n)-1n],e=t=>[0n,(1n<<t)-1n];return{5:n(32n),17:n(32n),15:n(32n),3:n(64n),18:n(64n),16:n(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Vr=n=>[3,4,6,16,18].includes(
n),Zt=n=>n in es;function zt(n,e,t,s){if(e.kind===11)return Q(n,e.type,t,s);if(e.kind!==14)return Ie(e,t,s);let{name:r,values:i}=n.enumeration(e.type);if(typeof t==
"number"&&Number.isInteger(t))return t;let o=i.find(a=>a.name===t);if(!o)throw new w(s,`${r} has no value ${Ce(t)}; it has: ${i.map(a=>a.name).join(", ")}`);return o.
number}var Ce=n=>JSON.stringify(n).slice(0,60);function Ie(n,e,t=""){let{kind:s}=n,r=es[s];if(r){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new w(t,`${Ce(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new w(t,"an integer of this size is writte\
n as text, in quotes");let o=BigInt(e);if(o<r[0]||o>r[1])throw new w(t,`${o} is not from ${r[0]} to ${r[1]}`);return Vr(s)?o:Number(o)}if(s===1||s===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new w(t,`${Ce(e)} is no number`);return Number(
e)}if(s===8){if(typeof e!="boolean")throw new w(t,`${Ce(e)} is not true or false`);return e}if(typeof e!="string")throw new w(t,`${Ce(e)} is no text`);return s===
12?O(e,t):e}function jr(n,e,t,s){let r=Yt.test(e)&&n.message(e).fields[0];if(r)return{f1:Ie(r,t,s)};switch(e){case"google.protobuf.Timestamp":return Xr(t,s);case"\
google.protobuf.Duration":{let i=typeof t=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(t);if(!i)throw new w(s,'a duration is written as "1.5s"');let[,o,a="",
c=""]=i,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${o}${a}`),f2:o?-d:d}}case"google.protobuf.FieldMask":if(typeof t!="string")throw new w(s,'a mask is written\
 as "name,homeAddress.city"');return{f1:t===""?[]:t.split(",").map(i=>i.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`))};case"google.protobuf.Struct":if(!Kt(
t))throw new w(s,"a Struct is an object");return{f1:new Map(Object.entries(t).map(([i,o])=>[i,Re(o,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(t))throw new w(
s,"a ListValue is an array");return{f1:t.map(i=>Re(i,0))};case"google.protobuf.Value":return Re(t,0)}}function Xr(n,e){let t=typeof n=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(n),s=t?Date.parse(`${t[1]}${t[3]?.toUpperCase()}`):NaN;if(!t||Number.isNaN(s))throw new w(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
s/1e3),f2:Number((t[2]??"").padEnd(9,"0"))}}function Re(n,e){if(e>90)throw new w("","nests too deep");let t=(s,r)=>({o0:{case:`f${s}`,value:r}});return n===null?
t(1,0):typeof n=="number"?t(2,n):typeof n=="string"?t(3,n):typeof n=="boolean"?t(4,n):Array.isArray(n)?t(6,{f1:n.map(s=>Re(s,e+1))}):t(5,{f1:new Map(Object.entries(
n).map(([s,r])=>[s,Re(r,e+1)]))})}function Oe(n,e,t){let s=Kr(n,e,t);if(s!==void 0)return s;let r=N();for(let i of n.message(e).fields){let o=i.oneof===void 0?void 0:
t[ue(i.oneof)],a=i.oneof===void 0?t[W(i)]:o?.case===W(i)?o.value:void 0;if(a===void 0)continue;let c=Gr(n,i,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(r[i.jsonName]=c)}return r}function Gr(n,e,t){let s=n.entry(e)?.fields[1];if(s&&t instanceof Map){let r=N();for(let[i,o]of t)r[String(i)]=at(n,s,o);
return r}return Array.isArray(t)?t.map(r=>at(n,e,r)):at(n,e,t)}function at(n,e,t){return e.kind===11?Oe(n,e.type,t):e.kind===14?n.enumeration(e.type).values.find(
({number:s})=>s===t)?.name??t:t instanceof Uint8Array?D(t):typeof t=="bigint"||typeof t=="number"&&!Number.isFinite(t)?String(t):e.kind===2?zr(t):t}function zr(n){
for(let e=6;e<10;e++){let t=Number(n.toPrecision(e));if(Math.fround(t)===n)return t}return n}function Kr(n,e,t){let s=Yt.test(e)&&n.message(e).fields[0];if(s)return at(
n,s,t.f1);switch(e){case"google.protobuf.Timestamp":{let r=Number(t.f1),i=new Date(r*1e3);return Number.isNaN(i.getTime())||r<-62135596800||r>253402300799?void 0:
`${i.toISOString().slice(0,19)}${Qn(t.f2)}Z`}case"google.protobuf.Duration":{let[r,i]=[t.f1,t.f2];return`${r<0n||i<0?"-":""}${r<0n?-r:r}${Qn(Math.abs(i))}s`}case"\
google.protobuf.FieldMask":return t.f1.map(r=>r.replace(/_([a-z])/g,(i,o)=>o.toUpperCase())).join(",");case"google.protobuf.Struct":return ts(t);case"google.pro\
tobuf.ListValue":return t.f1.map(lt);case"google.protobuf.Value":return lt(t)}}function ts(n){let e=N();for(let[t,s]of n.f1)e[t]=lt(s);return e}function lt(n){let e=n.
o0;return!e||e.case==="f1"?null:e.case==="f5"?ts(e.value):e.case==="f6"?e.value.f1.map(lt):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var Qn=n=>{let e=String(n).padStart(9,"0");return n===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function D(n){let e="";for(let t=0;t<n.length;t+=32768)e+=String.
fromCharCode(...n.subarray(t,t+32768));return btoa(e)}function O(n,e=""){try{return Uint8Array.from(atob(n.replace(/-/g,"+").replace(/_/g,"/")),t=>t.charCodeAt(
0))}catch{throw new w(e,"it is no base64")}}function me(n){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(n);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var ee=n=>Array.from(n,e=>e.toString(16).padStart(2,"0")).join(" ");var te=n=>en(JSON.stringify(n)),en=n=>n.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
P=n=>/^[\w./:=@%+-]+$/.test(n)?n:`'${en(n).replace(/'/g,"'\\''")}'`,ns=n=>Object.entries(n).map(([e,t])=>[e,typeof t=="string"?t:D(t)]);function ss({method:n,requests:e,
metadata:t,timeout:s,origin:r}){let i=n.sends||n.receives,o=[i?"curl -sN":"curl",`-H 'content-type: application/${i?"connect+json":"json"}'`];s!==void 0&&o.push(
`-H ${P(`connect-timeout-ms: ${Math.round(s)}`)}`);for(let[p,u]of ns(t))o.push(`-H ${P(`${p}: ${u}`)}`);let a=P(`${r}/${B(n)}`);if(!i)return[...o,`-d ${P(te(e[0]??
{}))}`,a].join(` \\
  `);let c=e.map(te);return[`printf '${c.map(p=>`\\0${Yr(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(P).join(" ")} | ${o[0]}`,...o.slice(1),"--d\
ata-binary @-",a].join(` \\
  `)}var Yr=n=>[24,16,8,0].map(e=>`\\${(n>>>e&255).toString(8).padStart(3,"0")}`).join("");function rs({method:n,requests:e,metadata:t,timeout:s,origin:r}){let{
host:i,protocol:o}=new URL(r),a=o==="https:"?`wss://${i}/`:i,c=[`frpc call --server ${P(a)}`,P(B(n))];for(let d of e)c.push(P(te(d)));for(let[d,p]of ns(t))c.push(
`-H ${P(`${d}=${p}`)}`);return s!==void 0&&c.push(`--deadline ${Math.round(s)}ms`),c.join(` \\
  `)}var pt=n=>n.replace(/\W/g,"_")||"_",is=n=>pt(n).replace(/^_(?=\d)/,"-"),os=n=>pt(n).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Le=n=>os(n).map(e=>e.toLowerCase()).join("_")||"_",ne=n=>os(n).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",ct=n=>ne(n).replace(/^./,e=>e.toLowerCase()),Zr=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),ut=n=>Zr.has(Le(n))?/^(self|super|crate)$/.test(Le(n))?`${Le(n)}_`:`r#${Le(n)}`:Le(n),L=n=>en(JSON.stringify(n)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function as(n){let{schema:e,method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=pt(t.service.name.
split(".").pop()??""),c=s.map(f=>cs(e,t.request,f,0)),d=ut(t.name),p=[`let client = ${a}Client::connect(${L(new URL(o).host)}).await?;`],u=c[0]??`${ne(t.request)}\
::default()`;t.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let m=[...i===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(i)}));`],...Object.entries(r).map(([f,h])=>typeof h=="string"?`request.metadata_mut().insert(${L(f)}, ${L(h)})?;`:`request.metadata_mut\
().insert_bin(${L(f)}, &[${[...h].join(", ")}][..])?;`)];return m.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...m),u="request"),t.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,t.sends?void 0:0).map(f=>`requests.send(${f}).await?;`),...t.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):t.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(f=>`    requests.send(${f}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function ls({path:n,package:e}){let t=[...n.slice(0,-1).map(ut),ne(n[n.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${t}`:t}var Qt=(n,e)=>`${"\
    ".repeat(e)}${n}`;function cs(n,e,t,s){let r=n.message(e),i=ls(r),o=typeof t=="object"&&t!==null&&!Array.isArray(t)?t:{},a=[],c=new Set;for(let u of r.fields){
let m=o[o[u.jsonName]===void 0?u.name:u.jsonName];if(m===void 0||m===null&&u.type!=="google.protobuf.Value")continue;let f=u.oneof===void 0?void 0:r.oneofs[u.oneof],
h=Qr(n,r,u,m,s+1),S=f?f.name:u.name;c.add(S);let E=[...r.path.map(ut),ne(f?.name??"")].join("::");a.push(Qt(`${ut(S)}: ${f?`Some(${E}::${ne(u.name)}(${h}))`:h},`,
s+1))}let d=new Set(r.fields.map(u=>u.oneof===void 0?u.name:r.oneofs[u.oneof]?.name));if(a.length===0)return`${i}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Qt(`..${i}::default()`,s+1));let p=`${i} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${i} {
${a.join(`
`)}
${Qt("}",s)}`}function Qr(n,e,t,s,r){let[i,o]=n.entry(t)?.fields??[];if(i&&o)return`HashMap::from([${Object.entries(s).map(([u,m])=>`(${i.kind===9?`${L(u)}.to_o\
wned()`:is(u)}, ${dt(n,o,m,r)})`).join(", ")}])`;if(t.isRepeated)return`vec![${s.map(d=>dt(n,t,d,r)).join(", ")}]`;let a=dt(n,t,s,r),c=t.kind===11&&!Z(t.type)&&
ds(n,t.type,e.name,new Set)?`Box::new(${a})`:a;return t.oneof===void 0&&(t.isOptional||t.kind===11)?`Some(${c})`:c}function ds(n,e,t,s){return e===t?!0:s.has(e)?
!1:(s.add(e),n.messages.get(e)?.fields.some(r=>r.kind===11&&!r.isRepeated&&ds(n,r.type,t,s))??!1)}function dt(n,e,t,s){if(e.kind===11){let[r]=n.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${L(String(t))}.parse()?`:Z(e.type)&&r&&/Value$/.test(e.type)&&r.name===
"value"?dt(n,r,t,s):Z(e.type)?ei(e.type,t):cs(n,e.type,t,s)}if(e.kind===14){let r=n.enumeration(e.type),i=r.values.find(({name:c})=>c===t);if(!i)return String(Number(
t)|0);let o=ne(r.path[r.path.length-1]??""),a=ne(i.name);return`${ls(r)}::${a.startsWith(o)&&a.length>o.length?a.slice(o.length):a}.into()`}return e.kind===12?`\
vec![${[...O(String(t))].join(", ")}]`:e.kind===9?`${L(String(t))}.to_owned()`:e.kind===1||e.kind===2?ms(Number(t),e.kind===1?"f64":"f32"):is(String(t))}var fe="\
frpc::prost_types::";function ei(n,e){if(n==="google.protobuf.FieldMask"){let t=String(e).split(",").filter(Boolean).map(s=>s.trim().replace(/[A-Z]/g,r=>`_${r.toLowerCase()}`));
return`${fe}FieldMask { paths: vec![${t.map(s=>`${L(s)}.to_owned()`).join(", ")}] }`}return n==="google.protobuf.Struct"?`${fe}Struct { fields: ${ps(e)} }`:n===
"google.protobuf.ListValue"?`${fe}ListValue { values: ${us(e)} }`:tn(e)}function tn(n){if(n===null)return`${fe}Value::from(${fe}value::Kind::NullValue(0))`;let e=typeof n==
"string"?L(n):typeof n=="number"?ms(n,"f64"):typeof n=="boolean"?String(n):Array.isArray(n)?us(n):ps(n);return`${fe}Value::from(${e})`}var us=n=>`vec![${n.map(tn).
join(", ")}]`,ps=n=>`BTreeMap::from([${Object.entries(n).map(([e,t])=>`(${L(e)}.to_owned(), ${tn(t)})`).join(", ")}])`,ms=(n,e)=>Object.is(n,-0)?"-0.0":Number.isFinite(
n)?Number.isInteger(n)&&Math.abs(n)<1e15?n.toFixed(1):String(n):Number.isNaN(n)?`${e}::NAN`:n<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function fs(n){let{schema:e,
method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=pt(t.service.name.split(".").pop()??""),c=s.map(f=>ys(e,t.request,Q(e,t.request,f))),d=[...i===void 0?[]:
[`timeout: ${i}`],...Object.keys(r).length===0?[]:[`metadata: { ${Object.entries(r).map(([f,h])=>`${te(f)}: ${typeof h=="string"?te(h):hs(h)}`).join(", ")} }`]],
p=t.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${ct(t.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${te(
`${o.replace(/^http/,"ws")}/`)}));`}
${t.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var hs=n=>`new Uint8Array([${[...n].join(", ")}])`;function ys(n,e,t){
let{fields:s,oneofs:r}=n.message(e),i=[];for(let o of s){let a=W(o);if(o.oneof===void 0){t[a]!==void 0&&i.push(`${ct(o.name)}: ${ti(n,o,t[a])}`);continue}let c=t[ue(
o.oneof)];c?.case===a&&i.push(`${ct(r[o.oneof]?.name??"")}: { case: "${ct(o.name)}", value: ${Fe(n,o,c.value)} }`)}return i.length>0?`{ ${i.join(", ")} }`:"{}"}
function ti(n,e,t){let[s,r]=n.entry(e)?.fields??[];return s&&r?`new Map([${[...t].map(([i,o])=>`[${Fe(n,s,i)}, ${Fe(n,r,o)}]`).join(", ")}])`:e.isRepeated?`[${t.
map(i=>Fe(n,e,i)).join(", ")}]`:Fe(n,e,t)}function Fe(n,e,t){return t instanceof Uint8Array?hs(t):typeof t=="bigint"?`${t}n`:typeof t=="object"?ys(n,e.type,t):Object.
is(t,-0)?"-0":typeof t=="string"?te(t):String(t)}var gs=new WeakMap;function he(n,e){return gs.set(n,e),n}var Ue=n=>gs.get(n)??N();var bs=16<<20,nn=n=>l("textarea",{rows:1,spellcheck:!1,...n});function sn(n,e){let t="";try{e()}catch(s){t=s.message}n.setAttribute("aria-invalid",String(t!=="")),
n.title=t}function rn(n){let e=M(),{kind:t}=n;if(t===8){let o=l("input",{type:"checkbox",id:e});return he({element:o,id:e,get:()=>o.checked||void 0,set:a=>o.checked=
a===!0},!1)}if(t===9){let o=nn({id:e});return he({element:o,id:e,get:()=>o.value||void 0,set:a=>o.value=a===void 0?"":String(a)},"")}let s=()=>sn(r,()=>void(r.value.
trim()&&Ie(n,i()))),r=l("input",{type:"text",id:e,className:"number",inputMode:Zt(t)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>s()}),i=()=>{
let o=r.value.trim();return Number.isSafeInteger(Number(o))&&!ni(t)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(o)&&!Zt(t)?Number(o):o};return he({element:r,id:e,get:()=>r.
value.trim()?si(i()):void 0,set(o){r.value=o==null?"":String(o),s()}},0)}var ni=n=>n===3||n===4||n===6||n===16||n===18,si=n=>n===0&&!Object.is(n,-0)||n==="0"?void 0:
n;function vs(n){let e=M(),t=l("select",{id:e},...n.values.map(({name:r,number:i,docs:o})=>l("option",{value:r,title:o},`${r} = ${i}`))),[s]=n.values;return he(
{element:t,id:e,get:()=>t.value===s?.name?void 0:t.value,set:r=>t.value=n.values.find(({name:i,number:o})=>i===r||o===r)?.name??s?.name??""},s?.name??0)}function ws(){
let n=M(),e,t=nn({id:n,oninput:()=>m()}),s=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),r=s.value,
i=l("span",{className:"muted"}),o=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=o.files?.[0];if(h){if(h.size>bs){i.textContent=`${h.
name} has more than ${bs>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),i.textContent=`${h.name}, ${e.length} bytes`,t.disabled=s.disabled=!0,a.hidden=
!1,f.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,i.textContent=o.value="",t.disabled=s.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(t.value);if(h==="base64")return O(t.
value.replace(/\s/g,""));let S=t.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(S))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(S.match(/../g)??[],E=>parseInt(E,16))},p=(h,S)=>{let E=S==="text"?me(h):void 0;s.value=r=S==="text"&&E===void 0?"base64":S,t.value=s.value==="text"?E??"":s.
value==="hex"?ee(h):D(h),m()},u=()=>{try{p(d(r),s.value)}catch{r=s.value,m()}},m=()=>sn(t,()=>void d(s.value)),f=l("div",{className:"bytes"},t,s,l("button",{type:"\
button",className:"quiet",onclick:()=>o.click()},"File…"),o,i,a);return he({element:f,id:n,get(){let h=e??d(s.value);return h.length>0?D(h):void 0},set(h){c(),
p(typeof h=="string"?O(h):new Uint8Array,s.value)}},"")}function se(n,e,t){let s=M(),r=nn({id:s,placeholder:e,oninput:()=>sn(r,()=>void(n==="json"&&r.value&&JSON.
parse(r.value)))}),i=t&&l("button",{type:"button",className:"quiet",onclick:()=>r.value=t.json()},t.label);return{element:l("div",{className:"free"},r,i),id:s,get:()=>r.
value.trim()?n==="json"?JSON.parse(r.value):r.value.trim():void 0,set:o=>r.value=o===void 0?"":n==="json"?JSON.stringify(o):String(o)}}var ri=3,ft=class{constructor(e,t,s){this.schema=e;this.name=t;this.editor=ks(e,t),this.element=l("div",{className:"form",oninput:s,onchange:s,onclick:s},this.editor.
element)}get(){return this.editor.get()??N()}set(e){this.editor.set(e)}example(){this.set(Ss(this.schema,this.name,[]))}};function Ss(n,e,t){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let s=n.message(
e),r=s.fields[0];if(Z(e)&&r)return xs(n,r,t);let i=N(),o=[...t,e];for(let a of s.fields){let c=n.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||s.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(o.includes(d.type)||o.length>ri);if(!p||u||d.kind===10||a.isDeprecated)continue;let m=xs(n,d,o),f=c?.fields[0];f?i[a.jsonName]=
Object.assign(N(),{[f.kind===9?"key":f.kind===8?"true":"1"]:m}):i[a.jsonName]=a.isRepeated?[m]:m}return i}function xs(n,e,t){switch(e.kind){case 11:return Ss(n,
e.type,t);case 14:{let{values:s}=n.enumeration(e.type);return(s.find(({number:r})=>r!==0)??s[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function ii(n,e){let t=n.entry(e),[s,r]=t?.fields??
[];return s&&r?`map<${mt(s)}, ${mt(r)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${mt(e)}`}var oi=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],mt=n=>oi[n.kind]||(n.type.split(".").pop()??"");function ye(n,e){
return e.kind===14?vs(n.enumeration(e.type)):e.kind===12?ws():e.kind!==11?rn(e):ai(n,e.type)}function ai(n,e){switch(e){case"google.protobuf.Timestamp":return se(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return se("text","1.5s");case"google.protobuf.Fiel\
dMask":return se("text","name,homeAddress.city");case"google.protobuf.Struct":return se("json",'{ "key": "value" }');case"google.protobuf.Value":return se("json",
"any JSON");case"google.protobuf.ListValue":return se("json","[1, 2]")}let t=Z(e)?n.message(e).fields[0]:void 0;if(!t)return ks(n,e);let s=ye(n,t);return{...s,get:()=>s.
get()??Es(t)}}var Es=n=>n.kind===8?!1:n.kind===9||n.kind===12?"":0;function ks(n,e){let t=n.message(e),s=[],r=l("div",{className:"fields"}),i=new Set;for(let o of t.
fields){if(o.oneof!==void 0){if(i.has(o.oneof))continue;i.add(o.oneof);let c=pi(n,t,o.oneof);r.append(c.element),s.push({editor:c,names:[],put:d=>Object.assign(
d,c.get()),take:d=>c.set(d)});continue}let a=li(n,o);r.append(Ms(o.name,ii(n,o),o.docs,a,o.isDeprecated)),s.push({editor:a,names:[o.jsonName],put:c=>{let d=a.get();
d!==void 0&&(c[o.jsonName]=d)},take:c=>a.set(c[o.jsonName]??c[o.name])})}return t.fields.length===0&&r.append(l("p",{className:"muted"},`${e} has no fields.`)),
{element:r,get(){let o=N();for(let{put:a}of s)a(o);return o},set(o){let a=typeof o=="object"&&o!==null&&!Array.isArray(o)?o:N();for(let{take:c}of s)c(a)}}}function Ms(n,e,t,s,r){
let i=s.id?l("label",{htmlFor:s.id,className:"name"},n):l("span",{className:"name"},n);return s.id||(s.element.setAttribute("role","group"),s.element.setAttribute(
"aria-label",n)),l("div",{className:"row"},l("div",{className:"about"},i,l("span",{className:"type"},e),r&&l("span",{className:"tag"},"deprecated")),l("div",{className:"\
value"},s.element,t&&l("p",{className:"docs"},t)))}function li(n,e){let t=n.entry(e);return t?ui(n,t):e.isRepeated?di(()=>ye(n,e)):e.isOptional||e.kind===11?ci(
()=>ye(n,e),()=>e.kind===11?N():Es(e)):ye(n,e)}function ci(n,e){let t=M(),s,r=l("input",{type:"checkbox",id:t,"aria-label":"set",onchange:()=>a(r.checked)}),i=l(
"div",{className:"inside"}),o=l("div",{className:"presence"},r,i),a=c=>{r.checked=c,c?y(i,(s??=n()).element):y(i,l("span",{className:"muted"},"not set"))};return a(
!1),{element:o,get:()=>r.checked?s?.get()??e():void 0,set(c){a(c!=null),r.checked&&s?.set(c)}}}var Ns=n=>l("button",{type:"button",className:"icon","aria-label":"\
Remove",title:"Remove",onclick:n},"×");function di(n){let e=[],t=l("div",{className:"items"}),s=i=>{let o=n();i!==void 0&&o.set(i),e.push(o);let a=l("div",{className:"\
item"},o.element,Ns(()=>{e=e.filter(c=>c!==o),a.remove()}));return t.append(a),o},r=l("button",{type:"button",className:"quiet",onclick:()=>$s(s().element)},"Ad\
d");return{element:l("div",{className:"list"},t,r),get:()=>e.length>0?e.map(i=>i.get()??Ue(i)):void 0,set(i){e=[],y(t);for(let o of Array.isArray(i)?i:[])s(o)}}}
var $s=n=>(n.matches("input, textarea, select")?n:n.querySelector("input, textarea, select"))?.focus();function ui(n,e){let[t,s]=e.fields;if(!t||!s)throw new Error(
`${e.name} is no entry of a map`);let r=[],i=l("div",{className:"items"}),o=(c,d)=>{let p={key:rn({...t,kind:t.kind===8?9:t.kind}),value:ye(n,s)};p.key.element.
classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),r.push(p);let u=l("div",{className:"item"},
p.key.element,p.value.element,Ns(()=>{r=r.filter(m=>m!==p),u.remove()}));return i.append(u),p.key},a=l("button",{type:"button",className:"quiet",onclick:()=>$s(
o().element)},"Add");return{element:l("div",{className:"list"},i,a),get(){if(r.length===0)return;let c=N();for(let{key:d,value:p}of r)c[String(d.get()??Ue(d))]=
p.get()??Ue(p);return c},set(c){if(r=[],y(i),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))o(d,p)}}}function pi(n,e,t){let s=e.fields.filter(m=>m.
oneof===t),r=M(),i=l("div",{className:"inside"}),o=new Map,a=l("select",{id:r,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...s.map(m=>l("option",{
value:m.jsonName},`${m.name}: ${mt(m)}`))),c=m=>{a.value=m;let f=s.find(S=>S.jsonName===m);if(!f)return void y(i);let h=o.get(m)??ye(n,f);return o.set(m,h),h.id&&
document.getElementById(h.id)?.setAttribute("aria-label",f.name),y(i,h.element,f.docs&&l("p",{className:"docs"},f.docs)),h},{name:d,docs:p}=e.oneofs[t]??{name:"\
oneof",docs:""},u={element:l("div",{className:"oneof"},a,i),id:r,get:()=>{},set(){}};return{element:Ms(d,"oneof",p,u,!1),get(){let m=o.get(a.value);return a.value&&
m?Object.assign(N(),{[a.value]:m.get()??Ue(m)}):N()},set(m){let f=m,h=s.find(S=>(f[S.jsonName]??f[S.name])!==void 0);c(h?.jsonName??"")?.set(h&&(f[h.jsonName]??
f[h.name]))}}}var ge=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let t=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,t)}get(){let e={};for(let t of this.rows.children){let[s="",r=""]=[...t.querySelectorAll(
"input")].map(o=>o.value),i=s.trim().toLowerCase();i&&(e[i]=i.endsWith("-bin")?O(r,i):r)}return e}set(e){y(this.rows);for(let[t,s]of Object.entries(e))this.add(
t,typeof s=="string"?s:D(s))}add(e,t){let s=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),r=l("input",{
type:"text",value:t,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),i=l("div",{className:"item"},s,r,l("butto\
n",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{i.remove(),this.changed()}},"×"));return this.rows.append(i),s}},on=n=>l("dl",{className:"\
pairs"},...Object.entries(n).flatMap(([e,t])=>[l("dt",{},e),l("dd",{},typeof t=="string"?t:D(t))]));var an=1e5,mi=90;function Ts(n,e){let t=l("div",{className:"status",role:"status"}),s=l("div",{}),r=l("ol",{className:"log","aria-label":"Messages"}),{method:i}=e,
o=i.sends||i.receives;o||r.classList.add("one");let a=0;return y(n,t,s,r),()=>{y(t,...fi(e)),y(s,e.isOver&&e.status&&hi(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),on(e.metadata)));let c=r.scrollHeight-r.scrollTop-r.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;r.childElementCount>0&&r.childElementCount+p>e.messages.length;)r.firstElementChild?.remove();for(let u of e.messages.slice(d))(o||!u.isSent)&&r.append(
gi(u,o));a=e.dropped+e.messages.length,c&&(r.scrollTop=r.scrollHeight)}}function fi(n){let{sent:e,received:t,method:s}=n,i=[s.sends&&`${e} sent`,(s.sends||s.receives)&&
`${t} received`,n.waiting>0&&s.sends&&`${n.waiting} waiting`,n.dropped>0&&`${n.dropped} not kept`].filter(a=>!!a).join(", ");if(!n.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},i)];let o=n.status?.code??0;return[l("span",{className:o===0?"badge ok":"badge failed"},`${it(o)}${o===
0?"":` ${o}`}`),l("span",{className:"muted"},$(n.took),i&&`, ${i}`)]}function hi({status:n}){let e=n?.details??new Uint8Array;return l("div",{className:"block f\
ailure"},l("p",{},n?.message??""),l("p",{className:"muted"},n?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byte\
s`),e.length>0&&l("pre",{className:"code"},me(e)??ee(e.subarray(0,4096))),n&&Object.keys(n.metadata).length>0&&l("h3",{},"Metadata"),n&&Object.keys(n.metadata).
length>0&&on(n.metadata))}function yi(n){let e=n.replace(/\n\s*/g," ");return e.length<=mi?e:n}function gi(n,e){let t=e?yi(n.json):n.json,s=l("pre",{className:"\
code",tabIndex:0},_e(t.slice(0,an)),t.length>an&&`
… ${t.length-an} characters more`);return l("li",{className:n.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${n.isSent?
"↑":"↓"} ${n.number}`,e&&` · ${$(n.at)}`),l("span",{className:"grow"}),re(()=>t)),s)}var bi=500,vi=16<<20,ht=class{constructor(e,t,s,r,i){this.catalog=t;this.method=s;this.terms=r;this.changed=i;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new ln;this.run(e)}send(e,t){
this.tell(!0,e),this.outgoing.push(t),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:t,terms:s}=this;try{let{service:r,method:i}=t.callable(),o={signal:this.stop.signal,
metadata:{...e.metadata,...s.metadata},onMetadata:a=>this.metadata=a,...s.timeout!==void 0&&{timeout:s.timeout}};if(t.sends||t.receives)for await(let a of e.channel.
twoWay(r,i,this.outgoing,o))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(r,i,a,o))}}catch(r){this.status=v.from(r)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Oe(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,t){let s=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:s,json:t}),this.chars+=
t.length;this.messages.length>bi||this.chars>vi&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},ln=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
t=>this.wake=t)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var wi=["Form","JSON","Copy as"],As={curl:ss,frpc:rs,Rust:as,TypeScript:fs};function cn({sends:n,receives:e}){return n?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var yt=class{constructor(e,t,s,r){this.server=e;this.catalog=t;this.method=
s;this.records=r;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new ge(()=>this.
note(""));this.timeout=l("input",{type:"text",id:M(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=kt(wi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let i="";try{s.callable(),this.form=new ft(t.schema,
s.request,()=>this.note("")),this.form.example()}catch(o){i=o.message}this.element=l("article",{className:"method"},this.header(),i?l("p",{className:"notice"},`\
This method cannot be called here: ${i}.`):l("div",{className:"panes"},this.request(),this.output)),i||(this.tabs.select("Form"),this.act(),y(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),t=this.run&&!this.run.isOver;if(t&&!this.method.sends)return;let s=Q(
this.catalog.schema,this.method.request,V(e));t||this.begin(),this.run?.send(e,s)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:t,timeout:s}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(V(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(t),this.timeout.value=
s===void 0?"":String(s)}header(){let{method:e}=this,t=cn(e),s=r=>l("span",{className:"tag"},r);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},s(t.name),e.idempotency&&s(e.idempotency),e.isDeprecated&&s("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(s,r)=>l("button",{type:"button",className:"quiet",onclick:r},s),t=s=>{s===void 0?this.form?.example():this.form?.set(s),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>t()),e("Clear",()=>t({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let t=this.tab;this.attempt(()=>{e==="JSON"&&t!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&t==="JSON"&&
this.form?.set(V(this.json.value))}),this.tab=e,e==="Form"?y(this.body,this.form?.element):e==="JSON"?y(this.body,this.json):this.attempt(()=>y(this.body,this.commands()))}commands(){
let e=l("pre",{className:"code",tabIndex:0}),{method:t}=this,s=this.run?.messages.filter(a=>a.isSent).map(a=>V(a.json)),r=t.sends&&s&&s.length>0?s:[V(this.formText())],
i={schema:this.catalog.schema,method:t,requests:r,origin:location.origin,...this.terms()},o=kt(Object.keys(As),"Copy as",a=>{this.command=a,e.textContent="",this.
attempt(()=>e.textContent=As[this.command](i))});return o.select(this.command),l("div",{className:"commands"},l("div",{className:"bar"},o.element,l("span",{className:"\
grow"}),re(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),t=e===""?void 0:Number(e);if(t!==void 0&&!(t>=0))throw new Error(`the deadline is \
a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:t}}begin(){let e=new ht(this.server,this.catalog,this.method,this.terms(),t=>this.
changed(t));this.run=e,this.drawn={run:e,draw:Ts(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let t=e.messages.filter(s=>s.isSent);
this.records.add({path:B(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:t[t.length-1]?.json,...e.terms})}e===this.
run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.run===this.run&&this.drawn.draw(),
this.act()}act(){let{method:e,run:t}=this,s=t!==void 0&&!t.isOver,r=c=>l("kbd",{},c),i=`${s},${t?.hasEnded}`;if(this.actions.dataset.state===i)return;this.actions.
dataset.state=i;let o=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:s&&t.hasEnded,onclick:()=>this.
send()},s?"Send":"Open and send",r("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:s,onclick:()=>this.send()},"Call",r("Ctrl ↵"));y(this.actions,
a,e.sends&&!s&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&s&&l("button",{type:"button",disabled:t.hasEnded,onclick:()=>this.
end()},"End",r("Ctrl ⇧ ↵")),s&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",r("Esc"))),o&&[...this.actions.querySelectorAll("button")].find(
c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(t){this.note(t.message)}}note(e){this.problem.textContent!==e&&(this.problem.textContent=e)}};var xi={UNKNOWN:0,PLAIN:1,EXTENDED:2,FOREIGN:3},Si=b("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),Ei=b("frpc.introspection.v\
1.Close","kind:s reason:s peer:s ageMs:w"),ki=b("frpc.introspection.v1.CloseCount","kind:s count:w"),Mi=b("frpc.introspection.v1.CodeCount","code:i count:w"),dn=b(
"frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",()=>[xi]),
Ni=b("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[Si,Ui,dn,Ri]),$i=b("frpc.introspection.v1.ConnectionReques\
t","server:s number:w"),Ti=b("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[dn]),Ai=b("frpc.introspection.v1.ConnectionsRequest","server:\
s after:w limit:u"),Ci=b("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[Mi]),Ri=b("frpc.introspection.v1.Hello","version:\
u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Ii=b("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Ci]),Cs=b("frpc.introspection.v1.Se\
rver","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[ki,Ei,Pi,Ii]),Oi=b("frpc.introsp\
ection.v1.ServerConnections","connections:*m server:m",()=>[dn,Cs]),Li=b("frpc.introspection.v1.ServersReply","servers:*m",()=>[Cs]),Fi=b("frpc.introspection.v1\
.ServersRequest",""),Ui=b("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Bi=b("frpc.introspection.v1.WatchReply",
"servers:*m",()=>[Oi]),Di=b("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Pi=b("frpc.introspection.v1.Worker","tasks:w ready:w polls:w thre\
adsGivenUp:w"),gt=z("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Fi,reply:Li,idempotent:!0},connections:{operation:65031,
request:Ai,reply:Ti,idempotent:!0},connection:{operation:65032,request:$i,reply:Ni,idempotent:!0},watch:{operation:65033,request:Di,reply:Bi,receives:!0,idempotent:!0}});var ve=12e4,un=2e3,[j,X,G,we]=[480,120,44,16];function pn(n){let e=A("svg",{viewBox:`0 0 ${j} ${X}`,class:"plot",role:"img","aria-label":n});for(let[t,s]of[[0,"\
2 min ago"],[.5,"1 min"],[1,"now"]]){let r=A("text",{x:G+(j-G)*t,y:X-3,"text-anchor":t===0?"start":t===1?"end":"middle"});r.textContent=s,e.append(r)}return e}function mn(n,e,t){
let s=A("text",{x:G-6,y:e+3.5,"text-anchor":"end"});s.textContent=t,n.append(A("line",{x1:G,x2:j,y1:e,y2:e,class:"grid"}),s)}var be=X-we-8;function Rs(n,e){let t=pn(
"Calls and errors in the last two minutes"),s=ve/un,r=Array.from({length:s},()=>({ok:0,failed:0})),i=Math.floor(e/un);for(let{beganAt:c,took:d,code:p}of n){let u=r[s-
1-(i-Math.floor((c+d)/un))];u&&u[p===0?"ok":"failed"]++}let o=Math.max(4,...r.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])mn(t,X-we-be*c,String(Math.round(
o*c)));let a=(j-G)/s;return r.forEach(({ok:c,failed:d},p)=>{let u=(m,f,h)=>{f>0&&t.append(A("rect",{x:G+p*a+.75,width:a-1.5,y:X-we-(m+f)/o*be,height:f/o*be,class:h}))};
u(0,d,"failed"),u(d,c,"ok")}),t}function xe(n,e){return[...n.filter(({at:t})=>e.at-t<ve),e]}var Is=(n,e,t,s)=>e.map((r,i)=>A("polyline",{points:n.map(({at:o,values:a})=>`${t(
o).toFixed(1)},${s(a[i]??0).toFixed(1)}`).join(" "),class:r})),Os=(n,e)=>Math.max(e,...n.flatMap(({values:t})=>t));function bt(n,e,t,s,r,i){let o=pn(`${n}, in t\
he last two minutes`),a=Os(e,r),c=d=>X-we-d/a*be;for(let d of[0,.5,1])mn(o,c(a*d),i(a*d));return o.append(...Is(e,t,d=>j-(j-G)*(s-d)/ve,c)),o}function fn(n,e,t,s){
let r=Os(e,1e-9),i=A("svg",{viewBox:"0 0 120 20",class:"spark",role:"img","aria-label":n});return i.append(...Is(e,t,o=>120-120*(s-o)/ve,o=>19-o/r*18)),i}function Ls(n,e){
let t=pn("Latencies in the last two minutes"),s=n.filter(({beganAt:a,took:c})=>e-a-c<ve),r=s.map(({took:a})=>Math.log10(Math.max(a,.01))),i=Math.floor(Math.min(
0,...r)),o=Math.ceil(Math.max(2,...r));for(let a=i;a<=o;a++)mn(t,X-we-be*(a-i)/(o-i),a<3?`${10**a} ms`:`${10**(a-3)} s`);return s.forEach(({beganAt:a,took:c,code:d},p)=>{
let u=j-(j-G)*(e-a-c)/ve,m=X-we-be*((r[p]??0)-i)/(o-i);t.append(A("circle",{cx:u,cy:m,r:2.5,class:d===0?"ok":"failed"}))}),t}function Fs(n){let e=n.slice(-40),t=A(
"svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),s=Math.max(.01,...e.map(({took:r})=>r));return e.forEach(({took:r,code:i},o)=>{let a=Math.max(1.5,
r/s*20);t.append(A("rect",{x:o*3,width:2,y:20-a,height:a,class:i===0?"ok":"failed"}))}),t}var Us=1e3,_i=256,qi=50,vt=class{constructor(e,t){this.server=e;this.catalog=t;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.element.append(this.content)}see(e){let t=this.catalog()?.services.some(({name:s})=>s===gt.name)??!1;this.element.
hidden=!t,!e||!t?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){let{channel:t,
metadata:s}=this.server,{signal:r}=e;try{let i=t.serverStreaming(gt,gt.methods.watch,{intervalMs:Us,connections:_i},{signal:r,metadata:s});for await(let{servers:o}of i)
y(this.content,...o.map(a=>this.draw(a)))}catch(i){r.aborted||y(this.content,l("p",{className:"problem"},i.message))}setTimeout(()=>{this.watched===e&&(this.watched=
void 0)},Us)}draw({server:e,connections:t}){if(!e)return l("div",{});let s=Date.now(),r=this.before.get(e.name),i=new Map(e.methods.map(u=>[u.name,Ji(u,r?.methods.
get(u.name),s,r?.at)])),o=u=>hn([...i.values()].map(({rates:m})=>m.at(-1)?.values[u]??0)),a=hn(t.map(u=>Number(u.streams))),c=hn(t.map(u=>Number(u.queued))),d={
at:s,methods:i,rates:r?xe(r.rates,{at:s,values:[o(0),o(1)]}):[],open:xe(r?.open??[],{at:s,values:[Number(e.open),a]}),bytes:xe(r?.bytes??[],{at:s,values:[c,Number(
e.memoryHeld)]})};this.before.set(e.name,d);let p=t.length<e.open?` of the first ${t.length} connections`:"";return l("div",{},Wi(e),l("div",{className:"plots"},
gn(["Calls of all clients in a second, ",Hi("errors")," below"],bt("Calls and errors of all clients in a second",d.rates,["curve","curve failed"],s,4,Bs)),gn(["\
Connections, and ",Ds("streams"),p],bt("Connections and streams",d.open,["curve","curve second"],s,4,Bs)),gn(["Bytes that wait to be written",p,", and ",Ds("hel\
d for clients")],bt("Bytes that wait, and bytes held for clients",d.bytes,["curve","curve second"],s,1e3,u=>Be(BigInt(Math.round(u)))))),this.table(e,i,s),Ps(["\
connection","age","calls","oldest call","streams","queued","memory"],t.slice(0,qi).map(Vi)))}table({methods:e},t,s){let r=e.flatMap(({name:i,figures:o})=>{let a=t.
get(i);return a&&a.calls>0n?[{name:i,figures:o,...a,rate:a.rates.at(-1)?.values[0]??0}]:[]});return r.sort((i,o)=>o.rate-i.rate||Number(o.calls-i.calls)),Ps(["m\
ethod","in a second","calls","errors","p50","p99","longest","calls and errors","latencies"],r.map(({name:i,figures:o,rate:a,calls:c,failed:d,rates:p,times:u})=>[
i,a.toFixed(a<10?1:0),c,d,yn(o?.p50Ns),yn(o?.p99Ns),yn(o?.maxNs),fn(`Calls and errors of ${i}, in the last two minutes`,p,["curve","curve failed"],s),fn(`Averag\
e latencies of ${i}, in the last two minutes`,u,["curve"],s)]))}},hn=n=>n.reduce((e,t)=>e+t,0),Bs=n=>String(Math.round(n)),yn=(n=0n)=>$(Number(n)/1e6),Hi=n=>l("\
span",{className:"failed"},n),Ds=n=>l("span",{className:"second"},n),gn=(n,e)=>l("figure",{},l("figcaption",{},...n),e);function Ji({figures:n},e,t,s=t){let r=(n?.
failed??[]).reduce((d,{count:p})=>d+p,0n),i=(n?.ok??0n)+r,o=n?.sumNs??0n;if(!e||i<e.calls||t<=s)return{calls:i,failed:r,spent:o,rates:[],times:[]};let a=(t-s)/1e3,
c=Number(i-e.calls);return{calls:i,failed:r,spent:o,rates:xe(e.rates,{at:t,values:[c/a,Number(r-e.failed)/a]}),times:c>0?xe(e.times,{at:t,values:[Number(o-e.spent)/
c/1e6]}):e.times}}function Wi({name:n,open:e,opened:t,shed:s,memoryHeld:r,memoryMax:i,workers:o}){let a=[["server",n],["connections",`${e} open, ${t} in all`],[
"held for clients",`${Be(r)} of at most ${Be(i)}`],["shed",String(s)],["workers",o.length===0?"none of its own":`${o.length}, with ${o.reduce((c,{tasks:d})=>c+d,
0n)} tasks`]];return l("dl",{className:"facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Vi=({peer:n,ageMs:e,calls:t,oldestCallMs:s,streams:r,
queued:i,memory:o})=>[n||"unknown",$(Number(e)),t,t>0n?$(Number(s)):"",r,Be(i),Be(o)];function Ps(n,e){return l("div",{className:"scroll"},l("table",{},l("thead",
{},l("tr",{},...n.map((t,s)=>l("th",{scope:"col",className:s>0?"count":""},t)))),l("tbody",{},...e.map(t=>l("tr",{},...t.map((s,r)=>l("td",{className:r>0?"count":
""},s instanceof Node?s:String(s))))))))}function Be(n){let e=Number(n);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:
`${(e/1e9).toFixed(1)} GB`}var ji=1e3,wt=class{constructor(e,t,s,r,i){this.server=e;this.records=t;this.catalog=s;this.open=r;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new vt(e,s);let o=new ge(()=>{this.problem.textContent="";try{e.metadata=o.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),o.element,this.problem,l("button",{type:"button",onclick:i},"Ask for the schema again"))),setInterval(()=>this.draw(),ji)}draw(){
let e=this.element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:t,traffic:s},records:r}=this,i=this.catalog(),o=i?.services.reduce(
(p,u)=>p+u.methods.length,0)??0,a=[["connection",t==="open"?`open since ${ie(s.since)}`:t],["connections made",String(s.connections)],["sent",_s(s.sent)],["rece\
ived",_s(s.received)],["services",i?`${i.services.length}, with ${o} methods`:"unknown"]];y(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));
let c=Date.now();y(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Rs(r.all,c)),l("fi\
gure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),Ls(r.all,c)));let d=r.all.length===0?0:(r.all[r.all.length-1]?.beganAt??0)+r.all.length;
d!==this.drawnOf&&(this.drawnOf=d,y(this.methods,r.all.length>0&&this.table()),y(this.history,ot(r.all,this.open,!1)))}table(){let e=t=>l("td",{className:"count"},
t);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((t,s)=>l("th",{scope:"col",className:s>0&&
s<6?"count":""},t)))),l("tbody",{},...this.records.totals().map(({path:t,calls:s,errors:r,p50:i,p95:o,max:a,last:c})=>{let d=l("a",{href:`#/${t}`},t);return l("\
tr",{},l("td",{},d),e(String(s)),l("td",{className:r>0?"count failed":"count"},String(r)),e($(i)),e($(o)),e($(a)),l("td",{},Fs(c)))})))}};function _s(n){return n<
1e4?`${n} B`:n<1e7?`${(n/1e3).toFixed(1)} kB`:`${(n/1e6).toFixed(1)} MB`}var qs=500,Hs=2e4,xt=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:M()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let t=l("input",{type:"text",id:M(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",id:M(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),r=l("textarea",{id:M(),rows:3,spellcheck:!1}),i=this.typed("written as"),o=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"What the broker of this server publishes. A pattern has * for one part, and > for a\
ll that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),o("inline short",()=>this.watch(
t.value.trim()),l("label",{htmlFor:t.id},"Pattern"),t,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),o("inline",()=>this.
publish(s.value.trim(),r.value,i.value),l("label",{htmlFor:s.id},"Topic"),s,l("label",{htmlFor:r.id},"Payload"),r,i,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>y(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new de(e.schema)},y(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:t})=>!t).map(({name:t})=>t)].map(t=>l("option",{value:t})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let t=await this.server.topics.subscribe(e);this.watches.set(e,t);let s=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void t.return?.()},"×"));this.list.append(s),(async()=>{try{for await(let r of t)
this.arrived(r)}catch(r){this.problem.textContent=`${e}: ${r.message}`}this.watches.delete(e),s.remove()})()}async publish(e,t,s){if(!e)throw new Error("a messa\
ge has a topic");let r=t;s==="base64"?r=O(t.replace(/\s/g,"")):s==="hex"?r=Uint8Array.from(t.match(/[\da-f]{2}/gi)??[],i=>parseInt(i,16)):s!=="text"&&this.schema&&
(r=At(this.schema.tables.of(s),Q(this.schema.catalog.schema,s,V(t)))),await this.server.topics.publish(e,r)}arrived(e){this.waiting.push(e),this.waiting.length>
qs&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:t,payload:s,lagged:r}of this.waiting){r>0&&this.log.append(l("li",{className:"muted"},`${r} messages were lost here, since thi\
s page did not take them in time`));let i=this.text(s);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},t),l(
"span",{className:"muted"},`${s.length} bytes · ${ie(Date.now())}`),l("span",{className:"grow"}),re(()=>i)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
i)?_e(i):i)))}for(this.waiting=[];this.log.childElementCount>qs;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let t=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(t))return JSON.stringify(Oe(this.schema.catalog.schema,t,Ct(this.schema.tables.of(t),e)),void 0,
2)}catch(r){return`not a valid ${t}: ${r.message}
${ee(e.subarray(0,Hs))}`}let s=e.subarray(0,Hs);return(t==="hex"?void 0:me(s))??ee(s)}};var Xi=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Js,bn,Ws,De,wn]=[R("services"),R("main"),R("state"),R("filter"),R("keys")],_=new rt(`${location.origin.replace(/^http/,"ws")}/`,
()=>Gi()),Et=new qe,St=new Map,js=new xt(_),q,Pe="",Vs=!1,H,vn=0,xn=new wt(_,Et,()=>q,n=>zs(n),()=>void Xs(!0));async function Xs(n){let e=++vn,t=n?void 0:q;try{
let s=await _.catalog(t);if(e!==vn)return;if(Pe="",s){q=s;for(let[r,i]of St)i.isBusy||St.delete(r);js.know(s)}}catch(s){if(e!==vn)return;Pe=s.message}Sn(),En(),
Vs=await _.hasBroker(),R("to-topics").hidden=!Vs}function Gi(){Ws.textContent=_.wire==="open"?"connected":_.wire==="lost"?"connection lost":"connecting",Ws.className=
`state ${_.wire}`,_.wire==="open"&&setTimeout(()=>void Xs(!1))}function Sn(){let n=De.value.trim().toLowerCase().split(/\s+/),e=i=>n.every(o=>B(i).toLowerCase().
includes(o)),t=decodeURIComponent(location.hash.slice(2)),s=(q?.services??[]).map(i=>({service:i,methods:i.methods.filter(e)})).filter(({methods:i})=>i.length>0),
r=i=>/^(frpc|grpc)\./.test(i);s.sort((i,o)=>Number(r(i.service.name))-Number(r(o.service.name))),y(Js,...s.map(({service:i,methods:o})=>l("details",{open:!r(i.name)||
De.value!==""||t.startsWith(`${i.name}/`)},l("summary",{title:i.docs},l("span",{},i.name.includes(".")&&l("span",{className:"of"},i.name.slice(0,i.name.lastIndexOf(
"."))),i.name.slice(i.name.lastIndexOf(".")+1))),l("ul",{},...o.map(c=>{let d=B(c),p=cn(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.docs,className:c.isDeprecated?
"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===t&&u.setAttribute("aria-current","page"),l("\
li",{},u)}))))),s.length===0&&y(Js,l("p",{className:"empty"},q?"No method has this name.":Pe?"No services.":"Asking the server…"))}function En(){let n=decodeURIComponent(
location.hash.slice(2));for(let t of document.querySelectorAll("nav a"))decodeURIComponent(t.hash.slice(2))===n?t.setAttribute("aria-current","page"):t.removeAttribute(
"aria-current");document.body.classList.remove("listing"),H=void 0;let e=q?.services.flatMap(t=>t.methods).find(t=>B(t)===n);if(document.title=e?`${e.name} · fr\
pc console`:`${location.host} · frpc console`,n==="topics")y(bn,js.element);else if(e&&q)H=St.get(n)??new yt(_,q,e,Et),St.set(n,H),y(bn,H.element,Ki(n));else{let t=n&&
q?`The server shows no method ${n}.`:"";y(bn,Pe&&zi(),t&&l("p",{className:"notice"},t),xn.element),xn.draw()}}function zi(){return l("div",{className:"notice"},
l("p",{},`The schema of the server could not be had: ${Pe}.`),l("p",{className:"muted"},"The console needs a server with Reflection::new() of frpc-reflection. I\
f its middleware asks for metadata, such as a token, give it below and ask again."))}function Ki(n){let e=l("div",{}),t=()=>y(e,ot(Et.all.filter(s=>s.path===n),
zs,!0));return t(),Gs=t,l("section",{className:"past"},l("h2",{},"History"),e)}var Gs=()=>{};Et.listen(()=>{Gs(),xn.draw()});function zs(n){location.hash===`#/${encodeURI(
n.path)}`?H?.restore(n):(location.hash=`#/${encodeURI(n.path)}`,addEventListener("hashchange",()=>H?.restore(n),{once:!0}))}function Yi(n){let e=[...document.querySelectorAll(
"nav a, nav summary")].filter(s=>s.offsetParent!==null),t=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,t+n))]?.focus()}addEventListener("k\
eydown",n=>{let e=n.target,t=e.matches("input, textarea, select"),s=n.ctrlKey||n.metaKey;if(n.key==="Enter"&&s)n.shiftKey?H?.end():H?.send();else if(n.key==="Es\
cape"&&!wn.open){if(!H?.cancel())return}else if(n.key==="/"&&!t)De.focus();else if(n.key==="?"&&!t)wn.showModal();else if((n.key==="ArrowDown"||n.key==="ArrowUp")&&
e.closest("nav")&&!e.matches("select"))Yi(n.key==="ArrowDown"?1:-1);else return;n.preventDefault()});addEventListener("hashchange",En);De.addEventListener("inpu\
t",Sn);R("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains("listing")&&De.focus()});R("help").addEventListener(
"click",()=>wn.showModal());y(R("key-list"),...Xi.flatMap(([n,e])=>[l("dt",{},...n.split(" ").map(t=>l("kbd",{},t))),l("dd",{},e)]));Sn();En();})();
