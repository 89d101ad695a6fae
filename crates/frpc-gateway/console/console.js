"use strict";(()=>{function l(n,e={},...t){let s=document.createElement(n);for(let[r,i]of Object.entries(e))i!==void 0&&(r.startsWith("on")?s.addEventListener(r.slice(2),i):r.includes(
"-")||r==="role"||r==="list"?s.setAttribute(r,String(i)):s[r]=i);return vn(s,...t),s}function vn(n,...e){for(let t of e)t!==!1&&t!==void 0&&n.append(typeof t=="\
number"?String(t):t)}function y(n,...e){n.replaceChildren(),vn(n,...e)}function C(n,e,...t){let s=document.createElementNS("http://www.w3.org/2000/svg",n);for(let[
r,i]of Object.entries(e))s.setAttribute(r,String(i));return s.append(...t),s}function R(n){let e=document.getElementById(n);if(!e)throw new Error(`the page has \
no ${n}`);return e}var Hs=0,M=()=>`e${++Hs}`;function St(n,e,t){let s=n.map(o=>l("button",{type:"button",role:"tab",onclick:()=>r(o)},o)),r=o=>{for(let a of s){
let c=a.textContent===o;a.setAttribute("aria-selected",String(c)),a.tabIndex=c?0:-1}t(o)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:o=>{let a=o.key==="ArrowRight"?1:o.key==="ArrowLeft"?-1:0;if(a===0)return;let c=s[(s.indexOf(o.target)+a+s.length)%s.length];c?.focus(),c?.click(),o.preventDefault()}},
...s),select:r}}function oe(n){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(n()).then(()=>"Copied",()=>"\
Select and copy").then(t=>{e.textContent=t,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Be(n){let e=document.createDocumentFragment();
if(n.length>5e4)return e.append(n),e;let t=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,s=0;for(let r of n.matchAll(t)){let[i,o,a]=r;
e.append(n.slice(s,r.index)),s=r.index+i.length;let c=o===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${c}`},o??i),a??"")}return e.
append(n.slice(s)),e}var De=class{constructor(){this.all=[];this.counts=new Map;this.listeners=new Set}add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?
void 0:e.request}),this.all.length>2e3&&this.all.shift();let t=this.counts.get(e.path)??{calls:0,errors:0};t.calls++,e.code!==0&&t.errors++,this.counts.set(e.path,
t);for(let s of this.listeners)s()}listen(e){this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:t,errors:s}])=>{let r=this.all.filter(a=>a.path===
e),i=r.map(({took:a})=>a).sort((a,c)=>a-c),o=a=>i[Math.min(i.length-1,Math.floor(i.length*a))]??0;return{path:e,calls:t,errors:s,p50:o(.5),p95:o(.95),max:o(1),last:r}})}};
function $(n){return n>=1e4?`${(n/1e3).toFixed(1)} s`:`${n>=100?n.toFixed(0):n>=10?n.toFixed(1):n.toFixed(2)} ms`}var ae=n=>new Date(n).toTimeString().slice(0,8);var Js=new TextEncoder,Ws=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),kt=40,we=new DataView(new ArrayBuffer(8)),g=class extends Error{},_e=()=>{throw new g(
"it is cut off")},A=n=>Js.encode(n),F=class n{constructor(e=256){this.at=0;this.bytes=new Uint8Array(e)}room(e){let t=this.at+e;if(t>this.bytes.length){let s=new Uint8Array(
Math.max(t,this.bytes.length*2));s.set(this.bytes.subarray(0,this.at)),this.bytes=s}}byte(e){this.at===this.bytes.length&&this.room(1),this.bytes[this.at++]=e}half(e){
this.byte(e>>8),this.byte(e)}varint(e){for(;e>127;e=Math.floor(e/128))this.byte(e|128);this.byte(e)}raw(e){this.room(e.length),this.bytes.set(e,this.at),this.at+=
e.length}sized(e){this.varint(e.length),this.raw(e)}item(e,t){let s=new n(64);t?.(s),this.byte(e),this.sized(s.done())}text(e){let{at:t}=this,{length:s}=e,r=0;if(s<=
kt){this.room(s+1),this.byte(s);for(let i=0;i<s&&r<128;i++)this.byte(r=e.charCodeAt(i))}(s>kt||r>127)&&(this.at=t,this.sized(A(e)))}done(){return this.bytes.subarray(
0,this.at)}},x=class{constructor(e){this.bytes=e;this.at=0}get left(){return this.bytes.length-this.at}get next(){return this.bytes[this.at]}byte(){let{next:e}=this;
return e===void 0&&_e(),this.at++,e}varint(e=5){let t=0;for(let s=1;e-- >0;s*=128){let r=this.byte();if(r<128)return t+r*s;t+=(r-128)*s}throw new g("a number is\
 too long")}view(e=this.varint()){return e>this.left&&_e(),this.bytes.subarray(this.at,this.at+=e)}rest(){return this.bytes.slice(this.at)}text(e=this.varint()){
let{bytes:t,at:s}=this,r="",i=0;if(e<=kt)for(let o;i<e&&(o=t[s+i])<128;i++)r+=String.fromCharCode(o);if(i<e){let o=this.view(e);try{return Ws.decode(o)}catch{throw new g(
"a text is not UTF-8")}}return this.at+=e,r}};var Pe={OK:0,CANCELLED:1,UNKNOWN:2,INVALID_ARGUMENT:3,DEADLINE_EXCEEDED:4,NOT_FOUND:5,ALREADY_EXISTS:6,PERMISSION_DENIED:7,RESOURCE_EXHAUSTED:8,FAILED_PRECONDITION:9,
ABORTED:10,OUT_OF_RANGE:11,UNIMPLEMENTED:12,INTERNAL:13,UNAVAILABLE:14,DATA_LOSS:15,UNAUTHENTICATED:16};var b=class n extends Error{constructor(t,s,{details:r=new Uint8Array,metadata:i={},mayHaveRun:o=!0,cause:a}={}){super(s,{cause:a});this.code=t;this.name="Statu\
s";this.details=r,this.metadata=i,this.mayHaveRun=o}static from(t){return t instanceof n?t:new n(2,t instanceof Error?t.message:String(t),{cause:t})}},E=(n,e)=>new b(
n,e,{mayHaveRun:!1}),qe=n=>n>0&&n<=16?n:2,le=(n=!0)=>new b(1,"the caller gave the call up",{mayHaveRun:n}),He=(n=!0)=>new b(4,"no answer before the deadline",{mayHaveRun:n});var Se=100,Vs=64<<20,js=12,Mt=8,$t=56,v=(n,e,t)=>new Et(n,e,t);function Nt(n,e){let t=new F;return ke(t,n,e),t.done()}var Tt=(n,e)=>Ee(new x(e),n,0),ke=(n,e,t)=>kn(
n,e,t,Se);function Ee(n,e,t){let s={depth:Se,memory:Math.max(Vs,n.left*js),missing:t};return En(n,e,s)??Mn(e,{})}var Et=class n{constructor(e,t,s){this.name=e;this.
spec=t;this.refs=s}get fields(){if(this.known)return this.known;let e=this.refs?.()??[],t={},s=0;return this.known=(this.spec&&this.spec.split(" ")||[]).map(r=>{
let[,i,o,a,c,d,p]=/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)$/.exec(r),u=p==="e"||p==="m"?e[s++]:void 0,m=u instanceof n?Xs(u):u?Ys(u):xn[p],f=c==="?"?Gs(m):c===
"*"?zs(m):c?Ks(xn[d],m):m;if(!o)return bn(f,i);let h=t[o]??=[],S={...m,case:i,number:+a,all:h};return h.push(S),bn({...m,zero(){}},o,S)})}},bn=({kind:n,least:e,
zero:t,put:s,take:r},i,o)=>({kind:n,least:e,zero:t,put:s,take:r,name:i,member:o});function kn(n,e,t,s){if(!s)throw Sn(e.name,`nests deeper than ${Se}`);n.byte(8),
n.byte(0);let r="";try{for(let i of e.fields){let{name:o,member:a}=i;if(r=o,!a)i.put(n,t[o],s);else if(a===a.all[0]){n.byte(3);let c=t[o],d=c&&a.all.find(p=>p.case===
c.case);if(c&&!d)throw new Error(`has no member ${c.case}`);n.varint(d?d.number:0),d?.put(n,c?.value,s)}}}catch(i){throw i instanceof b?i:Sn(`${e.name}.${r}`,i.
message)}}function En(n,e,t){let s=n.byte();if(s===0)return;if(s!==8)throw new g(`${e.name}: byte ${s} begins no message`);n.byte();let r=t.depth===Se;if(!t.depth--)
throw new g(`messages nest deeper than ${Se}`);let{fields:i}=e;At(t,$t+Mt*i.length);let o={},a;for(let c of i){let{name:d,member:p}=c;if(!n.left&&r&&t.missing>0)
t.missing--,Object.hasOwn(o,d)||(o[d]=c.zero());else if(!p)o[d]=c.take(n,t);else if(p===p.all[0]&&n.next===3){n.at++,(a??=[]).push(d);let u=n.varint(),m=p.all.find(
f=>f.number===u);if(u&&!m)throw new g(`${e.name}.${d} has no member ${u}`);o[d]=m&&{case:m.case,value:Ct(m,n,t)}}else if(!a?.includes(d)){let u=p.take(n,t);(u instanceof
Uint8Array?u.length>0:u!==""&&u!==0n&&u!==!1&&u!==void 0&&!Object.is(u,0))?o[d]={case:p.case,value:u}:Object.hasOwn(o,d)||(o[d]=void 0)}}return t.depth++,o}function Mn(n,e){
for(let{name:t,zero:s}of n.fields)e[t]=s();return e}function At(n,e){if((n.memory-=e)<0)throw new g("it takes too much memory")}function We(n,e){let t=n.byte();
if(t!==e)throw new g(`kind ${t} stands in the place of ${e}`)}var Xs=n=>({kind:3,least:1,zero(){},put:(e,t,s)=>t===void 0?e.byte(0):kn(e,n,t,s-1),take:(e,t)=>En(
e,n,t),table:n});function Ct(n,e,t){let s=n.take(e,t);return s!==void 0||!n.table?s:(At(t,$t+Mt*n.table.fields.length),Mn(n.table,{}))}var Gs=n=>({...n,zero(){},
put:(e,t,s)=>t===void 0?e.byte(0):n.put(e,t,s),take:(e,t)=>e.next===0?void e.at++:n.take(e,t)});function $n(n,e,t){for(let s of e)n.byte(s);n.varint(t)}function Nn(n,e,t,s,r){
for(let o of t)We(n,o);let i=n.varint();return i*s>n.left&&_e(),At(e,i*r),i}function zs(n){let e=[1,n.kind,10];return{...n,zero:()=>[],put(t,s=[],r){$n(t,e,s.length);
for(let i of s)n.put(t,i,r)},take(t,s){let r=[];for(let i=Nn(t,s,e,n.least,Mt);i>0;i--)r.push(Ct(n,t,s));return r}}}function Ks(n,e){let t=[2,n.kind,e.kind,10];
return{...e,zero:()=>new Map,put(s,r=new Map,i){$n(s,t,r.size);for(let[o,a]of r)n.put(s,o,i),e.put(s,a,i)},take(s,r){let i=new Map;if(s.next===0)s.at++;else for(let o=Nn(
s,r,t,n.least+e.least,$t);o>0;o--)i.set(n.take(s,r),Ct(e,s,r));return i}}}var W=(n,e,t,s,r)=>({kind:n,least:e,zero:t,put(i,o=t()){i.byte(n),s(i,o)},take(i){return We(
i,n),r(i)}});function Ys(n){let e=Object.values(n);return W(10,2,()=>e[0],(t,s)=>{let r=e.indexOf(s),i=s+2147483648;xe(r>=0||s===(s|0)&&s<0&&i>=e.length,s),t.varint(
r<0?i:r)},t=>{let s=t.varint()>>>0,r=s-2147483648;if(s>=e.length&&(r>=0||e.includes(r)))throw new g(`an enum has the index ${s}`);return e[s]??r})}var Je=(n,e)=>W(
n?13:11,2,()=>e?0:0n,(t,s)=>{let r=BigInt(s),i=Number(r),o=n?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(o)&&o>=0)return t.varint(o);xe((n?BigInt.asIntN:BigInt.asUintN)(
64,r)===r,s);let a=n?r<<1n^r>>63n:r;for(;a>>53n;a>>=7n)t.byte(Number(a&127n)|128);t.varint(Number(a))},t=>{let{at:s}=t,r=t.varint(10);if(r<=Number.MAX_SAFE_INTEGER)
n&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let o=0n;s<t.at;o+=7n)i|=BigInt(t.bytes[s++]&127)<<o;i=BigInt.asUintN(64,i),r=n?i>>1n^-(i&1n):i}if(!e)return BigInt(r);
if(!Number.isSafeInteger(Number(r)))throw new g("an integer is beyond 2^53");return Number(r)}),wn=(n,e,t)=>W(n,e+1,()=>0,(s,r)=>{we[`set${t}`](0,r);for(let i=0;i<
e;i++)s.byte(we.getUint8(i))},s=>{for(let r=0;r<e;r++)we.setUint8(r,s.byte());return we[`get${t}`](0)}),xn={b:W(7,2,()=>!1,(n,e)=>n.byte(+e),n=>{let e=n.byte();
if(e>1)throw new g(`a bool is ${e}`);return e>0}),i:W(12,2,()=>0,(n,e)=>{xe(e===(e|0),e),n.varint((e<<1^e>>31)>>>0)},n=>{let e=n.varint();return e>>>1^-(e&1)}),
u:W(10,2,()=>0,(n,e)=>{xe(e===e>>>0,e),n.varint(e)},n=>n.varint()>>>0),l:Je(!0,!1),w:Je(!1,!1),L:Je(!0,!0),W:Je(!1,!0),f:wn(14,4,"Float32"),d:wn(15,8,"Float64"),
s:W(5,3,()=>"",(n,e)=>{xe(typeof e=="string",e),n.byte(10),n.text(e)},n=>(We(n,10),n.text())),y:W(4,3,()=>new Uint8Array,(n,e)=>{n.byte(10),n.sized(e)},n=>(We(n,
10),n.view().slice()))},Sn=(n,e)=>E(3,`${n} ${e}`);function xe(n,e){if(!n)throw new Error(`cannot be ${String(e)}`)}var It=16,Tn=65536,An=256,Zs=61440,Qs=/^[a-z0-9_.-]{1,256}$/,er=/^[ -~]*$/,tr={metadata:{}},Cn=(n,e)=>Qs.test(n)&&(typeof e=="string"?!Rt(n)&&er.test(e):Rt(n)),
Rt=n=>n.endsWith("-bin");function Ve(n,{backward:e,timeout:t,metadata:s,status:r}){let i=new F(64);e&&i.item(4),t!==void 0&&i.item(1,c=>c.varint(Math.min(Math.max(
0,Math.round(t*1e3)),Number.MAX_SAFE_INTEGER)));let o=Object.entries(s??{}),a=0;for(let[c,d]of o){if(!Cn(c,d))throw E(3,`metadata cannot have this entry: ${c}`);
if(a+=c.length+d.length+8,o.length>An||a>Zs)throw E(8,"too much metadata");i.item(2,p=>{p.text(c),p.raw(typeof d=="string"?A(d):d)})}r&&(i.item(3,c=>{c.varint(r.
code),i.at+r.details.length+16<=Tn&&c.raw(r.details)}),r.mayHaveRun||i.item(5)),i.at&&(n.byte(It),n.sized(i.done()))}function je(n){if(n.next!==It)return tr;n.at++;
let e=new x(n.view());if(e.left>Tn)throw new g("a prefix is too long");let t=Object.create(null),s={metadata:t},r=0;for(;e.left;){let i=e.byte(),o=new x(e.view());
if(i===1)s.timeout=o.varint(10)/1e3;else if(i===2){let a=o.text(),c=Rt(a)?o.rest():o.text(o.left);if(!Cn(a,c)||++r>An)throw new g("metadata breaks the rules");t[a]=
c}else i===3?(s.code=qe(o.varint(10)),s.details=o.rest()):i===5&&(s.refused=!0)}return s}function Rn(n){if(n[0]!==It)return!1;let e=1;for(;e<6&&n[e]>127;)e++;return n[e+
1]===4&&n[e+2]===0}var Xe=n=>n.next===6;function Ge(n,{metadata:e,code:t,details:s,refused:r}){if(n.at++,n.byte()!==5||n.byte()!==10)throw new g("an error has n\
o text");return new b(t??2,n.text(),{metadata:e,mayHaveRun:!r,...s&&{details:s}})}function In(n,e,t){Ve(n,{backward:t,status:e,metadata:e.metadata});for(let s of[
6,5,10])n.byte(s);n.text(e.message)}var z=(n,e,t,s)=>({name:n,fingerprint:e,compatible:t,methods:s});function On(n,e){if(n.fingerprint===e.fingerprint||e.compatible.includes(n.fingerprint))return 0;if(!n.compatible.includes(e.fingerprint))throw E(9,`incompatibl\
e layouts of ${n.name}`);return 1}var Ot=({added:n=[0,0]},e,t)=>e*n[t],Lt=n=>Object.values(n.methods);function Ft(n,e){let t=r=>{for(let i=0;i<16;i+=2)n.byte(parseInt(
r.slice(i,i+2),16))};n.text(e.name),t(e.fingerprint),n.varint(e.compatible.length),e.compatible.forEach(t);let s=0;for(let r of Lt(e).map(i=>i.operation).sort((i,o)=>i-
o))n.varint(r-s),s=r}function Ln(n){let e=()=>{let s="";for(let r=0;r<8;r++)s+=n.byte().toString(16).padStart(2,"0");return s},t={service:n.text(),fingerprint:e(),
compatible:[],operations:[]};for(let s=n.varint();s>0;s--)t.compatible.push(e());for(let s=0;n.left;)t.operations.push(s+=n.varint());return t}var Ut=5<<20,sr=1024,rr=65536,de=10,K=16384,ir=K/2,or=256,Ke=262144,ar=1e5,lr=64<<20,cr=65536,dr=2e3,ur=5,pr=1e4,mr=2147483647,Y=(n,e)=>setTimeout(e,Math.min(Math.
max(0,n),mr)),ze=class{constructor(e,t,s,r,i){this.owner=t;this.named=s;this.serving=r;this.mounts=i;this.bodyMax=Ut;this.streamsMax=1/0;this.credit=0;this.opened=
0;this.isUp=!1;this.isClosed=!1;this.isLeft=!1;this.out=new F(16384);this.streams=new Map;this.offered=[];this.calling=[];this.callsMax=K;this.slots=[];this.free=
[];this.ids=[];this.inFlight=0;this.givenUp=0;this.lastStream=0;this.theirStream=32767;this.known=new Map;this.need=de;this.waste=0;this.flushing=!1;this.seen=0;
this.pong=!1;this.heard=!1;this.sent=!1;this.silent=0;this.alarmAt=1/0;this.settle=()=>{this.out.at!==this.seen?(this.seen=this.out.at,queueMicrotask(this.settle)):
(this.flushing=!1,this.flush())};this.setup=Y(pr,()=>this.fail("no HELLO in time")),this.transport=e({open:()=>{this.hello(),this.flush(),this.beat=setInterval(
()=>this.tick(),dr)},data:o=>this.data(o),close:o=>this.closed(o)})}write(e,t,s){let{out:r}=this,{at:i}=r;try{for(let c of[15,e,t,0,0])r.half(c);s?.(r);let o=r.
at,a=o-i-de;if(a>this.bodyMax)throw E(8,`the message has ${a} bytes, and the server accepts ${this.bodyMax}`);r.at=i+6,r.half(a>>>16),r.half(a),r.at=o}catch(o){
throw r.at=i,o}r.at>cr?this.flush():this.flushing||(this.flushing=!0,this.seen=0,queueMicrotask(this.settle))}number(e,t,s){this.write(e,t,r=>r.varint(s))}flush(){
let{out:e}=this;e.at&&(this.pong=!1,this.sent=!0,this.isClosed||this.transport.send(e.done()),e.at=0,this.seen=0,e.bytes.length>1<<20&&(e.bytes=new Uint8Array(16384)),
this.transport.buffered()>lr&&this.fail("the server does not take what is sent"))}hello(){this.write(0,3,e=>{e.raw(A("fris"));let t=this.serving?or:0;[Ut,t,t,Ke].
forEach((s,r)=>e.item(r+1,i=>i.varint(s)));for(let s of this.serving?.services??[])e.item(32,r=>Ft(r,s));for(let s of this.named)e.item(33,r=>Ft(r,s))}),this.write(
1,0)}tick(){if(this.silent=this.heard?0:this.silent+1,this.silent>=ur)return this.fail("the server is silent");(!this.heard||!this.sent)&&this.write(0,0),this.heard=
this.sent=!1}data(e){if(this.isClosed)return;this.heard=!0;let{partial:t}=this;if(t){if(t.raw(e),t.at<this.need)return;e=t.done(),this.partial=void 0}try{let s=this.
packets(e);s<e.length&&(this.partial=new F(e.length-s),this.partial.raw(e.subarray(s)))}catch(s){if(!(s instanceof g))throw s;this.fail(`the server broke the pr\
otocol: ${s.message}`)}}packets(e){let t=0;this.need=de;let s=r=>e[t+r]<<8|e[t+r+1];for(;e.length-t>=de&&!this.isClosed;){if(s(0)!==15)throw new g("a header wit\
hout its magic");let r=s(6)*65536+s(8);if(r>Ut)throw new g(`a packet of ${r} bytes`);let i=t+de+r;if(i>e.length){this.need=i-t;break}this.handle(s(2),s(4),e.subarray(
t+de,i)),t=i}return t}handle(e,t,s){let r=new x(s),i=this.streams.get(e);if(t>=10){if(!this.isUp)throw new g("a packet before HELLO");if(Rn(s))return this.serving?
this.serving.request(this,e,t,s):this.wasted();let o=this.slots[e&K-1];if(o?.id===e&&o.operation===t)return o.isOver&&this.givenUp--,this.release(e),o.reply(s);
if(t>=65280&&this.mounts.length)return this.mounts.forEach(a=>a.packet(this,e,t,s))}else if(t<2){if(s.length)throw new g("a PING or PONG with a body");t===1?this.
isUp||this.fail("the server is a plain peer"):this.pong||(this.pong=!0,this.write(0,1));return}else{if(t===3&&!this.isUp)return this.greeted(r);if(t===2)return i?
i.received(s):this.opening(e,s);if(t===4)return this.leave();if(t===6)return this.serving?.cancel(this,e,r.varint());if(t===8)throw new g("an answer to no hand-\
off");if(t===5&&i)return i.credited(r.varint(10));if(t===7&&i)return s.length?i.wasReset(r):i.ended()}this.wasted()}wasted(){++this.waste>ar&&this.fail("too man\
y packets that belong to nothing")}greeted(e){if(e.left>rr||e.text(4)!=="fris"||!e.byte())throw new g("it sent no HELLO");for(;e.left;){let t=e.byte(),s=new x(e.
view());if(t===1)this.bodyMax=Math.max(s.varint(),sr);else if(t===2)this.streamsMax=s.varint();else if(t===3)this.callsMax=Math.min(s.varint(),K);else if(t===4)
this.credit=s.varint();else if(t===32||t===33)try{(t===32?this.offered:this.calling).push(Ln(s))}catch{}}this.isUp=!0,clearTimeout(this.setup),this.owner.room(this)}opening(e,t){
let s=e-this.theirStream&32767;if(e<32768||!s||s>16384)return this.wasted();this.theirStream=e;try{if(!this.serving)throw E(12,"this end serves nothing");this.serving.
open(this,e,t)}catch(r){this.number(e,5,0),this.reset(e,b.from(r))}}reset(e,{code:t,message:s}){this.isClosed||this.write(e,7,r=>{r.varint(t),r.raw(A(s.slice(0,
256)))})}fits(e){let t=this.known.get(e);if(t!==void 0)return t;let s=this.offered.find(r=>r.service===e.name);if(s){if(s.fingerprint!==e.fingerprint&&!this.named.
includes(e))return;t=On(e,s)}else{let r=Lt(e).map(({operation:o})=>o),i=this.offered.find(o=>o.operations.some(a=>r.includes(a)));if(i)throw E(12,`the server ha\
s ${i.service} in the place of ${e.name}`);t=0}return this.known.set(e,t),t}enter(e){if(this.inFlight>=this.callsMax)return-1;this.inFlight++;let t=this.free.pop()??
this.slots.length,s=(this.ids[t]??t)+K&65535;return this.ids[t]=s,this.slots[t]=e,e.until<this.alarmAt&&this.wake(e.until),s}release(e){let t=e&K-1;this.slots[t]=
void 0,this.free.push(t),this.inFlight--,this.inFlight===this.callsMax-1&&this.owner.room(this),this.closeIfIdle()}cancel(e){let t=e.id&K-1;this.slots[t]!==e||e.
isOver||this.isClosed||(e.isOver=!0,this.number(e.id,6,e.operation),++this.givenUp>=ir&&this.leave(),this.closeIfIdle())}streamId(){if(this.opened>=Math.min(this.
streamsMax,28672))return-1;do this.lastStream=this.lastStream%32767+1;while(this.streams.has(this.lastStream));return this.opened++,this.lastStream}over(e){this.
streams.get(e.id)===e&&(this.streams.delete(e.id),e.id<32768&&(this.opened--,this.owner.room(this)),this.closeIfIdle())}wake(e){clearTimeout(this.alarm),this.alarmAt=
e,this.alarm=Y(e-performance.now(),()=>this.expire())}expire(){let e=performance.now(),t=this.alarmAt=1/0;for(let s of this.slots)!s||s.isOver||(s.until<=e?(this.
cancel(s),s.over(He())):t=Math.min(t,s.until));t<this.alarmAt&&this.wake(t)}leave(){this.isLeft||(this.isLeft=!0,this.owner.left(this,"the server is going away"),
this.closeIfIdle())}closeIfIdle(){this.isLeft&&this.inFlight===this.givenUp&&!this.streams.size&&!this.serving?.busy(this)&&queueMicrotask(()=>this.fail("the se\
rver is going away"))}fail(e){this.isClosed||(this.flush(),this.transport.close(),this.closed(e))}closed(e){if(this.isClosed)return;this.isClosed=!0,clearInterval(
this.beat),clearTimeout(this.setup),clearTimeout(this.alarm),this.owner.left(this,e);let t=new b(14,`the connection was lost: ${e}`);for(let s of this.slots)s?.
lost(t);for(let s of[...this.streams.values()])s.lost(t);this.serving?.down(this);for(let s of this.mounts)s.down(this,t)}};var Fn={done:!0,value:void 0},ue=class{constructor(){this.items=[];this.readers=[];this.last=!1}[Symbol.asyncIterator](){return this}next(){return new Promise((e,t)=>{
this.readers.push({resolve:e,reject:t}),this.serve()})}return(){return this.leave(),this.finished(!0,!0),Promise.resolve(Fn)}get isAwaited(){return this.readers.
length>0}arrived(e){this.items.push(e),this.serve()}finished(e,t=!1){t&&(this.items.length=0),this.last||=e,this.serve()}serve(){for(;this.isAwaited;){let e=this.
items.shift();if(e===void 0&&!this.last)return;let t=this.readers.shift();try{if(e===void 0){let{last:s}=this;if(this.last=!0,this.told?.(),s instanceof b)throw s;
t.resolve(Fn)}else{let s=this.taken(e);s===void 0?this.readers.unshift(t):t.resolve({done:!1,value:s})}}catch(s){t.reject(s)}}}};var Bt=64,hr=4,Dt=(n,e)=>n instanceof g?new b(13,`not a valid ${e.name}: ${n.message}`):b.from(n),Ye=class extends ue{constructor(t,s,r){super();this.sends=t;this.
receives=s;this.metadata={};this.id=0;this.missing=0;this.credit=0;this.sending=!0;this.receiving=!0;this.refused=!1;this.discards=!1;this.unread=0;this.consumed=
0;this.whenOver=r??(()=>{})}begin(t,s,r){this.link=t,this.id=s,this.missing=r,this.credit=t.credit,t.streams.set(s,this)}get isOpen(){return this.link!==void 0}get isOver(){
return!this.sending&&!this.receiving}within(t){this.deadline=Y(t,()=>this.fail(He(this.isOpen)))}leave(){this.stop(!0)}told(){clearTimeout(this.deadline),this.id<
32768&&this.leave()}taken(t){let s=t.length+Bt;this.unread-=s,this.consumed+=s;let{link:r}=this;r&&this.consumed*hr>=Ke&&this.receiving&&(r.number(this.id,5,this.
consumed),this.consumed=0);try{let i=new x(t),o=je(i);if(i.at&&this.whenMetadata?.(this.metadata=o.metadata),i.at&&!i.left)return;if(Xe(i))throw Ge(i,o);return Ee(
i,this.receives,this.missing)}catch(i){throw this.leave(),Dt(i,this.receives)}}async pump(t,s=!1){let r=Symbol.asyncIterator in t?t[Symbol.asyncIterator]():t[Symbol.
iterator]();this.stopSource=()=>r.return?.();try{for(;;){for(;this.credit<=0&&!this.isOver;)await new Promise(c=>this.wakeSender=c);if(this.isOver)return;let i=r.
next(),{done:o,value:a}=i instanceof Promise?await i:i;if(this.isOver)return;if(o)break;this.send(a)}this.stopSource=void 0,this.finish()}catch(i){if(s)throw i;
this.stop(b.from(i))}}send(t){let{link:s}=this;!s||!this.sending||(s.write(this.id,2,r=>{let{at:i}=r;t instanceof b?In(r,t,!1):ke(r,this.sends,t),this.credit-=r.
at-i+Bt}),t instanceof b&&this.finish())}finish(){this.sending&&(this.sending=!1,this.link?.write(this.id,7),this.release())}received(t){if(!(!this.receiving||this.
discards)){if(this.unread+this.consumed>=Ke)return this.fail(new b(8,"the peer sent more than it had credit for"));this.unread+=t.length+Bt,this.arrived(this.isAwaited?
t:new Uint8Array(t))}}credited(t){this.refused||=t===0,this.credit+=t,this.credit>0&&this.wakeSender?.()}ended(){this.receiving=!1,this.finished(!0),this.release()}wasReset(t){
let s=qe(t.varint()),r="";try{r=t.text(Math.min(t.left,4096))}catch{}this.lost(new b(s,r,{mayHaveRun:!this.refused}))}lost(t){this.sending=this.receiving=!1,this.
finished(t),this.release()}fail(t){this.stop(t,t)}discard(){this.items.length=0,this.discards=!0}stop(t,s=le()){this.isOver||this.link?.reset(this.id,s),this.sending=
this.receiving=!1,this.finished(t,!0),this.release()}release(){let{whenOver:t}=this;!this.isOver||!t||(this.whenOver=void 0,this.wakeSender?.(),clearTimeout(this.
deadline),this.stopSource?.(),this.link?.over(this),t())}};var yr=3e4,gr=5e3,Un="not sent: the channel is closed",vr=20,Bn=2e3,Dn=10,Me=class{constructor(e,t={}){this.dial=e;this.options=t;this.failures=0;this.retries=Dn;
this.dialledAt=0;this.isClosed=!1;this.trouble="";this.waiting=new Map;this.named=new Set;this.mounts=[];this.owner={room:e=>queueMicrotask(()=>this.drain(e)),left:(e,t)=>{
this.link===e&&(this.link=void 0,this.judge(e,t))}};t.stayConnected&&queueMicrotask(()=>this.connect())}name(e){this.named.add(e)}mount(e){this.mounts.push(e)}connected(){
return new Promise((e,t)=>{let s=r=>(e(r),!0);this.run({isOver:!1,start:s,fail:t},1/0)})}unary(e,t,s,r){return new Promise((i,o)=>{let a=new _t(this,e,t,s,this.
terms(r),i,o);this.run(a,a.until)})}serverStreaming(e,t,s,r){return this.twoWay(e,t,[s],r)}twoWay(e,t,s,r){return this.open(e,t,s,r)}open(e,t,s,r){return new Pt(
this,e,t,s,{...this.terms(r),told:r?.timeout}).replies}async clientStreaming(e,t,s,r){let i=this.open(e,t,s,r),{done:o,value:a}=await i.next();if(o)throw new b(
13,"there is no reply");return i.leave(),a}close(){this.isClosed=!0,clearTimeout(this.pause);for(let[e,t]of this.waiting)clearTimeout(t),e.fail(E(9,Un));this.waiting.
clear(),this.link?.leave()}run(e,t){let{link:s}=this;if(s?.isUp&&this.starts(e,s))return;if(this.isClosed)return e.fail(E(9,Un));let r=performance.now()+(this.options.
patience??gr),i=()=>{let o=performance.now();o<t&&(o<r||this.link?.isUp)?this.waiting.set(e,Y((o<r?Math.min(t,r):t)-o,i)):this.waiting.delete(e)&&e.fail(o<t?this.
unreachable():_n())};this.waiting.set(e,void 0),i(),this.connect()}starts(e,t){let{isOver:s,service:r}=e;try{let i=s||!r?0:t.fits(r);return i!==void 0?s||e.start(
t,i):(this.named.add(r),this.failures=0,t.leave(),!1)}catch(i){return e.fail(b.from(i)),!0}}unreachable(){return E(14,`not sent: there is no connection to the s\
erver${this.trouble&&`; ${this.trouble}`}`)}terms(e){let{timeout:t,metadata:s}=this.options,r=e?.timeout??t;return{...e,told:r,timeout:r??yr,metadata:s&&e?.metadata?
{...s,...e.metadata}:e?.metadata??s}}earn(){this.retries<Dn&&(this.retries+=.1)}spend(){return this.retries<1?!1:(this.retries--,!0)}connect(){this.link||this.pause!==
void 0||this.isClosed||!this.waiting.size&&!this.options.stayConnected||(this.dialledAt=performance.now(),this.link=new ze(this.dial,this.owner,[...this.named],
this.options.serve,this.mounts))}judge(e,t){if(e.isUp&&performance.now()-this.dialledAt>=Bn)this.failures=0;else{this.trouble=t;let r=Math.min(vr*2**Math.min(this.
failures++,16),Bn);clearTimeout(this.pause),this.pause=Y(Math.random()*r,()=>{this.pause=void 0,this.connect()})}this.connect()}drain(e){for(let[t,s]of this.waiting){
if(this.link!==e||!this.starts(t,e))return;clearTimeout(s),this.waiting.delete(t)}}},_n=()=>E(4,"not sent: the deadline has passed"),_t=class{constructor(e,t,s,r,i,o,a){
this.channel=e;this.service=t;this.method=s;this.request=r;this.terms=i;this.resolve=o;this.reject=a;this.id=0;this.isOver=!1;this.missing=0;this.abort=()=>{this.
link?.cancel(this),this.over(le(this.link!==void 0))};this.operation=s.operation,this.until=performance.now()+i.timeout,i.signal?.addEventListener("abort",this.
abort)}start(e,t){let{terms:s,method:r}=this,{told:i,metadata:o}=s;if(s.signal?.aborted)throw le(!1);if(s.timeout<=0)throw _n();if((this.id=e.enter(this))<0)return!1;
try{e.write(this.id,this.operation,a=>{(i!==void 0||o)&&Ve(a,{timeout:i&&this.until-performance.now(),metadata:o}),ke(a,r.request,this.request)})}catch(a){throw e.
release(this.id),a}return this.missing=Ot(r,t,1),this.link=e,!0}reply(e){let{method:t,terms:s}=this;if(!this.isOver)try{let r=new x(e),i=je(r);if(Xe(r))throw Ge(
r,i);r.at&&s.onMetadata?.(i.metadata),this.resolve(Ee(r,t.reply,this.missing)),this.channel.earn(),this.end()}catch(r){this.over(Dt(r,t.reply))}}lost(e){if(this.
link=void 0,!this.isOver){if(!this.method.idempotent||!this.channel.spend())return this.over(e);this.before=e,this.channel.run(this,this.until)}}fail(e){this.over(
this.before??e)}over(e){this.reject(e),this.end()}end(){this.isOver=!0,this.terms.signal?.removeEventListener("abort",this.abort)}},Pt=class{constructor(e,t,s,r,i){
this.service=t;this.method=s;this.requests=r;this.terms=i;let{signal:o,told:a}=i,c=()=>this.replies.fail(le(this.replies.isOpen));this.replies=new Ye(s.request,
s.reply,()=>o?.removeEventListener("abort",c)),this.replies.whenMetadata=i.onMetadata,a!==void 0&&this.replies.within(a),this.until=performance.now()+(a??1/0),o?.
addEventListener("abort",c),o?.aborted?c():e.run(this,this.until)}get isOver(){return this.replies.isOver}start(e,t){let{method:s,replies:r,terms:{told:i,metadata:o}}=this;
if(!e.streamsMax)throw E(12,"the server does not accept streams");let a=e.streamId();return a<0?!1:(r.begin(e,a,Ot(s,t,1)),e.write(a,2,c=>{Ve(c,{timeout:i&&this.
until-performance.now(),metadata:o}),c.byte(9),c.varint(s.operation)}),r.pump(this.requests),!0)}fail(e){this.replies.fail(e)}};var Ze=65280,br=16<<20,qt=64,$e=class{constructor(e){this.channel=e;this.subscriptions=new Map;this.next=0;e.mount({packet:(t,s,r,i)=>this.handle(t,s,r-Ze,i),down:(t,s)=>{
if(t===this.link)for(let r of this.subscriptions.values())r.end(s)}})}async subscribe(e,{group:t=""}={}){return this.ask(0,e,t)}async publish(e,t){let s;do s=await this.
channel.connected();while(s.isClosed);s.write(0,Ze+2,r=>{r.sized(A(e)),r.raw(typeof t=="string"?A(t):t)})}async sync(){await(await this.ask(3)).return()}async ask(e,t,s){
let r;do r=this.link=await this.channel.connected();while(r.isClosed);let i=this.next=this.next%65535+1,o=new Ht(s?void 0:t?.split("."),()=>{this.subscriptions.
delete(i)&&t!==void 0&&!r.isClosed&&r.write(i,Ze+1)});return this.subscriptions.set(i,o),r.write(i,Ze+e,a=>{t!==void 0&&a.sized(A(t)),a.raw(A(s??""))}),await o.
active,o}handle(e,t,s,r){if(e!==this.link)return;let i=new x(r),o=this.subscriptions.get(t);if(s===2){let a=i.text(),c={topic:a,payload:i.rest()};if(t)o?.put(c);else
for(let d of this.subscriptions.values())d.matches(a)&&d.put(c)}else if(s===4){let a=i.varint(10);for(let c of this.subscriptions.values())c.lost+=a}else if(!r.
length)o?.activate();else{let a=i.byte(),c=a===3?8:a===4?12:3,d=E(c,i.text(i.left));this.subscriptions.delete(t),o?.end(d)}}},Ht=class extends ue{constructor(t,s){
super();this.tokens=t;this.leave=s;this.lost=0;this.activate=()=>{};this.refuse=()=>{};this.unread=0;this.active=new Promise((r,i)=>{this.activate=r,this.refuse=
i})}matches(t){let{tokens:s}=this,r=t.split(".");return!s||(s.at(-1)===">"?r.length<s.length:r.length!==s.length)?!1:s.every((i,o)=>i===">"||i==="*"||i===r[o])}put(t){
for(this.unread+=t.payload.length+qt;this.unread>br&&this.items.length>0;)this.unread-=this.items.shift().payload.length+qt,this.lost++;this.arrived(t)}end(t){this.
leave(),this.refuse(t),this.finished(t)}taken({topic:t,payload:s}){let{lost:r}=this;return this.unread-=s.length+qt,this.lost=0,{topic:t,payload:s,lagged:r}}};var Jt="frisbee.1";function Wt(n,{protocols:e=[],WebSocket:t=globalThis.WebSocket}={}){return s=>{let r=new t(String(n),[Jt,...e]);return r.binaryType="arraybuf\
fer",r.onopen=()=>{r.protocol===Jt?s.open():r.close()},r.onmessage=({data:i})=>{i instanceof ArrayBuffer?s.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.
onclose=({code:i,reason:o})=>{s.close(`the WebSocket was closed (${i}${o&&`, ${o}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var wr=64;var Qe=class{constructor(e){this.messages=new Map;this.enums=new Map;for(let{number:t,bytes:s}of I(e))t===1&&this.file(s)}message(e){let t=this.messages.get(e);
if(!t)throw new Error(`the schema has no message ${e}`);return t}enumeration(e){let t=this.enums.get(e);if(!t)throw new Error(`the schema has no enum ${e}`);return t}entry(e){
let t=e.isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return t?.isEntry?t:void 0}file(e){let t="",s=[],r=new Map;for(let{number:o,bytes:a}of I(e))o===
2?t=U(a):o===4||o===5?s.push({number:o,bytes:a}):o===9&&(r=kr(a));let i={4:0,5:0};for(let{number:o,bytes:a}of s){let c=i[o]??0;i[o]=c+1;let d=`${o},${c}`;o===4?
this.declare(a,t,[],d,r,0):this.declareEnum(a,t,[],d,r)}}declare(e,t,s,r,i,o){if(o>wr)throw new g("types are declared too deep within each other");let a=[],c=[],
d=[],p=[],u="",m=!1;for(let{number:k,bytes:T}of I(e))k===1?u=U(T):k===2?a.push(T):k===3?c.push(T):k===4?d.push(T):k===7?m=Wn(T,7):k===8&&p.push({name:Hn(T),docs:i.
get(`${r},8,${p.length}`)??""});let f=[...s,u],h=qn(t,f),S=a.map((k,T)=>xr(k,i.get(`${r},2,${T}`)??""));this.messages.set(h,{name:h,package:t,path:f,docs:i.get(
r)??"",fields:S,oneofs:p,isEntry:m}),c.forEach((k,T)=>this.declare(k,t,f,`${r},3,${T}`,i,o+1)),d.forEach((k,T)=>this.declareEnum(k,t,f,`${r},4,${T}`,i))}declareEnum(e,t,s,r,i){
let o=[],a="";for(let{number:p,bytes:u}of I(e)){if(p===1&&(a=U(u)),p!==2)continue;let m=0;for(let f of I(u))f.number===2&&(m=f.low|0);o.push({name:Hn(u),number:m,
docs:i.get(`${r},2,${o.length}`)??""})}let c=[...s,a],d=qn(t,c);this.enums.set(d,{name:d,package:t,path:c,docs:i.get(r)??"",values:o})}},Jn=n=>n===11||n===10||n===
14,qn=(n,e)=>[...n?[n]:[],...e].join(".");function xr(n,e){let t="",s="",r="",[i,o,a,c]=[0,0,0,-1],d=!1,p=!1;for(let u of I(n))u.number===1?t=U(u.bytes):u.number===
3?i=u.low:u.number===4?o=u.low:u.number===5?a=u.low:u.number===6?r=U(u.bytes).replace(/^\./,""):u.number===8?p=Wn(u.bytes,3):u.number===9?c=u.low:u.number===10?
s=U(u.bytes):u.number===17&&(d=u.low!==0);if(a<1||a>18)throw new g(`a field of the kind ${a}`);return{name:t,number:i,kind:a,type:r,isOptional:d,isDeprecated:p,
docs:e,jsonName:s||t.replace(/_(\w)/g,(u,m)=>m.toUpperCase()),isRepeated:o===3,oneof:c<0||d?void 0:c}}var Sr=new Uint8Array,U=n=>new x(n).text(n.length);function*I(n){
let e=new x(n);for(;e.left;){let t=e.varint(),s=t>>>3,r=t&7;if(r===0){let i=0,o=0;for(let a of n.subarray(e.at,(e.varint(10),e.at)))o<32&&(i|=(a&127)<<o),o+=7;yield{
number:s,bytes:Sr,low:i>>>0}}else if(r===2)yield{number:s,bytes:e.view(e.varint()),low:0};else if(r===1||r===5)e.view(r===1?8:4);else throw new g(`a field of th\
e wire type ${r}`)}}function Hn(n){for(let{number:e,bytes:t}of I(n))if(e===1)return U(t);return""}function Wn(n,e){for(let{number:t,low:s}of I(n))if(t===e)return s!==
0;return!1}function kr(n){let e=new Map;for(let{number:t,bytes:s}of I(n)){if(t!==1)continue;let r="",i="",o="";for(let c of I(s))if(c.number===1){let d=new x(c.
bytes),p=[];for(;d.left;)p.push(d.varint());r=p.join(",")}else c.number===3?i=U(c.bytes):c.number===4&&(o=U(c.bytes));let a=i||o;a&&e.set(r,et(a))}return e}var et=n=>n.
replace(/^ /gm,"").trim();var V=n=>`f${n.number}`,me=n=>`o${n}`,Vt={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
pe=class{constructor(e){this.schema=e;this.types=new Map;this.enums=new Map}of(e){let t=this.types.get(e);if(t)return t;let s=this.schema.message(e),r=Mr(this.schema,
s),i=r.map(c=>`${V(c)}:${this.spec(s,c)}`).join(" "),o=r.map(c=>this.schema.entry(c)?.fields[1]??c).filter(c=>Jn(c.kind)),a=v(e,i,()=>o.map(c=>c.kind===14?this.
choice(c.type):this.of(c.type)));return this.types.set(e,a),a}spec(e,t){let s=this.schema.entry(t),r=Vt[t.kind];if(s){let[i,o]=s.fields;if(!i||!o)throw new Error(
`${s.name} is no entry of a map`);return`%${Vt[i.kind]}${Vt[o.kind]}`}if(t.isRepeated)return`*${r}`;if(t.oneof!==void 0){let i=e.fields.filter(o=>o.oneof===t.oneof);
return`${me(t.oneof)}/${i.indexOf(t)+1}/${r}`}return t.isOptional&&r!=="m"?`?${r}`:r}choice(e){let t=this.enums.get(e);return t||(t=Er(this.schema.enumeration(e)),
this.enums.set(e,t)),t}},Er=n=>Object.fromEntries(n.values.map(({number:e},t)=>[`v${t}`,e]));function Mr(n,e){let t=s=>n.entry(s)?2:s.isRepeated?1:s.kind===11||
s.kind===10?2:0;return[0,1,2].flatMap(s=>e.fields.filter(r=>t(r)===s))}function Vn(n,e,t,s,r){let i=r.map(({operation:a,request:c,response:d,sends:p,receives:u,
isIdempotent:m})=>({operation:a,request:n.of(c),reply:n.of(d),sends:p,receives:u,idempotent:m})),o=z(e,t,s,Object.fromEntries(i.map((a,c)=>[`m${c}`,a])));return i.
map(a=>({service:o,method:a}))}var jt={POLYGLOT:0,PROTOBUF:1},Ne={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},$r=v("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),Nr=v("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),Tr=v("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[Rr]),Ar=v("fr\
pc.reflection.v1.ListRequest","etag:s"),Cr=v("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Ne]),Rr=v("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[jt,Cr]),fe=z("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:Ar,reply:Tr,receives:!0,
idempotent:!0},files:{operation:65001,request:Nr,reply:$r,receives:!0,idempotent:!0}});var jn=32<<20,B=n=>`${n.service.name}/${n.name}`,tt=class{constructor(e,t){this.url=e;this.metadata={};this.wire="connecting";this.traffic={since:0,connections:0,
sent:0,received:0};let s=Wt(e),r=o=>{this.wire=o,t()},i=o=>{let a=s({open:()=>{this.traffic.since=Date.now(),this.traffic.connections++,o.open(),r("open")},data:c=>{
this.traffic.received+=c.length,o.data(c)},close:c=>{r("lost"),o.close(c)}});return{...a,send:c=>{this.traffic.sent+=c.length,a.send(c)}}};this.channel=new Me(i,
{stayConnected:!0}),this.channel.name(fe),this.topics=new $e(this.channel)}async catalog(e){let{channel:t,metadata:s}=this,r=new Map,i="";for await(let m of t.serverStreaming(
fe,fe.methods.list,{etag:e?.etag??""},{metadata:s})){if(m.notModified)return;i||=m.etag;for(let f of m.services){let h=r.get(f.name);h?h.methods.push(...f.methods):
r.set(f.name,f)}}let o=[],a=0;for await(let{data:m}of t.serverStreaming(fe,fe.methods.files,{},{metadata:s}))if(o.push(m),a+=m.length,a>jn)throw new b(Pe.RESOURCE_EXHAUSTED,
`the schema has more than ${jn} bytes`);let c=new Uint8Array(a),d=0;for(let m of o)c.set(m,d),d+=m.length;let p=new Qe(c),u=new pe(p);return{etag:i,schema:p,services:[
...r.values()].map(m=>Ir(m,u))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function Ir(n,e){let t,s=i=>{if(n.codec!==jt.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!n.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return t??=Vn(e,n.name,n.fingerprint,n.compatible,n.methods.map(o=>({...o,sends:o.requestStreams,receives:o.responseStreams,isIdempotent:o.
idempotency!==Ne.UNKNOWN}))),t[i]},r={name:n.name,fingerprint:n.fingerprint,file:n.file,docs:et(n.docs),isDeprecated:n.isDeprecated,methods:[]};return r.methods=
n.methods.map((i,o)=>({service:r,name:i.name,operation:i.operation,request:i.request,response:i.response,sends:i.requestStreams,receives:i.responseStreams,idempotency:i.
idempotency===Ne.NO_SIDE_EFFECTS?"no side effects":i.idempotency===Ne.IDEMPOTENT?"idempotent":"",formats:i.formats,docs:et(i.docs),isDeprecated:i.isDeprecated,callable:()=>s(
o)})),r}var nt=n=>Object.entries(Pe).find(([,e])=>e===n)?.[0]??String(n);var Or=50;function st(n,e,t){let s=n.slice(-Or).reverse().map(r=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
r)},l("span",{className:"muted"},ae(r.beganAt)),l("span",{className:r.code===0?"badge ok":"badge failed"},nt(r.code)),!t&&l("span",{className:"path"},r.path),l(
"span",{className:"muted shortened"},(r.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},$(r.took)))));return s.length>0?l("ol",{className:"\
histories"},...s):l("p",{className:"empty"},"Nothing has been called yet.")}var w=class extends Error{constructor(e,t){super(e?`${e}: ${t}`:t)}},N=()=>Object.create(null),Gt=n=>typeof n=="object"&&n!==null&&!Array.isArray(n),zt=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
Z=n=>zt.test(n)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(n);function j(n){try{return JSON.parse(n||"{}")}catch(e){throw new w(
"",e.message)}}function Q(n,e,t,s=""){let r=Dr(n,e,t,s);if(r)return r;if(!Gt(t))throw new w(s,`${e} is an object`);let i=n.message(e),o={};for(let[a,c]of Object.
entries(t)){let d=i.fields.find(m=>m.jsonName===a||m.name===a),p=s?`${s}.${a}`:a;if(!d)throw new w(p,`${e} has no such field${Lr(i)}`);if(c===null&&d.type!=="go\
ogle.protobuf.Value")continue;let u=Fr(n,d,c,p);if(d.oneof===void 0)o[V(d)]=u;else{let m=me(d.oneof);if(o[m])throw new w(p,`${i.oneofs[d.oneof]?.name} has two m\
embers`);o[m]={case:V(d),value:u}}}return o}var Lr=n=>n.fields.length>0?`; it has: ${n.fields.map(e=>e.jsonName).join(", ")}`:"";function Fr(n,e,t,s){let r=n.entry(
e),[i,o]=r?.fields??[];if(i&&o){if(!Gt(t))throw new w(s,"a map is an object");return new Map(Object.entries(t).map(([a,c])=>[Ur(i,a,s),Xt(n,o,c,`${s}[${JSON.stringify(
a)}]`)]))}if(!e.isRepeated)return Xt(n,e,t,s);if(!Array.isArray(t))throw new w(s,"a list is an array");return t.map((a,c)=>Xt(n,e,a,`${s}[${c}]`))}function Ur(n,e,t){
if(n.kind!==8)return Ce(n,e,t);if(e!=="true"&&e!=="false")throw new w(t,`${e} is not true or false`);return e==="true"}var Gn=(()=>{let n=t=>[-(1n<<t-1n),(1n<<t-
1n)-1n],e=t=>[0n,(1n<<t)-1n];return{5:n(32n),17:n(32n),15:n(32n),3:n(64n),18:n(64n),16:n(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),Br=n=>[3,4,6,16,18].includes(
n),Kt=n=>n in Gn;function Xt(n,e,t,s){if(e.kind===11)return Q(n,e.type,t,s);if(e.kind!==14)return Ce(e,t,s);let{name:r,values:i}=n.enumeration(e.type);if(typeof t==
"number"&&Number.isInteger(t))return t;let o=i.find(a=>a.name===t);if(!o)throw new w(s,`${r} has no value ${Te(t)}; it has: ${i.map(a=>a.name).join(", ")}`);return o.
number}var Te=n=>JSON.stringify(n).slice(0,60);function Ce(n,e,t=""){let{kind:s}=n,r=Gn[s];if(r){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new w(t,`${Te(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new w(t,"an integer of this size is writte\
n as text, in quotes");let o=BigInt(e);if(o<r[0]||o>r[1])throw new w(t,`${o} is not from ${r[0]} to ${r[1]}`);return Br(s)?o:Number(o)}if(s===1||s===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new w(t,`${Te(e)} is no number`);return Number(
e)}if(s===8){if(typeof e!="boolean")throw new w(t,`${Te(e)} is not true or false`);return e}if(typeof e!="string")throw new w(t,`${Te(e)} is no text`);return s===
12?O(e,t):e}function Dr(n,e,t,s){let r=zt.test(e)&&n.message(e).fields[0];if(r)return{f1:Ce(r,t,s)};switch(e){case"google.protobuf.Timestamp":return _r(t,s);case"\
google.protobuf.Duration":{let i=typeof t=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(t);if(!i)throw new w(s,'a duration is written as "1.5s"');let[,o,a="",
c=""]=i,d=Number(c.padEnd(9,"0"));return{f1:BigInt(`${o}${a}`),f2:o?-d:d}}case"google.protobuf.FieldMask":if(typeof t!="string")throw new w(s,'a mask is written\
 as "name,homeAddress.city"');return{f1:t===""?[]:t.split(",").map(i=>i.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`))};case"google.protobuf.Struct":if(!Gt(
t))throw new w(s,"a Struct is an object");return{f1:new Map(Object.entries(t).map(([i,o])=>[i,Ae(o,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(t))throw new w(
s,"a ListValue is an array");return{f1:t.map(i=>Ae(i,0))};case"google.protobuf.Value":return Ae(t,0)}}function _r(n,e){let t=typeof n=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(n),s=t?Date.parse(`${t[1]}${t[3]?.toUpperCase()}`):NaN;if(!t||Number.isNaN(s))throw new w(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
s/1e3),f2:Number((t[2]??"").padEnd(9,"0"))}}function Ae(n,e){if(e>90)throw new w("","nests too deep");let t=(s,r)=>({o0:{case:`f${s}`,value:r}});return n===null?
t(1,0):typeof n=="number"?t(2,n):typeof n=="string"?t(3,n):typeof n=="boolean"?t(4,n):Array.isArray(n)?t(6,{f1:n.map(s=>Ae(s,e+1))}):t(5,{f1:new Map(Object.entries(
n).map(([s,r])=>[s,Ae(r,e+1)]))})}function Re(n,e,t){let s=Hr(n,e,t);if(s!==void 0)return s;let r=N();for(let i of n.message(e).fields){let o=i.oneof===void 0?void 0:
t[me(i.oneof)],a=i.oneof===void 0?t[V(i)]:o?.case===V(i)?o.value:void 0;if(a===void 0)continue;let c=Pr(n,i,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(r[i.jsonName]=c)}return r}function Pr(n,e,t){let s=n.entry(e)?.fields[1];if(s&&t instanceof Map){let r=N();for(let[i,o]of t)r[String(i)]=rt(n,s,o);
return r}return Array.isArray(t)?t.map(r=>rt(n,e,r)):rt(n,e,t)}function rt(n,e,t){return e.kind===11?Re(n,e.type,t):e.kind===14?n.enumeration(e.type).values.find(
({number:s})=>s===t)?.name??t:t instanceof Uint8Array?D(t):typeof t=="bigint"||typeof t=="number"&&!Number.isFinite(t)?String(t):e.kind===2?qr(t):t}function qr(n){
for(let e=6;e<10;e++){let t=Number(n.toPrecision(e));if(Math.fround(t)===n)return t}return n}function Hr(n,e,t){let s=zt.test(e)&&n.message(e).fields[0];if(s)return rt(
n,s,t.f1);switch(e){case"google.protobuf.Timestamp":{let r=Number(t.f1),i=new Date(r*1e3);return Number.isNaN(i.getTime())||r<-62135596800||r>253402300799?void 0:
`${i.toISOString().slice(0,19)}${Xn(t.f2)}Z`}case"google.protobuf.Duration":{let[r,i]=[t.f1,t.f2];return`${r<0n||i<0?"-":""}${r<0n?-r:r}${Xn(Math.abs(i))}s`}case"\
google.protobuf.FieldMask":return t.f1.map(r=>r.replace(/_([a-z])/g,(i,o)=>o.toUpperCase())).join(",");case"google.protobuf.Struct":return zn(t);case"google.pro\
tobuf.ListValue":return t.f1.map(it);case"google.protobuf.Value":return it(t)}}function zn(n){let e=N();for(let[t,s]of n.f1)e[t]=it(s);return e}function it(n){let e=n.
o0;return!e||e.case==="f1"?null:e.case==="f5"?zn(e.value):e.case==="f6"?e.value.f1.map(it):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var Xn=n=>{let e=String(n).padStart(9,"0");return n===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function D(n){let e="";for(let t=0;t<n.length;t+=32768)e+=String.
fromCharCode(...n.subarray(t,t+32768));return btoa(e)}function O(n,e=""){try{return Uint8Array.from(atob(n.replace(/-/g,"+").replace(/_/g,"/")),t=>t.charCodeAt(
0))}catch{throw new w(e,"it is no base64")}}function he(n){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(n);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var ee=n=>Array.from(n,e=>e.toString(16).padStart(2,"0")).join(" ");var te=n=>Zt(JSON.stringify(n)),Zt=n=>n.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
_=n=>/^[\w./:=@%+-]+$/.test(n)?n:`'${Zt(n).replace(/'/g,"'\\''")}'`,Kn=n=>Object.entries(n).map(([e,t])=>[e,typeof t=="string"?t:D(t)]);function Yn({method:n,requests:e,
metadata:t,timeout:s,origin:r}){let i=n.sends||n.receives,o=[i?"curl -sN":"curl",`-H 'content-type: application/${i?"connect+json":"json"}'`];s!==void 0&&o.push(
`-H ${_(`connect-timeout-ms: ${Math.round(s)}`)}`);for(let[p,u]of Kn(t))o.push(`-H ${_(`${p}: ${u}`)}`);let a=_(`${r}/${B(n)}`);if(!i)return[...o,`-d ${_(te(e[0]??
{}))}`,a].join(` \\
  `);let c=e.map(te);return[`printf '${c.map(p=>`\\0${Jr(new TextEncoder().encode(p).length)}%s`).join("")}' ${c.map(_).join(" ")} | ${o[0]}`,...o.slice(1),"--d\
ata-binary @-",a].join(` \\
  `)}var Jr=n=>[24,16,8,0].map(e=>`\\${(n>>>e&255).toString(8).padStart(3,"0")}`).join("");function Zn({method:n,requests:e,metadata:t,timeout:s,origin:r}){let{
host:i,protocol:o}=new URL(r),a=o==="https:"?`wss://${i}/`:i,c=[`frpc call --server ${_(a)}`,_(B(n))];for(let d of e)c.push(_(te(d)));for(let[d,p]of Kn(t))c.push(
`-H ${_(`${d}=${p}`)}`);return s!==void 0&&c.push(`--deadline ${Math.round(s)}ms`),c.join(` \\
  `)}var ct=n=>n.replace(/\W/g,"_")||"_",Qn=n=>ct(n).replace(/^_(?=\d)/,"-"),es=n=>ct(n).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Ie=n=>es(n).map(e=>e.toLowerCase()).join("_")||"_",ne=n=>es(n).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"\
_",ot=n=>ne(n).replace(/^./,e=>e.toLowerCase()),Wr=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move m\
ut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized vir\
tual yield gen".split(" ")),lt=n=>Wr.has(Ie(n))?/^(self|super|crate)$/.test(Ie(n))?`${Ie(n)}_`:`r#${Ie(n)}`:Ie(n),L=n=>Zt(JSON.stringify(n)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function ts(n){let{schema:e,method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=ct(t.service.name.
split(".").pop()??""),c=s.map(f=>ss(e,t.request,f,0)),d=lt(t.name),p=[`let client = ${a}Client::connect(${L(new URL(o).host)}).await?;`],u=c[0]??`${ne(t.request)}\
::default()`;t.sends&&(p.push("let (requests, source) = frpc::RequestStream::channel(16);"),u="source");let m=[...i===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(i)}));`],...Object.entries(r).map(([f,h])=>typeof h=="string"?`request.metadata_mut().insert(${L(f)}, ${L(h)})?;`:`request.metadata_mut\
().insert_bin(${L(f)}, &[${[...h].join(", ")}][..])?;`)];return m.length>0&&(p.push(`let mut request = frpc::Request::new(${u});`,...m),u="request"),t.receives?
(p.push(`let mut replies = client.${d}(${u}).await?.into_inner();`),p.push(...c.slice(0,t.sends?void 0:0).map(f=>`requests.send(${f}).await?;`),...t.sends?["dro\
p(requests);"]:[]),p.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):t.sends?(p.push(`let call = client.${d}(${u});`,
"let sending = async {",...c.map(f=>`    requests.send(${f}).await?;`),"    drop(requests);","    Ok(())","};"),p.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):p.push(`let reply = client.${d}(${u}).await?.into_inner();`,'println!("{reply:?}");'),p.join(`
`)}function ns({path:n,package:e}){let t=[...n.slice(0,-1).map(lt),ne(n[n.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${t}`:t}var Yt=(n,e)=>`${"\
    ".repeat(e)}${n}`;function ss(n,e,t,s){let r=n.message(e),i=ns(r),o=typeof t=="object"&&t!==null&&!Array.isArray(t)?t:{},a=[],c=new Set;for(let u of r.fields){
let m=o[o[u.jsonName]===void 0?u.name:u.jsonName];if(m===void 0||m===null&&u.type!=="google.protobuf.Value")continue;let f=u.oneof===void 0?void 0:r.oneofs[u.oneof],
h=Vr(n,r,u,m,s+1),S=f?f.name:u.name;c.add(S);let k=[...r.path.map(lt),ne(f?.name??"")].join("::");a.push(Yt(`${lt(S)}: ${f?`Some(${k}::${ne(u.name)}(${h}))`:h},`,
s+1))}let d=new Set(r.fields.map(u=>u.oneof===void 0?u.name:r.oneofs[u.oneof]?.name));if(a.length===0)return`${i}${d.size===0?" {}":"::default()"}`;c.size<d.size&&
a.push(Yt(`..${i}::default()`,s+1));let p=`${i} { ${a.map(u=>u.trim().replace(/,$/,"")).join(", ")} }`;return p.length<90&&!p.includes(`
`)?p:`${i} {
${a.join(`
`)}
${Yt("}",s)}`}function Vr(n,e,t,s,r){let[i,o]=n.entry(t)?.fields??[];if(i&&o)return`HashMap::from([${Object.entries(s).map(([u,m])=>`(${i.kind===9?`${L(u)}.to_o\
wned()`:Qn(u)}, ${at(n,o,m,r)})`).join(", ")}])`;if(t.isRepeated)return`vec![${s.map(d=>at(n,t,d,r)).join(", ")}]`;let a=at(n,t,s,r),c=t.kind===11&&!Z(t.type)&&
rs(n,t.type,e.name,new Set)?`Box::new(${a})`:a;return t.oneof===void 0&&(t.isOptional||t.kind===11)?`Some(${c})`:c}function rs(n,e,t,s){return e===t?!0:s.has(e)?
!1:(s.add(e),n.messages.get(e)?.fields.some(r=>r.kind===11&&!r.isRepeated&&rs(n,r.type,t,s))??!1)}function at(n,e,t,s){if(e.kind===11){let[r]=n.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${L(String(t))}.parse()?`:Z(e.type)&&r&&/Value$/.test(e.type)&&r.name===
"value"?at(n,r,t,s):Z(e.type)?jr(e.type,t):ss(n,e.type,t,s)}if(e.kind===14){let r=n.enumeration(e.type),i=r.values.find(({name:c})=>c===t);if(!i)return String(Number(
t)|0);let o=ne(r.path[r.path.length-1]??""),a=ne(i.name);return`${ns(r)}::${a.startsWith(o)&&a.length>o.length?a.slice(o.length):a}.into()`}return e.kind===12?`\
vec![${[...O(String(t))].join(", ")}]`:e.kind===9?`${L(String(t))}.to_owned()`:e.kind===1||e.kind===2?as(Number(t),e.kind===1?"f64":"f32"):Qn(String(t))}var ye="\
frpc::prost_types::";function jr(n,e){if(n==="google.protobuf.FieldMask"){let t=String(e).split(",").filter(Boolean).map(s=>s.trim().replace(/[A-Z]/g,r=>`_${r.toLowerCase()}`));
return`${ye}FieldMask { paths: vec![${t.map(s=>`${L(s)}.to_owned()`).join(", ")}] }`}return n==="google.protobuf.Struct"?`${ye}Struct { fields: ${os(e)} }`:n===
"google.protobuf.ListValue"?`${ye}ListValue { values: ${is(e)} }`:Qt(e)}function Qt(n){if(n===null)return`${ye}Value::from(${ye}value::Kind::NullValue(0))`;let e=typeof n==
"string"?L(n):typeof n=="number"?as(n,"f64"):typeof n=="boolean"?String(n):Array.isArray(n)?is(n):os(n);return`${ye}Value::from(${e})`}var is=n=>`vec![${n.map(Qt).
join(", ")}]`,os=n=>`BTreeMap::from([${Object.entries(n).map(([e,t])=>`(${L(e)}.to_owned(), ${Qt(t)})`).join(", ")}])`,as=(n,e)=>Object.is(n,-0)?"-0.0":Number.isFinite(
n)?Number.isInteger(n)&&Math.abs(n)<1e15?n.toFixed(1):String(n):Number.isNaN(n)?`${e}::NAN`:n<0?`${e}::NEG_INFINITY`:`${e}::INFINITY`;function ls(n){let{schema:e,
method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=ct(t.service.name.split(".").pop()??""),c=s.map(f=>ds(e,t.request,Q(e,t.request,f))),d=[...i===void 0?[]:
[`timeout: ${i}`],...Object.keys(r).length===0?[]:[`metadata: { ${Object.entries(r).map(([f,h])=>`${te(f)}: ${typeof h=="string"?te(h):cs(h)}`).join(", ")} }`]],
p=t.sends?`[${c.join(", ")}]`:c[0]??"{}",u=`client.${ot(t.name)}(${p}${d.length>0?`, { ${d.join(", ")} }`:""})`;return`${`const client = new ${a}Client(connect(${te(
`${o.replace(/^http/,"ws")}/`)}));`}
${t.receives?`for await (const reply of ${u}) console.log(reply);`:`console.log(await ${u});`}`}var cs=n=>`new Uint8Array([${[...n].join(", ")}])`;function ds(n,e,t){
let{fields:s,oneofs:r}=n.message(e),i=[];for(let o of s){let a=V(o);if(o.oneof===void 0){t[a]!==void 0&&i.push(`${ot(o.name)}: ${Xr(n,o,t[a])}`);continue}let c=t[me(
o.oneof)];c?.case===a&&i.push(`${ot(r[o.oneof]?.name??"")}: { case: "${ot(o.name)}", value: ${Oe(n,o,c.value)} }`)}return i.length>0?`{ ${i.join(", ")} }`:"{}"}
function Xr(n,e,t){let[s,r]=n.entry(e)?.fields??[];return s&&r?`new Map([${[...t].map(([i,o])=>`[${Oe(n,s,i)}, ${Oe(n,r,o)}]`).join(", ")}])`:e.isRepeated?`[${t.
map(i=>Oe(n,e,i)).join(", ")}]`:Oe(n,e,t)}function Oe(n,e,t){return t instanceof Uint8Array?cs(t):typeof t=="bigint"?`${t}n`:typeof t=="object"?ds(n,e.type,t):Object.
is(t,-0)?"-0":typeof t=="string"?te(t):String(t)}var us=new WeakMap;function ge(n,e){return us.set(n,e),n}var Le=n=>us.get(n)??N();var ps=16<<20,en=n=>l("textarea",{rows:1,spellcheck:!1,...n});function tn(n,e){let t="";try{e()}catch(s){t=s.message}n.setAttribute("aria-invalid",String(t!=="")),
n.title=t}function nn(n){let e=M(),{kind:t}=n;if(t===8){let o=l("input",{type:"checkbox",id:e});return ge({element:o,id:e,get:()=>o.checked||void 0,set:a=>o.checked=
a===!0},!1)}if(t===9){let o=en({id:e});return ge({element:o,id:e,get:()=>o.value||void 0,set:a=>o.value=a===void 0?"":String(a)},"")}let s=()=>tn(r,()=>void(r.value.
trim()&&Ce(n,i()))),r=l("input",{type:"text",id:e,className:"number",inputMode:Kt(t)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>s()}),i=()=>{
let o=r.value.trim();return Number.isSafeInteger(Number(o))&&!Gr(t)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(o)&&!Kt(t)?Number(o):o};return ge({element:r,id:e,get:()=>r.
value.trim()?zr(i()):void 0,set(o){r.value=o==null?"":String(o),s()}},0)}var Gr=n=>n===3||n===4||n===6||n===16||n===18,zr=n=>n===0&&!Object.is(n,-0)||n==="0"?void 0:
n;function ms(n){let e=M(),t=l("select",{id:e},...n.values.map(({name:r,number:i,docs:o})=>l("option",{value:r,title:o},`${r} = ${i}`))),[s]=n.values;return ge(
{element:t,id:e,get:()=>t.value===s?.name?void 0:t.value,set:r=>t.value=n.values.find(({name:i,number:o})=>i===r||o===r)?.name??s?.name??""},s?.name??0)}function fs(){
let n=M(),e,t=en({id:n,oninput:()=>m()}),s=l("select",{"aria-label":"written as",onchange:()=>u()},...["text","base64","hex"].map(h=>l("option",{},h))),r=s.value,
i=l("span",{className:"muted"}),o=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=o.files?.[0];if(h){if(h.size>ps){i.textContent=`${h.
name} has more than ${ps>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),i.textContent=`${h.name}, ${e.length} bytes`,t.disabled=s.disabled=!0,a.hidden=
!1,f.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>c()},"×"),c=()=>{
e=void 0,i.textContent=o.value="",t.disabled=s.disabled=!1,a.hidden=!0},d=h=>{if(h==="text")return new TextEncoder().encode(t.value);if(h==="base64")return O(t.
value.replace(/\s/g,""));let S=t.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(S))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(S.match(/../g)??[],k=>parseInt(k,16))},p=(h,S)=>{let k=S==="text"?he(h):void 0;s.value=r=S==="text"&&k===void 0?"base64":S,t.value=s.value==="text"?k??"":s.
value==="hex"?ee(h):D(h),m()},u=()=>{try{p(d(r),s.value)}catch{r=s.value,m()}},m=()=>tn(t,()=>void d(s.value)),f=l("div",{className:"bytes"},t,s,l("button",{type:"\
button",className:"quiet",onclick:()=>o.click()},"File…"),o,i,a);return ge({element:f,id:n,get(){let h=e??d(s.value);return h.length>0?D(h):void 0},set(h){c(),
p(typeof h=="string"?O(h):new Uint8Array,s.value)}},"")}function se(n,e,t){let s=M(),r=en({id:s,placeholder:e,oninput:()=>tn(r,()=>void(n==="json"&&r.value&&JSON.
parse(r.value)))}),i=t&&l("button",{type:"button",className:"quiet",onclick:()=>r.value=t.json()},t.label);return{element:l("div",{className:"free"},r,i),id:s,get:()=>r.
value.trim()?n==="json"?JSON.parse(r.value):r.value.trim():void 0,set:o=>r.value=o===void 0?"":n==="json"?JSON.stringify(o):String(o)}}var Kr=3,ut=class{constructor(e,t,s){this.schema=e;this.name=t;this.editor=vs(e,t),this.element=l("div",{className:"form",oninput:s,onchange:s,onclick:s},this.editor.
element)}get(){return this.editor.get()??N()}set(e){this.editor.set(e)}example(){this.set(ys(this.schema,this.name,[]))}};function ys(n,e,t){switch(e){case"goog\
le.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let s=n.message(
e),r=s.fields[0];if(Z(e)&&r)return hs(n,r,t);let i=N(),o=[...t,e];for(let a of s.fields){let c=n.entry(a),d=c?.fields[1]??a,p=a.oneof===void 0||s.fields.find(h=>h.
oneof===a.oneof)===a,u=d.kind===11&&(o.includes(d.type)||o.length>Kr);if(!p||u||d.kind===10||a.isDeprecated)continue;let m=hs(n,d,o),f=c?.fields[0];f?i[a.jsonName]=
Object.assign(N(),{[f.kind===9?"key":f.kind===8?"true":"1"]:m}):i[a.jsonName]=a.isRepeated?[m]:m}return i}function hs(n,e,t){switch(e.kind){case 11:return ys(n,
e.type,t);case 14:{let{values:s}=n.enumeration(e.type);return(s.find(({number:r})=>r!==0)??s[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Yr(n,e){let t=n.entry(e),[s,r]=t?.fields??
[];return s&&r?`map<${dt(s)}, ${dt(r)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${dt(e)}`}var Zr=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],dt=n=>Zr[n.kind]||(n.type.split(".").pop()??"");function ve(n,e){
return e.kind===14?ms(n.enumeration(e.type)):e.kind===12?fs():e.kind!==11?nn(e):Qr(n,e.type)}function Qr(n,e){switch(e){case"google.protobuf.Timestamp":return se(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return se("text","1.5s");case"google.protobuf.Fiel\
dMask":return se("text","name,homeAddress.city");case"google.protobuf.Struct":return se("json",'{ "key": "value" }');case"google.protobuf.Value":return se("json",
"any JSON");case"google.protobuf.ListValue":return se("json","[1, 2]")}let t=Z(e)?n.message(e).fields[0]:void 0;if(!t)return vs(n,e);let s=ve(n,t);return{...s,get:()=>s.
get()??gs(t)}}var gs=n=>n.kind===8?!1:n.kind===9||n.kind===12?"":0;function vs(n,e){let t=n.message(e),s=[],r=l("div",{className:"fields"}),i=new Set;for(let o of t.
fields){if(o.oneof!==void 0){if(i.has(o.oneof))continue;i.add(o.oneof);let c=ri(n,t,o.oneof);r.append(c.element),s.push({editor:c,names:[],put:d=>Object.assign(
d,c.get()),take:d=>c.set(d)});continue}let a=ei(n,o);r.append(bs(o.name,Yr(n,o),o.docs,a,o.isDeprecated)),s.push({editor:a,names:[o.jsonName],put:c=>{let d=a.get();
d!==void 0&&(c[o.jsonName]=d)},take:c=>a.set(c[o.jsonName]??c[o.name])})}return t.fields.length===0&&r.append(l("p",{className:"muted"},`${e} has no fields.`)),
{element:r,get(){let o=N();for(let{put:a}of s)a(o);return o},set(o){let a=typeof o=="object"&&o!==null&&!Array.isArray(o)?o:N();for(let{take:c}of s)c(a)}}}function bs(n,e,t,s,r){
let i=s.id?l("label",{htmlFor:s.id,className:"name"},n):l("span",{className:"name"},n);return s.id||(s.element.setAttribute("role","group"),s.element.setAttribute(
"aria-label",n)),l("div",{className:"row"},l("div",{className:"about"},i,l("span",{className:"type"},e),r&&l("span",{className:"tag"},"deprecated")),l("div",{className:"\
value"},s.element,t&&l("p",{className:"docs"},t)))}function ei(n,e){let t=n.entry(e);return t?si(n,t):e.isRepeated?ni(()=>ve(n,e)):e.isOptional||e.kind===11?ti(
()=>ve(n,e),()=>e.kind===11?N():gs(e)):ve(n,e)}function ti(n,e){let t=M(),s,r=l("input",{type:"checkbox",id:t,"aria-label":"set",onchange:()=>a(r.checked)}),i=l(
"div",{className:"inside"}),o=l("div",{className:"presence"},r,i),a=c=>{r.checked=c,c?y(i,(s??=n()).element):y(i,l("span",{className:"muted"},"not set"))};return a(
!1),{element:o,get:()=>r.checked?s?.get()??e():void 0,set(c){a(c!=null),r.checked&&s?.set(c)}}}var ws=n=>l("button",{type:"button",className:"icon","aria-label":"\
Remove",title:"Remove",onclick:n},"×");function ni(n){let e=[],t=l("div",{className:"items"}),s=i=>{let o=n();i!==void 0&&o.set(i),e.push(o);let a=l("div",{className:"\
item"},o.element,ws(()=>{e=e.filter(c=>c!==o),a.remove()}));return t.append(a),o},r=l("button",{type:"button",className:"quiet",onclick:()=>xs(s().element)},"Ad\
d");return{element:l("div",{className:"list"},t,r),get:()=>e.length>0?e.map(i=>i.get()??Le(i)):void 0,set(i){e=[],y(t);for(let o of Array.isArray(i)?i:[])s(o)}}}
var xs=n=>(n.matches("input, textarea, select")?n:n.querySelector("input, textarea, select"))?.focus();function si(n,e){let[t,s]=e.fields;if(!t||!s)throw new Error(
`${e.name} is no entry of a map`);let r=[],i=l("div",{className:"items"}),o=(c,d)=>{let p={key:nn({...t,kind:t.kind===8?9:t.kind}),value:ve(n,s)};p.key.element.
classList.add("key"),p.key.element.setAttribute("aria-label","key"),c!==void 0&&p.key.set(c),d!==void 0&&p.value.set(d),r.push(p);let u=l("div",{className:"item"},
p.key.element,p.value.element,ws(()=>{r=r.filter(m=>m!==p),u.remove()}));return i.append(u),p.key},a=l("button",{type:"button",className:"quiet",onclick:()=>xs(
o().element)},"Add");return{element:l("div",{className:"list"},i,a),get(){if(r.length===0)return;let c=N();for(let{key:d,value:p}of r)c[String(d.get()??Le(d))]=
p.get()??Le(p);return c},set(c){if(r=[],y(i),typeof c=="object"&&c!==null)for(let[d,p]of Object.entries(c))o(d,p)}}}function ri(n,e,t){let s=e.fields.filter(m=>m.
oneof===t),r=M(),i=l("div",{className:"inside"}),o=new Map,a=l("select",{id:r,onchange:()=>c(a.value)},l("option",{value:""},"not set"),...s.map(m=>l("option",{
value:m.jsonName},`${m.name}: ${dt(m)}`))),c=m=>{a.value=m;let f=s.find(S=>S.jsonName===m);if(!f)return void y(i);let h=o.get(m)??ve(n,f);return o.set(m,h),h.id&&
document.getElementById(h.id)?.setAttribute("aria-label",f.name),y(i,h.element,f.docs&&l("p",{className:"docs"},f.docs)),h},{name:d,docs:p}=e.oneofs[t]??{name:"\
oneof",docs:""},u={element:l("div",{className:"oneof"},a,i),id:r,get:()=>{},set(){}};return{element:bs(d,"oneof",p,u,!1),get(){let m=o.get(a.value);return a.value&&
m?Object.assign(N(),{[a.value]:m.get()??Le(m)}):N()},set(m){let f=m,h=s.find(S=>(f[S.jsonName]??f[S.name])!==void 0);c(h?.jsonName??"")?.set(h&&(f[h.jsonName]??
f[h.name]))}}}var be=class{constructor(e){this.changed=e;this.rows=l("div",{className:"items"});let t=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").
focus()},"Add");this.element=l("div",{className:"list metadata",oninput:e},this.rows,t)}get(){let e={};for(let t of this.rows.children){let[s="",r=""]=[...t.querySelectorAll(
"input")].map(o=>o.value),i=s.trim().toLowerCase();i&&(e[i]=i.endsWith("-bin")?O(r,i):r)}return e}set(e){y(this.rows);for(let[t,s]of Object.entries(e))this.add(
t,typeof s=="string"?s:D(s))}add(e,t){let s=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),r=l("input",{
type:"text",value:t,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),i=l("div",{className:"item"},s,r,l("butto\
n",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{i.remove(),this.changed()}},"×"));return this.rows.append(i),s}},sn=n=>l("dl",{className:"\
pairs"},...Object.entries(n).flatMap(([e,t])=>[l("dt",{},e),l("dd",{},typeof t=="string"?t:D(t))]));var rn=1e5,ii=90;function Ss(n,e){let t=l("div",{className:"status",role:"status"}),s=l("div",{}),r=l("ol",{className:"log","aria-label":"Messages"}),{method:i}=e,
o=i.sends||i.receives;o||r.classList.add("one");let a=0;return y(n,t,s,r),()=>{y(t,...oi(e)),y(s,e.isOver&&e.status&&ai(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),sn(e.metadata)));let c=r.scrollHeight-r.scrollTop-r.clientHeight<40,d=Math.max(0,a-e.dropped),p=e.messages.
length-d;for(;r.childElementCount>0&&r.childElementCount+p>e.messages.length;)r.firstElementChild?.remove();for(let u of e.messages.slice(d))(o||!u.isSent)&&r.append(
ci(u,o));a=e.dropped+e.messages.length,c&&(r.scrollTop=r.scrollHeight)}}function oi(n){let{sent:e,received:t,method:s}=n,i=[s.sends&&`${e} sent`,(s.sends||s.receives)&&
`${t} received`,n.waiting>0&&s.sends&&`${n.waiting} waiting`,n.dropped>0&&`${n.dropped} not kept`].filter(a=>!!a).join(", ");if(!n.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},i)];let o=n.status?.code??0;return[l("span",{className:o===0?"badge ok":"badge failed"},`${nt(o)}${o===
0?"":` ${o}`}`),l("span",{className:"muted"},$(n.took),i&&`, ${i}`)]}function ai({status:n}){let e=n?.details??new Uint8Array;return l("div",{className:"block f\
ailure"},l("p",{},n?.message??""),l("p",{className:"muted"},n?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byte\
s`),e.length>0&&l("pre",{className:"code"},he(e)??ee(e.subarray(0,4096))),n&&Object.keys(n.metadata).length>0&&l("h3",{},"Metadata"),n&&Object.keys(n.metadata).
length>0&&sn(n.metadata))}function li(n){let e=n.replace(/\n\s*/g," ");return e.length<=ii?e:n}function ci(n,e){let t=e?li(n.json):n.json,s=l("pre",{className:"\
code",tabIndex:0},Be(t.slice(0,rn)),t.length>rn&&`
… ${t.length-rn} characters more`);return l("li",{className:n.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${n.isSent?
"↑":"↓"} ${n.number}`,e&&` · ${$(n.at)}`),l("span",{className:"grow"}),oe(()=>t)),s)}var di=500,ui=16<<20,pt=class{constructor(e,t,s,r,i){this.catalog=t;this.method=s;this.terms=r;this.changed=i;this.messages=[];this.dropped=0;this.sent=0;this.received=
0;this.isOver=!1;this.began=performance.now();this.beganAt=Date.now();this.took=0;this.chars=0;this.stop=new AbortController;this.outgoing=new on;this.run(e)}send(e,t){
this.tell(!0,e),this.outgoing.push(t),this.method.sends||this.outgoing.end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){
return this.outgoing.length}cancel(){this.stop.abort()}async run(e){let{method:t,terms:s}=this;try{let{service:r,method:i}=t.callable(),o={signal:this.stop.signal,
metadata:{...e.metadata,...s.metadata},onMetadata:a=>this.metadata=a,...s.timeout!==void 0&&{timeout:s.timeout}};if(t.sends||t.receives)for await(let a of e.channel.
twoWay(r,i,this.outgoing,o))this.reply(a);else{let{value:a}=await this.outgoing.next();this.reply(await e.channel.unary(r,i,a,o))}}catch(r){this.status=b.from(r)}
this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),this.changed(this)}reply(e){this.tell(!1,JSON.stringify(Re(this.catalog.schema,this.method.
response,e),void 0,2))}tell(e,t){let s=e?++this.sent:++this.received;for(this.messages.push({isSent:e,at:performance.now()-this.began,number:s,json:t}),this.chars+=
t.length;this.messages.length>di||this.chars>ui&&this.messages.length>1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},on=class{constructor(){
this.isEnded=!1;this.waiting=[]}get length(){return this.waiting.length}[Symbol.asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.
isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(
t=>this.wake=t)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var pi=["Form","JSON","Copy as"],ks={curl:Yn,frpc:Zn,Rust:ts,TypeScript:ls};function an({sends:n,receives:e}){return n?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var mt=class{constructor(e,t,s,r){this.server=e;this.catalog=t;this.method=
s;this.records=r;this.json=l("textarea",{className:"code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});this.metadata=new be(()=>this.
note(""));this.timeout=l("input",{type:"text",id:M(),className:"number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});this.problem=l("p",{className:"\
problem",role:"alert"});this.body=l("div",{className:"request-body"});this.actions=l("div",{className:"actions"});this.output=l("section",{className:"pane respo\
nse","aria-label":"Response"});this.tabs=St(pi,"Request",e=>this.show(e));this.tab="Form";this.command="curl";let i="";try{s.callable(),this.form=new ut(t.schema,
s.request,()=>this.note("")),this.form.example()}catch(o){i=o.message}this.element=l("article",{className:"method"},this.header(),i?l("p",{className:"notice"},`\
This method cannot be called here: ${i}.`):l("div",{className:"panes"},this.request(),this.output)),i||(this.tabs.select("Form"),this.act(),y(this.output,l("p",
{className:"empty"},"Nothing has been called yet.")))}send(){this.attempt(()=>{let e=this.text(),t=this.run&&!this.run.isOver;if(t&&!this.method.sends)return;let s=Q(
this.catalog.schema,this.method.request,j(e));t||this.begin(),this.run?.send(e,s)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){
let e=this.run!==void 0&&!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:t,timeout:s}){
e!==void 0&&(this.json.value=e,this.attempt(()=>this.form?.set(j(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(t),this.timeout.value=
s===void 0?"":String(s)}header(){let{method:e}=this,t=an(e),s=r=>l("span",{className:"tag"},r);return l("header",{className:"title"},l("h1",{},l("span",{className:"\
of"},`${e.service.name}/`),e.name),l("p",{className:"tags"},s(t.name),e.idempotency&&s(e.idempotency),e.isDeprecated&&s("deprecated"),l("span",{className:"muted"},
`${e.sends?"stream ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){
let e=(s,r)=>l("button",{type:"button",className:"quiet",onclick:r},s),t=s=>{s===void 0?this.form?.example():this.form?.set(s),this.json.value=this.formText(),this.
tabs.select(this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.
element,l("span",{className:"grow"}),e("Example",()=>t()),e("Clear",()=>t({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),
this.metadata.element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"\
value unit"},this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.
json.value.trim()||"{}":this.formText()}show(e){let t=this.tab;this.attempt(()=>{e==="JSON"&&t!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&t==="JSON"&&
this.form?.set(j(this.json.value))}),this.tab=e,e==="Form"?y(this.body,this.form?.element):e==="JSON"?y(this.body,this.json):this.attempt(()=>y(this.body,this.commands()))}commands(){
let e=l("pre",{className:"code",tabIndex:0}),{method:t}=this,s=this.run?.messages.filter(a=>a.isSent).map(a=>j(a.json)),r=t.sends&&s&&s.length>0?s:[j(this.formText())],
i={schema:this.catalog.schema,method:t,requests:r,origin:location.origin,...this.terms()},o=St(Object.keys(ks),"Copy as",a=>{this.command=a,e.textContent="",this.
attempt(()=>e.textContent=ks[this.command](i))});return o.select(this.command),l("div",{className:"commands"},l("div",{className:"bar"},o.element,l("span",{className:"\
grow"}),oe(()=>e.textContent??"")),e)}terms(){let e=this.timeout.value.trim(),t=e===""?void 0:Number(e);if(t!==void 0&&!(t>=0))throw new Error(`the deadline is \
a number of milliseconds, not ${e}`);return{metadata:this.metadata.get(),timeout:t}}begin(){let e=new pt(this.server,this.catalog,this.method,this.terms(),t=>this.
changed(t));this.run=e,this.drawn={run:e,draw:Ss(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let t=e.messages.filter(s=>s.isSent);
this.records.add({path:B(this.method),beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:t[t.length-1]?.json,...e.terms})}e===this.
run&&(this.pending??=setTimeout(()=>this.draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.run===this.run&&this.drawn.draw(),
this.act()}act(){let{method:e,run:t}=this,s=t!==void 0&&!t.isOver,r=c=>l("kbd",{},c),i=`${s},${t?.hasEnded}`;if(this.actions.dataset.state===i)return;this.actions.
dataset.state=i;let o=this.actions.contains(document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:s&&t.hasEnded,onclick:()=>this.
send()},s?"Send":"Open and send",r("Ctrl ↵")):l("button",{type:"button",className:"primary",disabled:s,onclick:()=>this.send()},"Call",r("Ctrl ↵"));y(this.actions,
a,e.sends&&!s&&l("button",{type:"button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&s&&l("button",{type:"button",disabled:t.hasEnded,onclick:()=>this.
end()},"End",r("Ctrl ⇧ ↵")),s&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",r("Esc"))),o&&[...this.actions.querySelectorAll("button")].find(
c=>!c.disabled)?.focus()}attempt(e){this.note("");try{e()}catch(t){this.note(t.message)}}note(e){this.problem.textContent!==e&&(this.problem.textContent=e)}};var mi={UNKNOWN:0,PLAIN:1,EXTENDED:2,FOREIGN:3},fi=v("frpc.introspection.v1.Call","id:u method:s ageMs:w timeLeftMs:w hasDeadline:b"),hi=v("frpc.introspection.v\
1.Close","kind:s reason:s peer:s ageMs:w"),yi=v("frpc.introspection.v1.CloseCount","kind:s count:w"),gi=v("frpc.introspection.v1.CodeCount","code:i count:w"),ln=v(
"frpc.introspection.v1.Connection","number:w peer:s local:s ageMs:w kind:e calls:w streams:w queued:w memory:w oldestCallMs:w isGoingAway:b isWithin:b",()=>[mi]),
vi=v("frpc.introspection.v1.ConnectionReply","routed:s calls:*m streams:*m connection:m hello:m",()=>[fi,Ti,ln,ki]),bi=v("frpc.introspection.v1.ConnectionReques\
t","server:s number:w"),wi=v("frpc.introspection.v1.ConnectionsReply","next:w connections:*m",()=>[ln]),xi=v("frpc.introspection.v1.ConnectionsRequest","server:\
s after:w limit:u"),Si=v("frpc.introspection.v1.Figures","ok:w sumNs:w p50Ns:w p99Ns:w maxNs:w failed:*m",()=>[gi]),ki=v("frpc.introspection.v1.Hello","version:\
u bodyMax:u streamsMax:u callsMax:u streamCredit:u"),Ei=v("frpc.introspection.v1.Method","name:s operation:u figures:m",()=>[Si]),Es=v("frpc.introspection.v1.Se\
rver","name:s memoryMax:w memoryHeld:w opened:w open:w shed:w notAccepted:w closes:*m lastCloses:*m workers:*m methods:*m",()=>[yi,hi,Ri,Ei]),Mi=v("frpc.introsp\
ection.v1.ServerConnections","connections:*m server:m",()=>[ln,Es]),$i=v("frpc.introspection.v1.ServersReply","servers:*m",()=>[Es]),Ni=v("frpc.introspection.v1\
.ServersRequest",""),Ti=v("frpc.introspection.v1.Stream","id:u isOpenedHere:b credit:l isUnlimited:b window:w unread:w"),Ai=v("frpc.introspection.v1.WatchReply",
"servers:*m",()=>[Mi]),Ci=v("frpc.introspection.v1.WatchRequest","intervalMs:u connections:u"),Ri=v("frpc.introspection.v1.Worker","tasks:w ready:w polls:w thre\
adsGivenUp:w"),ft=z("frpc.introspection.v1.Introspection","380caec6a8a434b0",[],{servers:{operation:65030,request:Ni,reply:$i,idempotent:!0},connections:{operation:65031,
request:xi,reply:wi,idempotent:!0},connection:{operation:65032,request:bi,reply:vi,idempotent:!0},watch:{operation:65033,request:Ci,reply:Ai,receives:!0,idempotent:!0}});var ht=12e4,cn=2e3,[X,P,G,ie]=[480,120,44,16];function dn(n){let e=C("svg",{viewBox:`0 0 ${X} ${P}`,class:"plot",role:"img","aria-label":n});for(let[t,s]of[[0,"\
2 min ago"],[.5,"1 min"],[1,"now"]]){let r=C("text",{x:G+(X-G)*t,y:P-3,"text-anchor":t===0?"start":t===1?"end":"middle"});r.textContent=s,e.append(r)}return e}function un(n,e,t){
let s=C("text",{x:G-6,y:e+3.5,"text-anchor":"end"});s.textContent=t,n.append(C("line",{x1:G,x2:X,y1:e,y2:e,class:"grid"}),s)}var re=P-ie-8;function Ms(n,e){let t=dn(
"Calls and errors in the last two minutes"),s=ht/cn,r=Array.from({length:s},()=>({ok:0,failed:0})),i=Math.floor(e/cn);for(let{beganAt:c,took:d,code:p}of n){let u=r[s-
1-(i-Math.floor((c+d)/cn))];u&&u[p===0?"ok":"failed"]++}let o=Math.max(4,...r.map(({ok:c,failed:d})=>c+d));for(let c of[0,.5,1])un(t,P-ie-re*c,String(Math.round(
o*c)));let a=(X-G)/s;return r.forEach(({ok:c,failed:d},p)=>{let u=(m,f,h)=>{f>0&&t.append(C("rect",{x:G+p*a+.75,width:a-1.5,y:P-ie-(m+f)/o*re,height:f/o*re,class:h}))};
u(0,d,"failed"),u(d,c,"ok")}),t}function $s(n,e){let t=dn("Calls and errors of all clients in a second, in the last two minutes"),s=Math.max(4,...n.map(({calls:r})=>r));
for(let r of[0,.5,1])un(t,P-ie-re*r,String(Math.round(s*r)));for(let r of["calls","failed"]){let i=n.map(o=>`${X-(X-G)*(e-o.at)/ht},${P-ie-o[r]/s*re}`);t.append(
C("polyline",{points:i.join(" "),class:r==="calls"?"curve":"curve failed"}))}return t}function Ns(n,e){let t=dn("Latencies in the last two minutes"),s=n.filter(
({beganAt:a,took:c})=>e-a-c<ht),r=s.map(({took:a})=>Math.log10(Math.max(a,.01))),i=Math.floor(Math.min(0,...r)),o=Math.ceil(Math.max(2,...r));for(let a=i;a<=o;a++)
un(t,P-ie-re*(a-i)/(o-i),a<3?`${10**a} ms`:`${10**(a-3)} s`);return s.forEach(({beganAt:a,took:c,code:d},p)=>{let u=X-(X-G)*(e-a-c)/ht,m=P-ie-re*((r[p]??0)-i)/(o-
i);t.append(C("circle",{cx:u,cy:m,r:2.5,class:d===0?"ok":"failed"}))}),t}function Ts(n){let e=n.slice(-40),t=C("svg",{viewBox:"0 0 120 20",class:"spark","aria-h\
idden":"true"}),s=Math.max(.01,...e.map(({took:r})=>r));return e.forEach(({took:r,code:i},o)=>{let a=Math.max(1.5,r/s*20);t.append(C("rect",{x:o*3,width:2,y:20-
a,height:a,class:i===0?"ok":"failed"}))}),t}var As=1e3,Ii=50,Oi=12e4,yt=class{constructor(e,t){this.server=e;this.catalog=t;this.element=l("section",{className:"server",hidden:!0},l("h2",{},"The server"));
this.content=l("div",{});this.before=new Map;this.rates=new Map;this.element.append(this.content)}see(e){let t=this.catalog()?.services.some(({name:s})=>s===ft.
name)??!1;this.element.hidden=!t,!e||!t?(this.watched?.abort(),this.watched=void 0):this.watched||(this.watched=new AbortController,this.watch(this.watched))}async watch(e){
let{channel:t,metadata:s}=this.server,{signal:r}=e;try{let i=t.serverStreaming(ft,ft.methods.watch,{intervalMs:As,connections:Ii},{signal:r,metadata:s});for await(let{
servers:o}of i)y(this.content,...o.map(a=>this.draw(a)))}catch(i){r.aborted||y(this.content,l("p",{className:"problem"},i.message))}setTimeout(()=>{this.watched===
e&&(this.watched=void 0)},As)}draw({server:e,connections:t}){if(!e)return l("div",{});let s=Date.now(),r=this.before.get(e.name),i=r&&(s-r.at)/1e3,o=e.methods.map(
d=>{let[p,u]=Li(d),[m,f]=r?.methods.get(d.name)??[p,u];return{method:d,calls:p,failed:u,rate:i?Number(p-m)/i:0,failing:i?Number(u-f)/i:0}});this.before.set(e.name,
{at:s,methods:new Map(o.map(({method:d,calls:p,failed:u})=>[d.name,[p,u]]))});let a=(this.rates.get(e.name)??[]).filter(d=>s-d.at<Oi);this.rates.set(e.name,a),r&&
a.push({at:s,calls:Cs(o.map(({rate:d})=>d)),failed:Cs(o.map(({failing:d})=>d))});let c=o.filter(({calls:d})=>d>0n).sort((d,p)=>p.rate-d.rate||Number(p.calls-d.calls)).
map(({method:{name:d,figures:p},calls:u,failed:m,rate:f})=>[d,f.toFixed(f<10?1:0),u,m,$(Number(p?.p50Ns??0n)/1e6),$(Number(p?.p99Ns??0n)/1e6),$(Number(p?.maxNs??
0n)/1e6)]);return l("div",{},Fi(e),l("div",{className:"plots"},l("figure",{},l("figcaption",{},"Calls of all clients in a second, ",l("span",{className:"failed"},
"errors")," below"),$s(a,s))),Rs(["method","in a second","calls","errors","p50","p99","longest"],c),Rs(["connection","age","calls","oldest call","streams","queu\
ed","memory"],t.map(Ui)))}},Cs=n=>n.reduce((e,t)=>e+t,0);function Li({figures:n}){let e=(n?.failed??[]).reduce((t,{count:s})=>t+s,0n);return[(n?.ok??0n)+e,e]}function Fi({
name:n,open:e,opened:t,shed:s,memoryHeld:r,memoryMax:i,workers:o}){let a=[["server",n],["connections",`${e} open, ${t} in all`],["held for clients",`${gt(r)} of\
 at most ${gt(i)}`],["shed",String(s)],["workers",o.length===0?"none of its own":`${o.length}, with ${o.reduce((c,{tasks:d})=>c+d,0n)} tasks`]];return l("dl",{className:"\
facts"},...a.map(([c,d])=>l("div",{},l("dt",{},c),l("dd",{},d))))}var Ui=({peer:n,ageMs:e,calls:t,oldestCallMs:s,streams:r,queued:i,memory:o})=>[n||"unknown",$(
Number(e)),t,t>0n?$(Number(s)):"",r,gt(i),gt(o)];function Rs(n,e){return l("div",{className:"scroll"},l("table",{},l("thead",{},l("tr",{},...n.map((t,s)=>l("th",
{scope:"col",className:s>0?"count":""},t)))),l("tbody",{},...e.map(t=>l("tr",{},...t.map((s,r)=>l("td",{className:r>0?"count":""},String(s))))))))}function gt(n){
let e=Number(n);return e<1e4?`${e} B`:e<1e7?`${(e/1e3).toFixed(1)} kB`:e<1e10?`${(e/1e6).toFixed(1)} MB`:`${(e/1e9).toFixed(1)} GB`}var Bi=1e3,vt=class{constructor(e,t,s,r,i){this.server=e;this.records=t;this.catalog=s;this.open=r;this.facts=l("dl",{className:"facts"});this.plots=l("div",{className:"\
plots"});this.methods=l("div",{className:"scroll"});this.history=l("div",{});this.problem=l("p",{className:"problem",role:"alert"});this.drawnOf=-1;this.figures=
new yt(e,s);let o=new be(()=>{this.problem.textContent="";try{e.metadata=o.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"\
overview"},l("header",{className:"title"},l("h1",{},location.host),this.facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),this.figures.
element,l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metadata of every call"),l("p",{className:"muted"},"Such as a token. It is k\
ept until the page is closed."),o.element,this.problem,l("button",{type:"button",onclick:i},"Ask for the schema again"))),setInterval(()=>this.draw(),Bi)}draw(){
let e=this.element.isConnected&&!document.hidden;if(this.figures.see(e),!e)return;let{server:{wire:t,traffic:s},records:r}=this,i=this.catalog(),o=i?.services.reduce(
(p,u)=>p+u.methods.length,0)??0,a=[["connection",t==="open"?`open since ${ae(s.since)}`:t],["connections made",String(s.connections)],["sent",Is(s.sent)],["rece\
ived",Is(s.received)],["services",i?`${i.services.length}, with ${o} methods`:"unknown"]];y(this.facts,...a.map(([p,u])=>l("div",{},l("dt",{},p),l("dd",{},u))));
let c=Date.now();y(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds, ",l("span",{className:"failed"},"errors")," below"),Ms(r.all,c)),l("fi\
gure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),Ns(r.all,c)));let d=r.all.length===0?0:(r.all[r.all.length-1]?.beganAt??0)+r.all.length;
d!==this.drawnOf&&(this.drawnOf=d,y(this.methods,r.all.length>0&&this.table()),y(this.history,st(r.all,this.open,!1)))}table(){let e=t=>l("td",{className:"count"},
t);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","p95","longest","the last calls"].map((t,s)=>l("th",{scope:"col",className:s>0&&
s<6?"count":""},t)))),l("tbody",{},...this.records.totals().map(({path:t,calls:s,errors:r,p50:i,p95:o,max:a,last:c})=>{let d=l("a",{href:`#/${t}`},t);return l("\
tr",{},l("td",{},d),e(String(s)),l("td",{className:r>0?"count failed":"count"},String(r)),e($(i)),e($(o)),e($(a)),l("td",{},Ts(c)))})))}};function Is(n){return n<
1e4?`${n} B`:n<1e7?`${(n/1e3).toFixed(1)} kB`:`${(n/1e6).toFixed(1)} MB`}var Os=500,Ls=2e4,bt=class{constructor(e){this.server=e;this.watches=new Map;this.list=l("div",{className:"watches"});this.log=l("ol",{className:"log","aria-lab\
el":"Messages"});this.problem=l("p",{className:"problem",role:"alert"});this.types=l("datalist",{id:M()});this.as=this.typed("shown as");this.waiting=[];this.count=
0;let t=l("input",{type:"text",id:M(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"off"}),s=l("input",{type:"text",id:M(),placeholder:"\
orders.1.created",spellcheck:!1,autocomplete:"off"}),r=l("textarea",{id:M(),rows:3,spellcheck:!1}),i=this.typed("written as"),o=(a,c,...d)=>l("form",{className:a,
onsubmit:p=>{p.preventDefault(),this.problem.textContent="",c().catch(u=>this.problem.textContent=u.message)}},...d);this.element=l("article",{className:"topics"},
l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"What the broker of this server publishes. A pattern has * for one part, and > for a\
ll that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publish"},l("h2",{},"Watch"),o("inline short",()=>this.watch(
t.value.trim()),l("label",{htmlFor:t.id},"Pattern"),t,l("button",{type:"submit",className:"primary"},"Watch")),this.list,l("h2",{},"Publish"),o("inline",()=>this.
publish(s.value.trim(),r.value,i.value),l("label",{htmlFor:s.id},"Topic"),s,l("label",{htmlFor:r.id},"Payload"),r,i,l("button",{type:"submit",className:"primary"},
"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.
as,l("button",{type:"button",className:"quiet",onclick:()=>y(this.log)},"Clear")),this.log)))}know(e){this.schema={catalog:e,tables:new pe(e.schema)},y(this.types,
...["text","base64","hex",...[...e.schema.messages.values()].filter(({isEntry:t})=>!t).map(({name:t})=>t)].map(t=>l("option",{value:t})))}typed(e){return l("inp\
ut",{type:"text",list:this.types.id,value:"text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){
if(!e||this.watches.has(e))return;let t=await this.server.topics.subscribe(e);this.watches.set(e,t);let s=l("span",{className:"watch"},l("code",{},e),l("button",
{type:"button",className:"icon","aria-label":`Watch ${e} no longer`,onclick:()=>void t.return?.()},"×"));this.list.append(s),(async()=>{try{for await(let r of t)
this.arrived(r)}catch(r){this.problem.textContent=`${e}: ${r.message}`}this.watches.delete(e),s.remove()})()}async publish(e,t,s){if(!e)throw new Error("a messa\
ge has a topic");let r=t;s==="base64"?r=O(t.replace(/\s/g,"")):s==="hex"?r=Uint8Array.from(t.match(/[\da-f]{2}/gi)??[],i=>parseInt(i,16)):s!=="text"&&this.schema&&
(r=Nt(this.schema.tables.of(s),Q(this.schema.catalog.schema,s,j(t)))),await this.server.topics.publish(e,r)}arrived(e){this.waiting.push(e),this.waiting.length>
Os&&this.waiting.shift(),this.count++,this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.
log.clientHeight<40;for(let{topic:t,payload:s,lagged:r}of this.waiting){r>0&&this.log.append(l("li",{className:"muted"},`${r} messages were lost here, since thi\
s page did not take them in time`));let i=this.text(s);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},t),l(
"span",{className:"muted"},`${s.length} bytes · ${ae(Date.now())}`),l("span",{className:"grow"}),oe(()=>i)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(
i)?Be(i):i)))}for(this.waiting=[];this.log.childElementCount>Os;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let t=this.
as.value.trim();try{if(this.schema?.catalog.schema.messages.has(t))return JSON.stringify(Re(this.schema.catalog.schema,t,Tt(this.schema.tables.of(t),e)),void 0,
2)}catch(r){return`not a valid ${t}: ${r.message}
${ee(e.subarray(0,Ls))}`}let s=e.subarray(0,Ls);return(t==="hex"?void 0:he(s))??ee(s)}};var Di=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[Fs,pn,Us,Fe,fn]=[R("services"),R("main"),R("state"),R("filter"),R("keys")],q=new tt(`${location.origin.replace(/^http/,"ws")}/`,
()=>_i()),xt=new De,wt=new Map,Ds=new bt(q),H,Ue="",Bs=!1,J,mn=0,hn=new vt(q,xt,()=>H,n=>qs(n),()=>void _s(!0));async function _s(n){let e=++mn,t=n?void 0:H;try{
let s=await q.catalog(t);if(e!==mn)return;if(Ue="",s){H=s;for(let[r,i]of wt)i.isBusy||wt.delete(r);Ds.know(s)}}catch(s){if(e!==mn)return;Ue=s.message}yn(),gn(),
Bs=await q.hasBroker(),R("to-topics").hidden=!Bs}function _i(){Us.textContent=q.wire==="open"?"connected":q.wire==="lost"?"connection lost":"connecting",Us.className=
`state ${q.wire}`,q.wire==="open"&&setTimeout(()=>void _s(!1))}function yn(){let n=Fe.value.trim().toLowerCase().split(/\s+/),e=i=>n.every(o=>B(i).toLowerCase().
includes(o)),t=decodeURIComponent(location.hash.slice(2)),s=(H?.services??[]).map(i=>({service:i,methods:i.methods.filter(e)})).filter(({methods:i})=>i.length>0),
r=i=>/^(frpc|grpc)\./.test(i);s.sort((i,o)=>Number(r(i.service.name))-Number(r(o.service.name))),y(Fs,...s.map(({service:i,methods:o})=>l("details",{open:!r(i.name)||
Fe.value!==""||t.startsWith(`${i.name}/`)},l("summary",{title:i.docs},l("span",{},i.name.includes(".")&&l("span",{className:"of"},i.name.slice(0,i.name.lastIndexOf(
"."))),i.name.slice(i.name.lastIndexOf(".")+1))),l("ul",{},...o.map(c=>{let d=B(c),p=an(c),u=l("a",{href:`#/${encodeURI(d)}`,title:c.docs,className:c.isDeprecated?
"deprecated":""},c.name,l("span",{className:"sign",title:p.name,"aria-label":p.name,role:"img"},p.sign));return d===t&&u.setAttribute("aria-current","page"),l("\
li",{},u)}))))),s.length===0&&y(Fs,l("p",{className:"empty"},H?"No method has this name.":Ue?"No services.":"Asking the server…"))}function gn(){let n=decodeURIComponent(
location.hash.slice(2));for(let t of document.querySelectorAll("nav a"))decodeURIComponent(t.hash.slice(2))===n?t.setAttribute("aria-current","page"):t.removeAttribute(
"aria-current");document.body.classList.remove("listing"),J=void 0;let e=H?.services.flatMap(t=>t.methods).find(t=>B(t)===n);if(document.title=e?`${e.name} · fr\
pc console`:`${location.host} · frpc console`,n==="topics")y(pn,Ds.element);else if(e&&H)J=wt.get(n)??new mt(q,H,e,xt),wt.set(n,J),y(pn,J.element,qi(n));else{let t=n&&
H?`The server shows no method ${n}.`:"";y(pn,Ue&&Pi(),t&&l("p",{className:"notice"},t),hn.element),hn.draw()}}function Pi(){return l("div",{className:"notice"},
l("p",{},`The schema of the server could not be had: ${Ue}.`),l("p",{className:"muted"},"The console needs a server with Reflection::new() of frpc-reflection. I\
f its middleware asks for metadata, such as a token, give it below and ask again."))}function qi(n){let e=l("div",{}),t=()=>y(e,st(xt.all.filter(s=>s.path===n),
qs,!0));return t(),Ps=t,l("section",{className:"past"},l("h2",{},"History"),e)}var Ps=()=>{};xt.listen(()=>{Ps(),hn.draw()});function qs(n){location.hash===`#/${encodeURI(
n.path)}`?J?.restore(n):(location.hash=`#/${encodeURI(n.path)}`,addEventListener("hashchange",()=>J?.restore(n),{once:!0}))}function Hi(n){let e=[...document.querySelectorAll(
"nav a, nav summary")].filter(s=>s.offsetParent!==null),t=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,t+n))]?.focus()}addEventListener("k\
eydown",n=>{let e=n.target,t=e.matches("input, textarea, select"),s=n.ctrlKey||n.metaKey;if(n.key==="Enter"&&s)n.shiftKey?J?.end():J?.send();else if(n.key==="Es\
cape"&&!fn.open){if(!J?.cancel())return}else if(n.key==="/"&&!t)Fe.focus();else if(n.key==="?"&&!t)fn.showModal();else if((n.key==="ArrowDown"||n.key==="ArrowUp")&&
e.closest("nav")&&!e.matches("select"))Hi(n.key==="ArrowDown"?1:-1);else return;n.preventDefault()});addEventListener("hashchange",gn);Fe.addEventListener("inpu\
t",yn);R("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains("listing")&&Fe.focus()});R("help").addEventListener(
"click",()=>fn.showModal());y(R("key-list"),...Di.flatMap(([n,e])=>[l("dt",{},...n.split(" ").map(t=>l("kbd",{},t))),l("dd",{},e)]));yn();gn();})();
