"use strict";(()=>{function l(n,e={},...t){let s=document.createElement(n);for(let[r,i]of Object.entries(e))i!==void 0&&(r.startsWith("on")?s.addEventListener(r.slice(2),i):r.includes(
"-")||r==="role"||r==="list"?s.setAttribute(r,String(i)):s[r]=i);return on(s,...t),s}function on(n,...e){for(let t of e)t!==!1&&t!==void 0&&n.append(typeof t=="\
number"?String(t):t)}function g(n,...e){n.replaceChildren(),on(n,...e)}function F(n,e,...t){let s=document.createElementNS("http://www.w3.org/2000/svg",n);for(let[
r,i]of Object.entries(e))s.setAttribute(r,String(i));return s.append(...t),s}function R(n){let e=document.getElementById(n);if(!e)throw new Error(`the page has \
no ${n}`);return e}var Es=0,M=()=>`e${++Es}`;function gt(n,e,t){let s=n.map(o=>l("button",{type:"button",role:"tab",onclick:()=>r(o)},o)),r=o=>{for(let a of s){
let d=a.textContent===o;a.setAttribute("aria-selected",String(d)),a.tabIndex=d?0:-1}t(o)};return{element:l("div",{className:"tabs",role:"tablist","aria-label":e,
onkeydown:o=>{let a=o.key==="ArrowRight"?1:o.key==="ArrowLeft"?-1:0;if(a===0)return;let d=s[(s.indexOf(o.target)+a+s.length)%s.length];d?.focus(),d?.click(),o.preventDefault()}},
...s),select:r}}function ne(n){let e=l("button",{type:"button",className:"quiet",onclick:async()=>{await navigator.clipboard?.writeText(n()).then(()=>"Copied",()=>"\
Select and copy").then(t=>{e.textContent=t,setTimeout(()=>e.textContent="Copy",1500)})}},"Copy");return e}function Fe(n){let e=document.createDocumentFragment();
if(n.length>5e4)return e.append(n),e;let t=/("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g,s=0;for(let r of n.matchAll(t)){let[i,o,a]=r;
e.append(n.slice(s,r.index)),s=r.index+i.length;let d=o===void 0?"number":a===void 0?"string":"key";e.append(l("span",{className:`j-${d}`},o??i),a??"")}return e.
append(n.slice(s)),e}var De=class{all=[];counts=new Map;listeners=new Set;add(e){this.all.push({...e,request:e.request!==void 0&&e.request.length>65536?void 0:e.request}),this.all.length>
2e3&&this.all.shift();let t=this.counts.get(e.path)??{calls:0,errors:0};t.calls++,e.code!==0&&t.errors++,this.counts.set(e.path,t);for(let s of this.listeners)s()}listen(e){
this.listeners.add(e)}totals(){return[...this.counts].map(([e,{calls:t,errors:s}])=>{let r=this.all.filter(a=>a.path===e),i=r.map(({took:a})=>a).sort((a,d)=>a-d),
o=a=>i[Math.min(i.length-1,Math.floor(i.length*a))]??0;return{path:e,calls:t,errors:s,p50:o(.5),p95:o(.95),max:o(1),last:r}})}};function D(n){return n>=1e4?`${(n/
1e3).toFixed(1)} s`:`${n>=100?n.toFixed(0):n>=10?n.toFixed(1):n.toFixed(2)} ms`}var se=n=>new Date(n).toTimeString().slice(0,8);var As=new TextEncoder,Ms=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),an=40,$=new DataView(new ArrayBuffer(8)),me="it is cut off",y=class extends Error{},I=n=>As.
encode(n);function E(n){try{return Ms.decode(n)}catch{throw new y("a text is not UTF-8")}}var S=class{bytes;at=0;constructor(e=256){this.bytes=new Uint8Array(e)}room(e){
let t=this.at+e;if(t>this.bytes.length){let s=new Uint8Array(Math.max(t,this.bytes.length*2));s.set(this.bytes.subarray(0,this.at)),this.bytes=s}}byte(e){this.at===
this.bytes.length&&this.room(1),this.bytes[this.at++]=e}varint(e,t=0){for(this.room(10);t!==0||e>127;)this.bytes[this.at++]=e&127|128,e=(e>>>7|t<<25)>>>0,t>>>=7;
this.bytes[this.at++]=e}raw(e){this.room(e.length),this.bytes.set(e,this.at),this.at+=e.length}sized(e){this.varint(e.length),this.raw(e)}text(e){let{length:t}=e;
if(t<=an){let s=this.at;this.room(t+1);let{bytes:r}=this;r[this.at++]=t;let i=0;for(;i<t;i++){let o=e.charCodeAt(i);if(o>127)break;r[this.at++]=o}if(i===t)return;
this.at=s}this.sized(I(e))}done(){return this.bytes.subarray(0,this.at)}},b=class{constructor(e){this.bytes=e;this.end=e.length}at=0;end;high=0;byte(){if(this.at>=
this.end)throw new y(me);return this.bytes[this.at++]}varint(e=5){let t=0,s=0;for(let r=0;r<7*e;r+=7){let i=this.byte(),o=i&127;if(r<32&&(t|=o<<r),r>27&&(s|=r<32?
o>>>4:r<64?o<<r-32:0),i<128)return this.high=s>>>0,t>>>0}throw new y("a number is too long")}number(){let e=this.varint(10);return this.high*4294967296+e}view(e){
let t=this.at;if(e>this.end-t)throw new y(me);return this.at=t+e,this.bytes.subarray(t,this.at)}text(e){if(e>an)return E(this.view(e));let{bytes:t,at:s}=this,r=s+
e;if(r>this.end)throw new y(me);let i="";for(let o=s;o<r;o++){let a=t[o];if(a>127)return E(this.view(e));i+=String.fromCharCode(a)}return this.at=r,i}};var Be={OK:0,CANCELLED:1,UNKNOWN:2,INVALID_ARGUMENT:3,DEADLINE_EXCEEDED:4,NOT_FOUND:5,ALREADY_EXISTS:6,PERMISSION_DENIED:7,RESOURCE_EXHAUSTED:8,FAILED_PRECONDITION:9,
ABORTED:10,OUT_OF_RANGE:11,UNIMPLEMENTED:12,INTERNAL:13,UNAVAILABLE:14,DATA_LOSS:15,UNAUTHENTICATED:16};var v=class n extends Error{constructor(t,s,{details:r=new Uint8Array,metadata:i={},mayHaveRun:o=!0,cause:a}={}){super(s,{cause:a});this.code=t;this.details=r,this.
metadata=i,this.mayHaveRun=o}name="Status";details;metadata;mayHaveRun;static from(t){return t instanceof n?t:new n(2,t instanceof Error?t.message:String(t),{cause:t})}},
A=(n,e)=>new v(n,e,{mayHaveRun:!1}),_e=n=>n>0&&n<=16?n:2;var ye=100,Ns=64<<20,Ts=12,bt=8,wt=56,L=(n,e,t)=>new vt(n,e,t);function xt(n,e){let t=new S;return ve(t,n,e),t.done()}var St=(n,e)=>be(new b(e),n,0),ve=(n,e,t)=>un(
n,e,t,ye);function be(n,e,t){let s={depth:ye,memory:Math.max(Ns,n.end*Ts),missing:t};return fn(n,e,s)??pn(e,{})}var vt=class n{constructor(e,t,s){this.name=e;this.
spec=t;this.refs=s}known;get fields(){if(this.known)return this.known;let e=this.refs?.()??[],t={},s=0;return this.known=(this.spec&&this.spec.split(" ")||[]).map(
r=>{let[,i,o,a,d,c,u]=/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)$/.exec(r),f=u==="e"||u==="m"?e[s++]:void 0,p=f instanceof n?$s(f):f?Rs(f):dn[u],m=d==="?"?Is(p):
d==="*"?Cs(p):d?Os(dn[c],p):p;if(!o)return{...m,name:i,member:void 0};let h=t[o]??=[],x={...p,case:i,number:+a,all:h};return h.push(x),{...x,name:o,member:x,zero:()=>{}}})}};
function un(n,e,t,s){if(!s)throw cn(e.name,`nests deeper than ${ye}`);n.byte(8),n.byte(0);let r="";try{for(let i of e.fields){let{name:o,member:a}=i;if(r=o,!a)i.
put(n,t[o],s);else if(a===a.all[0]){n.byte(3);let d=t[o],c=d&&a.all.find(u=>u.case===d.case);if(d&&!c)throw new Error(`has no member ${d.case}`);n.varint(c?c.number:
0),c?.put(n,d?.value,s)}}}catch(i){throw i instanceof v?i:cn(`${e.name}.${r}`,i.message)}}function fn(n,e,t){let s=n.byte();if(s===0)return;if(s!==8)throw new y(
`${e.name}: byte ${s} begins no message`);n.byte();let r=t.depth===ye;if(!t.depth--)throw new y(`messages nest deeper than ${ye}`);let{fields:i}=e;kt(t,wt+bt*i.
length);let o={},a=[];for(let d of i){let{name:c,member:u}=d;if(n.at===n.end&&r&&t.missing>0)t.missing--,Object.hasOwn(o,c)||(o[c]=d.zero());else if(!u)o[c]=d.take(
n,t);else if(u===u.all[0]&&n.bytes[n.at]===3){n.at++,a.push(c);let f=n.varint(),p=u.all.find(m=>m.number===f);if(f&&!p)throw new y(`${e.name}.${c} has no member\
 ${f}`);o[c]=p&&{case:p.case,value:Et(p,n,t)}}else if(!a.includes(c)){let f=u.take(n,t);(f instanceof Uint8Array?f.length>0:f!==""&&f!==0n&&f!==!1&&f!==void 0&&
!Object.is(f,0))?o[c]={case:u.case,value:f}:Object.hasOwn(o,c)||(o[c]=void 0)}}return t.depth++,o}function pn(n,e){for(let{name:t,zero:s}of n.fields)e[t]=s();return e}
function kt(n,e){if((n.memory-=e)<0)throw new y("it takes too much memory")}function He(n,e){let t=n.byte();if(t!==e)throw new y(`kind ${t} stands in the place \
of ${e}`)}var $s=n=>({kind:3,least:1,zero(){},put:(e,t,s)=>t===void 0?e.byte(0):un(e,n,t,s-1),take:(e,t)=>fn(e,n,t),table:n});function Et(n,e,t){let s=n.take(e,
t);return s!==void 0||!n.table?s:(kt(t,wt+bt*n.table.fields.length),pn(n.table,{}))}var Is=n=>({...n,zero(){},put:(e,t,s)=>t===void 0?e.byte(0):n.put(e,t,s),take:(e,t)=>e.
bytes[e.at]===0?void e.at++:n.take(e,t)});function mn(n,e,t){for(let s of e)n.byte(s);n.varint(t)}function hn(n,e,t,s,r){for(let o of t)He(n,o);let i=n.varint();
if(i*s>n.end-n.at)throw new y(me);return kt(e,i*r),i}function Cs(n){let e=[1,n.kind,10];return{...n,zero:()=>[],put(t,s=[],r){mn(t,e,s.length);for(let i of s)n.
put(t,i,r)},take(t,s){let r=[];for(let i=hn(t,s,e,n.least,bt);i>0;i--)r.push(Et(n,t,s));return r}}}function Os(n,e){let t=[2,n.kind,e.kind,10];return{...e,zero:()=>new Map,
put(s,r=new Map,i){mn(s,t,r.size);for(let[o,a]of r)n.put(s,o,i),e.put(s,a,i)},take(s,r){let i=new Map;if(s.bytes[s.at]===0)s.at++;else for(let o=hn(s,r,t,n.least+
e.least,wt);o>0;o--)i.set(n.take(s,r),Et(e,s,r));return i}}}var W=(n,e,t,s,r)=>({kind:n,least:e,zero:t,put(i,o=t()){i.byte(n),s(i,o)},take(i){return He(i,n),r(i)}});
function Rs(n){let e=Object.values(n);return W(10,2,()=>e[0],(t,s)=>{let r=e.indexOf(s),i=s+2147483648;he(r>=0||s===(s|0)&&s<0&&i>=e.length,s),t.varint(r<0?i:r)},
t=>{let s=t.varint(),r=s-2147483648;if(s>=e.length&&(r>=0||e.includes(r)))throw new y(`an enum has the index ${s}`);return e[s]??r})}var Pe=(n,e)=>W(n?13:11,2,()=>e?
0:0n,(t,s)=>{let r=BigInt(s);he((n?BigInt.asIntN:BigInt.asUintN)(64,r)===r,s),$.setBigInt64(0,n?r<<1n^r>>63n:r),t.varint($.getUint32(4),$.getUint32(0))},t=>{$.setUint32(
4,t.varint(10)),$.setUint32(0,t.high);let s=$.getBigUint64(0),r=n?s>>1n^-(s&1n):s,i=Number(r);if(e&&!Number.isSafeInteger(i))throw new y("an integer is beyond 2\
^53");return e?i:r}),ln=(n,e,t,s)=>W(n,e+1,()=>0,(r,i)=>{$[t](0,i);for(let o=0;o<e;o++)r.byte($.getUint8(o))},r=>{for(let i=0;i<e;i++)$.setUint8(i,r.byte());return $[s](
0)}),dn={b:W(7,2,()=>!1,(n,e)=>n.byte(+e),n=>{let e=n.byte();if(e>1)throw new y(`a bool is ${e}`);return e>0}),i:W(12,2,()=>0,(n,e)=>{he(e===(e|0),e),n.varint((e<<
1^e>>31)>>>0)},n=>{let e=n.varint();return e>>>1^-(e&1)}),u:W(10,2,()=>0,(n,e)=>{he(e===e>>>0,e),n.varint(e)},n=>n.varint()),l:Pe(!0,!1),w:Pe(!1,!1),L:Pe(!0,!0),
W:Pe(!1,!0),f:ln(14,4,"setFloat32","getFloat32"),d:ln(15,8,"setFloat64","getFloat64"),s:W(5,3,()=>"",(n,e)=>{he(typeof e=="string",e),n.byte(10),n.text(e)},n=>(He(
n,10),n.text(n.varint()))),y:W(4,3,()=>new Uint8Array,(n,e)=>{n.byte(10),n.sized(e)},n=>(He(n,10),new Uint8Array(n.view(n.varint()))))},cn=(n,e)=>A(3,`${n} ${e}`);
function he(n,e){if(!n)throw new Error(`cannot be ${String(e)}`)}var At=16,yn=65536,gn=256,Ls=61440,vn=/^[a-z0-9_.-]{1,256}$/,bn=/^[ -~]*$/,Us={metadata:{}};function Je(n,{backward:e,timeout:t,metadata:s,status:r}){let i=new S(
64),o=(c,u)=>{i.byte(c),i.sized(u)};if(e&&o(4,new Uint8Array),t!==void 0){let c=new S(10),u=Math.max(0,Math.round(t*1e3));c.varint(u>>>0,Math.floor(u/4294967296)),
o(1,c.done())}let a=0,d=0;for(let[c,u]of Object.entries(s??{})){let f=new S(64),p=typeof u=="string";if(!vn.test(c)||p===c.endsWith("-bin")||p&&!bn.test(u))throw A(
3,`metadata cannot have this entry: ${c}`);if(f.text(c),f.raw(p?I(u):u),d+=c.length+u.length+8,++a>gn||d>Ls)throw A(8,"too much metadata");o(2,f.done())}if(r){let c=new S(
64);c.varint(r.code),i.at+r.details.length+16<=yn&&c.raw(r.details),o(3,c.done()),r.mayHaveRun||o(5,new Uint8Array)}i.at>0&&(n.byte(At),n.sized(i.done()))}function qe(n){
if(n.at===n.end||n.bytes[n.at]!==At)return Us;n.at++;let e=n.varint();if(e>yn)throw new y("a prefix is too long");let t=new b(n.view(e)),s=Object.create(null),r={
metadata:s},i=0;for(;t.at<t.end;){let o=t.byte(),a=new b(t.view(t.varint()));if(o===1)r.timeout=a.number()/1e3;else if(o===2){let d=a.text(a.varint()),c=!d.endsWith(
"-bin"),u=c?a.text(a.end-a.at):new Uint8Array(a.view(a.end-a.at));if(!vn.test(d)||c&&!bn.test(u)||++i>gn)throw new y("metadata breaks the rules");s[d]=u}else o===
3?(r.code=_e(a.varint(10)),r.details=new Uint8Array(a.view(a.end-a.at))):o===5&&(r.refused=!0)}return r}function wn(n){if(n[0]!==At)return!1;let e=1;for(;e<6&&n[e]>
127;)e++;return n[e+1]===4&&n[e+2]===0}var We=n=>n.at<n.end&&n.bytes[n.at]===6;function Ve(n,{metadata:e,code:t,details:s,refused:r}){if(n.at++,n.byte()!==5||n.
byte()!==10)throw new y("an error has no text");let i=n.text(n.varint());return new v(t??2,i,{metadata:e,mayHaveRun:!r,...s&&{details:s}})}function xn(n,e,t){Je(
n,{backward:t,status:e,metadata:e.metadata}),n.byte(6),n.byte(5),n.byte(10),n.text(e.message)}var we=(n,e,t,s)=>({name:n,fingerprint:e,compatible:t,methods:s});function Sn(n,e){return n.fingerprint===e.fingerprint||e.compatible.includes(n.fingerprint)?0:n.compatible.includes(e.fingerprint)?1:2}var Fs=n=>Object.values(n.
methods);function Mt(n){let e=new S(128);e.text(n.name);let t=r=>{for(let i=0;i<16;i+=2)e.byte(parseInt(r.slice(i,i+2),16))};t(n.fingerprint),e.varint(n.compatible.
length),n.compatible.forEach(t);let s=0;for(let r of Fs(n).map(i=>i.operation).sort((i,o)=>i-o))e.varint(r-s),s=r;return e.done()}function kn(n){let e=new b(n),
t=e.text(e.varint()),s=()=>{let d="";for(let c=0;c<8;c++)d+=e.byte().toString(16).padStart(2,"0");return d},r=s(),i=[];for(let d=e.varint();d>0;d--)i.push(s());
let o=[],a=0;for(;e.at<e.end;)o.push(a+=e.varint());return{service:t,fingerprint:r,compatible:i,operations:o}}var Nt=5<<20,Ds=1024,Bs=65536,V=10,j=16384,_s=j/2,En=256,Xe=262144,Ps=1e5,Hs=64<<20,Js=65536,qs=2e3,Ws=5,Vs=1e4,js=2147483647,An={id:0,operation:0,until:1/0,reply(){},
lost(){},expire(){}},Xs=new Uint8Array,X=(n,e)=>setTimeout(e,Math.min(Math.max(0,n),js)),je=class{constructor(e,t,s,r,i){this.owner=t;this.named=s;this.serving=
r;this.mounts=i;this.setup=X(Vs,()=>this.fail("no HELLO in time")),this.transport=e({open:()=>{this.hello(),this.flush(),this.beat=setInterval(()=>this.tick(),qs)},
data:o=>this.data(o),close:o=>this.closed(o)})}bodyMax=Nt;streamsMax=1/0;credit=0;opened=0;isUp=!1;isClosed=!1;isLeft=!1;out=new S(16384);streams=new Map;offered=[];calling=[];transport;callsMax=j;slots=[];free=[];ids=[];inFlight=0;givenUp=0;lastStream=0;theirStream=32767;known=new Map;partial;need=V;waste=0;flushing=!1;seen=0;pong=!1;heard=!1;sent=!1;silent=0;beat;setup;alarm;alarmAt=1/0;begin(e,t){
let{out:s}=this,{at:r}=s;s.room(V);let{bytes:i}=s;return i[r]=0,i[r+1]=15,i[r+2]=e>>8,i[r+3]=e,i[r+4]=t>>8,i[r+5]=t,s.at=r+V,r}finish(e){let{out:t}=this,s=t.at-
e-V;if(s>this.bodyMax)throw t.at=e,A(8,`the message has ${s} bytes, and the server accepts ${this.bodyMax}`);let{bytes:r}=t;r[e+6]=s>>>24,r[e+7]=s>>>16,r[e+8]=s>>>
8,r[e+9]=s,t.at>Js?this.flush():this.flushing||(this.flushing=!0,this.seen=0,queueMicrotask(this.settle))}packet(e,t,s=Xs){let r=this.begin(e,t);this.out.raw(s),
this.finish(r)}settle=()=>{this.out.at!==this.seen?(this.seen=this.out.at,queueMicrotask(this.settle)):(this.flushing=!1,this.flush())};flush(){let{out:e}=this;
e.at!==0&&(this.pong=!1,this.sent=!0,this.isClosed||this.transport.send(e.done()),e.at=0,this.seen=0,e.bytes.length>1<<20&&(e.bytes=new Uint8Array(16384)),this.
transport.buffered()>Hs&&this.fail("the server does not take what is sent"))}hello(){let e=new S,t=(r,i)=>{e.byte(r),e.sized(i)},s=(r,i)=>{let o=new S(10);o.varint(
i),t(r,o.done())};e.raw(I("fris")),s(1,Nt),s(2,this.serving?En:0),s(3,this.serving?En:0),s(4,Xe);for(let r of this.serving?.services??[])t(32,Mt(r));for(let r of this.
named)t(33,Mt(r));this.packet(0,3,e.done()),this.packet(1,0)}tick(){if(this.silent=this.heard?0:this.silent+1,this.silent>=Ws)return this.fail("the server is si\
lent");(!this.heard||!this.sent)&&this.packet(0,0),this.heard=this.sent=!1}data(e){if(this.isClosed)return;this.heard=!0;let{partial:t}=this;if(t){if(t.raw(e),t.
at<this.need)return;e=t.done(),this.partial=void 0}try{let s=this.packets(e);s<e.length&&(this.partial=new S(e.length-s),this.partial.raw(e.subarray(s)))}catch(s){
if(!(s instanceof y))throw s;this.fail(`the server broke the protocol: ${s.message}`)}}packets(e){let t=0;for(this.need=V;e.length-t>=V&&!this.isClosed;){if(e[t]!==
0||e[t+1]!==15)throw new y("a header without its magic");let s=d=>e[t+d],r=s(4)<<8|s(5),i=(s(6)<<24|s(7)<<16|s(8)<<8|s(9))>>>0;if(i>Nt)throw new y(`a packet of ${i}\
 bytes`);let o=t+V+i;if(o>e.length)return this.need=o-t,t;let a=s(2)<<8|s(3);this.handle(a,r,e.subarray(t+V,o)),t=o}return t}handle(e,t,s){if(t>=10){if(!this.isUp)
throw new y("a packet before HELLO");if(s[0]===16&&wn(s))return this.serving?this.serving.request(this,e,t,s):this.wasted();let r=this.slots[e&j-1];return r&&r.
id===e&&r.operation===t?(this.release(e),r.reply(s)):this.elsewhere(e,t,s)}switch(t){case 0:case 1:if(s.length>0)throw new y("a PING or PONG with a body");t===1?
this.isUp||this.fail("the server is a plain peer"):this.pong||(this.pong=!0,this.packet(0,1));return;case 3:return this.isUp?this.wasted():this.greeted(s);case 2:
return this.message(e,s);case 4:return this.leave();case 5:{let r=this.streams.get(e);return r?r.credited(new b(s).number()):this.wasted()}case 6:return this.serving?.
cancel(this,e,new b(s).varint());case 7:return this.ended(e,s);case 8:throw new y("an answer to no hand-off");default:this.wasted()}}elsewhere(e,t,s){let r=e&j-
1;if(this.slots[r]===An&&this.ids[r]===e)return this.givenUp--,this.release(e);if(t>=65280&&this.mounts.length>0)return this.mounts.forEach(i=>i.packet(this,e,t,
s));this.wasted()}wasted(){++this.waste>Ps&&this.fail("too many packets that belong to nothing")}greeted(e){let t=new b(e);if(e.length>Bs||E(t.view(4))!=="fris"||
t.byte()===0)throw new y("it sent no HELLO");for(;t.at<t.end;){let s=t.byte(),r=t.view(t.varint()),i=()=>new b(r).varint();if(s===1)this.bodyMax=Math.max(i(),Ds);else if(s===
2)this.streamsMax=i();else if(s===3)this.callsMax=Math.min(i(),j);else if(s===4)this.credit=i();else if(s===32||s===33)try{(s===32?this.offered:this.calling).push(
kn(r))}catch{}}this.isUp=!0,clearTimeout(this.setup),this.owner.up(this)}message(e,t){let s=this.streams.get(e);if(s)return s.received(t);let r=e-this.theirStream&
32767;if(e<32768||r===0||r>16384)return this.wasted();this.theirStream=e,this.serving?.open(this,e,t)||this.reset(e,12,"this end serves no such stream",!0)}ended(e,t){
let s=this.streams.get(e);if(!s)return this.wasted();if(t.length===0)return s.ended();let r=new b(t),i=r.varint(),o="";try{o=r.text(Math.min(r.end-r.at,4096))}catch{}
s.wasReset(i,o)}reset(e,t,s,r=!1){if(this.isClosed)return;r&&this.packet(e,5,new Uint8Array(1));let i=this.begin(e,7);this.out.varint(t),this.out.raw(I(s.slice(
0,256))),this.finish(i)}older(e){let t=this.known.get(e);if(t!==void 0)return t;let s=Object.values(e.methods).map(i=>i.operation),r=!1;for(let i of this.offered){
if(i.service===e.name){let o=Sn(e,i);if(o===2)throw A(9,`incompatible layouts of ${e.name}`);r=o===1;break}if(i.operations.some(o=>s.includes(o)))throw A(12,`th\
e server has ${i.service} in the place of ${e.name}`)}return this.known.set(e,r),r}needsNaming(e){return!this.known.has(e)&&!this.named.includes(e)&&!this.offered.
some(t=>t.service===e.name&&t.fingerprint===e.fingerprint)}enter(e){if(this.inFlight>=this.callsMax)return-1;this.inFlight++;let t=this.free.pop()??this.slots.length,
s=(this.ids[t]??t)+j&65535;return this.ids[t]=s,this.slots[t]=e,e.until<this.alarmAt&&this.wake(e.until),s}release(e){let t=e&j-1;this.slots[t]=void 0,this.free.
push(t),this.inFlight--,this.inFlight===this.callsMax-1&&this.owner.room(this),this.closeIfIdle()}cancel(e){let t=e.id&j-1;if(this.slots[t]!==e||this.isClosed)return;
this.slots[t]=An;let s=this.begin(e.id,6);this.out.varint(e.operation),this.finish(s),++this.givenUp>=_s&&this.leave(),this.closeIfIdle()}streamId(){if(this.opened>=
Math.min(this.streamsMax,28672))return-1;do this.lastStream=this.lastStream%32767+1;while(this.streams.has(this.lastStream));return this.opened++,this.lastStream}over(e){
this.streams.get(e.id)===e&&(this.streams.delete(e.id),e.id<32768&&(this.opened--,this.owner.room(this)),this.closeIfIdle())}wake(e){clearTimeout(this.alarm),this.
alarmAt=e,this.alarm=X(e-performance.now(),()=>this.expire())}expire(){let e=performance.now(),t=this.alarmAt=1/0;for(let s of this.slots)s&&(s.until<=e?(this.cancel(
s),s.expire()):t=Math.min(t,s.until));t<this.alarmAt&&this.wake(t)}leave(){this.isLeft||(this.isLeft=!0,this.owner.left(this),this.closeIfIdle())}closeIfIdle(){
this.isLeft&&this.inFlight===this.givenUp&&this.streams.size===0&&!this.serving?.busy(this)&&queueMicrotask(()=>this.fail("the server is going away"))}fail(e){this.
isClosed||(this.flush(),this.transport.close(),this.closed(e))}closed(e){if(this.isClosed)return;this.isClosed=!0,clearInterval(this.beat),clearTimeout(this.setup),
clearTimeout(this.alarm),this.owner.down(this,e);let t=new v(14,`the connection was lost: ${e}`);for(let s of this.slots)s?.lost(t);for(let s of[...this.streams.
values()])s.lost(t);this.serving?.down(this);for(let s of this.mounts)s.down(this,t)}};var Mn={done:!0,value:void 0},re=class{items=[];readers=[];last=!1;[Symbol.asyncIterator](){return this}next(){return new Promise((e,t)=>{this.readers.push({resolve:e,
reject:t}),this.serve()})}return(){return this.leave(),this.finished(!0,!0),Promise.resolve(Mn)}get isAwaited(){return this.readers.length>0}arrived(e){this.items.
push(e),this.serve()}finished(e,t=!1){t&&(this.items.length=0),this.last||=e,this.serve()}serve(){for(;this.isAwaited;){let e=this.items.shift();if(e===void 0&&
!this.last)return;let t=this.readers.shift();try{if(e===void 0){let{last:s}=this;if(this.last=!0,this.told?.(),s instanceof v)throw s;t.resolve(Mn)}else{let s=this.
taken(e);s===void 0?this.readers.unshift(t):t.resolve({done:!1,value:s})}}catch(s){t.reject(s)}}}};var Tt=64,zs=4,Ge=class extends re{constructor(t,s,r){super();this.sends=t;this.receives=s;this.whenOver=r??(()=>{})}metadata={};whenMetadata;id=0;link;missing=0;credit=0;wakeSender;stopSource;sending=!0;receiving=!0;refused=!1;whenOver;discards=!1;unread=0;consumed=0;deadline;begin(t,s,r){
this.link=t,this.id=s,this.missing=r,this.credit=t.credit,t.streams.set(s,this)}get isOpen(){return this.link!==void 0}get isOver(){return!this.sending&&!this.receiving}within(t){
this.deadline=X(t,()=>this.fail(new v(4,"no answer before the deadline",{mayHaveRun:this.isOpen})))}leave(){this.stop(!0,1,"the caller gave the call up")}told(){
clearTimeout(this.deadline),this.id<32768&&this.leave()}taken(t){let s=t.length+Tt;this.unread-=s,this.consumed+=s;let{link:r}=this;if(r&&this.consumed*zs>=Xe&&
this.receiving){let i=r.begin(this.id,5);r.out.varint(this.consumed),r.finish(i),this.consumed=0}try{let i=new b(t),o=qe(i);if(t[0]===16&&this.whenMetadata?.(this.
metadata=o.metadata),i.at===i.end&&i.at>0)return;if(We(i))throw Ve(i,o);return be(i,this.receives,this.missing)}catch(i){throw this.stop(!0,1,"the caller gave t\
he call up"),i instanceof y?new v(13,`not a valid ${this.receives.name}: ${i.message}`):i}}async pump(t,s=!1){let r=Symbol.asyncIterator in t?t[Symbol.asyncIterator]():
t[Symbol.iterator]();this.stopSource=()=>r.return?.();try{for(;;){for(;this.credit<=0&&!this.isOver;)await new Promise(d=>this.wakeSender=d);if(this.isOver)return;
let i=r.next(),{done:o,value:a}=i instanceof Promise?await i:i;if(this.isOver)return;if(o)break;this.send(a)}this.stopSource=void 0,this.finish()}catch(i){if(s)
throw i;this.stop(v.from(i),1,"the caller gave the call up")}}send(t){let{link:s}=this;if(!s||!this.sending)return;let r=s.begin(this.id,2);try{t instanceof v?xn(
s.out,t,!1):ve(s.out,this.sends,t),this.credit-=s.out.at-r-10+Tt,s.finish(r)}catch(i){throw s.out.at=r,i}t instanceof v&&this.finish()}finish(){this.sending&&(this.
sending=!1,this.link?.packet(this.id,7),this.release())}received(t){if(!(!this.receiving||this.discards)){if(this.unread+this.consumed>=Xe)return this.fail(new v(
8,"the peer sent more than it had credit for"));this.unread+=t.length+Tt,this.arrived(this.isAwaited?t:new Uint8Array(t))}}credited(t){this.refused||=t===0,this.
credit+=t,this.credit>0&&this.wakeSender?.()}ended(){this.receiving=!1,this.finished(!0),this.release()}wasReset(t,s){this.lost(new v(_e(t),s,{mayHaveRun:!this.
refused}))}lost(t){this.sending=this.receiving=!1,this.finished(t),this.release()}fail(t){this.stop(t,t.code,t.message)}discard(){this.items.length=0,this.discards=
!0}stop(t,s,r){this.isOver||this.link?.reset(this.id,s,r),this.sending=this.receiving=!1,this.finished(t,!0),this.release()}release(){let{whenOver:t}=this;!this.
isOver||!t||(this.whenOver=void 0,this.wakeSender?.(),clearTimeout(this.deadline),this.stopSource?.(),this.link?.over(this),t())}};var Ks=3e4,Ys=5e3,Nn="not sent: the channel is closed",Zs=20,Tn=2e3,$n=10,xe=class{constructor(e,t={}){this.dial=e;this.options=t;t.stayConnected&&queueMicrotask(
()=>this.connect())}link;failures=0;retries=$n;dialledAt=0;pause;isClosed=!1;draining=!1;trouble="";links=new Set;waiting=new Set;named=new Set;mounts=[];owner={
up:e=>{this.link===e&&this.drain(e)},room:e=>{this.link!==e||this.waiting.size===0||this.draining||(this.draining=!0,queueMicrotask(()=>{this.draining=!1,this.link===
e&&this.drain(e)}))},left:e=>{this.link===e&&(this.link=void 0,this.judge(e,"the server is going away"))},down:(e,t)=>{this.links.delete(e),this.link===e&&(this.
link=void 0,this.judge(e,t))}};name(e){this.named.add(e)}mount(e){this.mounts.push(e)}connected(){return new Promise((e,t)=>{let s=r=>(e(r),!0);this.run({start:s,
fail:t},1/0)})}unary(e,t,s,r){return new Promise((i,o)=>{let a=new It(this,e,t,s,this.terms(r),i,o);this.run(a,a.until)})}serverStreaming(e,t,s,r){return this.twoWay(
e,t,[s],r)}twoWay(e,t,s,r){return this.open(e,t,s,r)}open(e,t,s,r){return new Ct(this,e,t,s,{...this.terms(r),told:r?.timeout}).replies}async clientStreaming(e,t,s,r){
let i=this.open(e,t,s,r),{done:o,value:a}=await i.next();if(o)throw new v(13,"there is no reply");return i.leave(),a}close(){this.isClosed=!0,clearTimeout(this.
pause),this.failAll(A(9,Nn));for(let e of this.links)e.leave()}run(e,t){let{link:s}=this;(!s?.isUp||s.isClosed||!e.start(s))&&this.wait(e,t)}wait(e,t){if(this.isClosed)
return e.fail(A(9,Nn));let{patience:s=Ys}=this.options,r=performance.now(),i=()=>{let d=performance.now(),c=d>=t;if(!c&&(this.link?.isUp||d<r+s)){o=X(Math.min(t,
this.link?.isUp?1/0:r+s)-d,i);return}this.waiting.delete(a),e.fail(c?A(4,"not sent: the deadline has passed"):this.unreachable())},o=X(Math.min(t-r,s),i),a={start:d=>e.
start(d)?(clearTimeout(o),!0):!1,fail:d=>{clearTimeout(o),e.fail(d)}};this.waiting.add(a),this.connect()}unreachable(){return A(14,`not sent: there is no connec\
tion to the server${this.trouble&&`; ${this.trouble}`}`)}terms(e){let{timeout:t,metadata:s}=this.options,r=e?.timeout??t;return{told:r,timeout:r??Ks,metadata:s&&
e?.metadata?{...s,...e.metadata}:e?.metadata??s,signal:e?.signal,onMetadata:e?.onMetadata}}knows(e,t){return!e.needsNaming(t)||!e.offered.some(s=>s.service===t.
name)?!0:(this.named.add(t),this.failures=0,e.leave(),!1)}earn(){this.retries<$n&&(this.retries+=.1)}spend(){return this.retries<1?!1:(this.retries--,!0)}connect(){
this.link||this.pause!==void 0||this.isClosed||this.waiting.size===0&&!this.options.stayConnected||(this.dialledAt=performance.now(),this.link=new je(this.dial,
this.owner,[...this.named],this.options.serve,this.mounts),this.links.add(this.link))}judge(e,t){if(e.isUp&&performance.now()-this.dialledAt>=Tn)this.failures=0;else{
this.trouble=t;let r=Math.min(Zs*2**Math.min(this.failures++,16),Tn);clearTimeout(this.pause),this.pause=X(Math.random()*r,()=>{this.pause=void 0,this.connect()})}
this.connect()}drain(e){for(let t of this.waiting){if(this.link!==e||!t.start(e))return;this.waiting.delete(t)}}failAll(e){for(let t of[...this.waiting])this.waiting.
delete(t),t.fail(e)}},$t=n=>new v(1,"the caller gave the call up",{mayHaveRun:n}),It=class{constructor(e,t,s,r,i,o,a){this.channel=e;this.service=t;this.method=
s;this.request=r;this.terms=i;this.resolve=o;this.reject=a;this.operation=s.operation,this.until=performance.now()+i.timeout,i.signal?.addEventListener("abort",
this.abort)}id=0;operation;until;link;older=!1;isOver=!1;before;start(e){let{terms:t}=this;if(this.isOver)return!0;if(t.signal?.aborted)return this.over($t(!1));
if(t.timeout<=0)return this.over(A(4,"not sent: the deadline has passed"));if(!this.channel.knows(e,this.service))return!1;let{out:s}=e;try{if(this.older=e.older(
this.service),(this.id=e.enter(this))<0)return!1}catch(i){return this.over(v.from(i))}let r=e.begin(this.id,this.operation);try{(t.told!==void 0||t.metadata)&&Je(
s,{timeout:t.told&&this.until-performance.now(),metadata:t.metadata}),ve(s,this.method.request,this.request),e.finish(r),this.link=e}catch(i){s.at=r,e.release(this.
id),this.over(v.from(i))}return!0}reply(e){let{method:t,terms:s}=this;try{let r=new b(e),i=qe(r);if(We(r))return void this.over(Ve(r,i));e[0]===16&&s.onMetadata?.(
i.metadata);let o=be(r,t.reply,this.older?t.added?.[1]??0:0);this.isOver=!0,s.signal?.removeEventListener("abort",this.abort),this.channel.earn(),this.resolve(o)}catch(r){
this.over(r instanceof y?new v(13,`not a valid ${t.reply.name}: ${r.message}`):v.from(r))}}lost(e){if(this.link=void 0,!this.isOver){if(!this.method.idempotent||
!this.channel.spend())return void this.over(e);this.before=e,this.channel.run(this,this.until)}}fail(e){this.over(this.before??e)}expire(){this.over(new v(4,`no\
 answer of ${this.service.name} before the deadline`))}over(e){return this.isOver||(this.isOver=!0,this.terms.signal?.removeEventListener("abort",this.abort),this.
reject(e)),!0}abort=()=>{this.link?.cancel(this),this.over($t(this.link!==void 0))}},Ct=class{constructor(e,t,s,r,i){this.channel=e;this.service=t;this.method=s;
this.requests=r;this.terms=i;let{signal:o,told:a}=i,d=()=>this.replies.fail($t(this.replies.isOpen));if(this.replies=new Ge(s.request,s.reply,()=>o?.removeEventListener(
"abort",d)),this.replies.whenMetadata=i.onMetadata,a!==void 0&&this.replies.within(a),this.until=performance.now()+(a??1/0),o?.aborted){d();return}o?.addEventListener(
"abort",d),e.run(this,this.until)}replies;until;start(e){let{service:t,method:s,terms:r,replies:i}=this;if(i.isOver)return!0;if(!this.channel.knows(e,t))return!1;
let o=-1;try{let a=e.older(t);if(e.streamsMax===0)throw A(12,"the server does not accept streams");if((o=e.streamId())<0)return!1;let d=new S(64);Je(d,{timeout:r.
told&&this.until-performance.now(),metadata:r.metadata}),d.byte(9),d.varint(s.operation),i.begin(e,o,a?s.added?.[1]??0:0),e.packet(o,2,d.done())}catch(a){return i.
fail(v.from(a)),!0}return i.pump(this.requests),!0}fail(e){this.replies.fail(e)}};var Se=65280,Qs=16<<20,Ot=64,ke=class{constructor(e){this.channel=e;e.mount({packet:(t,s,r,i)=>this.handle(t,s,r-Se,i),down:(t,s)=>this.down(t,s)})}subscriptions=new Map;syncs=new Map;link;next=0;async subscribe(e,{
group:t=""}={}){let s=await this.channel.connected();this.link=s;let r=this.next=this.next%65535+1,i=new Rt(e,t!=="",()=>{this.subscriptions.delete(r)&&!s.isClosed&&
s.packet(r,Se+1)});this.subscriptions.set(r,i);let o=new S;return o.sized(I(e)),o.raw(I(t)),s.packet(r,Se+0,o.done()),await i.active,i}async publish(e,t){let s=await this.
channel.connected(),r=s.begin(0,Se+2);s.out.sized(I(e)),s.out.raw(typeof t=="string"?I(t):t),s.finish(r)}async sync(){let e=await this.channel.connected();this.
link=e;let t=this.next=this.next%65535+1,s=new Promise((r,i)=>this.syncs.set(t,{resolve:r,reject:i}));return e.packet(t,Se+3),s}handle(e,t,s,r){if(e!==this.link)
return;let i=new b(r),o=this.subscriptions.get(t);if(s===2){let a=i.text(i.varint()),d=new Uint8Array(i.view(i.end-i.at));if(t!==0)o?.put({topic:a,payload:d});else
for(let c of this.subscriptions.values())!c.isGroup&&c.matches(a)&&c.put({topic:a,payload:d})}else if(s===4){let a=i.number();for(let d of this.subscriptions.values())
d.lost+=a}else if(s===3&&!r.length)this.syncs.get(t)?.resolve(),this.syncs.delete(t);else if(s===0&&!r.length)o?.activate();else if(r.length){let a=i.byte(),d=a===
3?8:a===4?12:3,c=new v(d,E(i.view(i.end-i.at)),{mayHaveRun:!1});o?.end(c),this.syncs.get(t)?.reject(c),this.syncs.delete(t),this.subscriptions.delete(t)}}down(e,t){
if(e===this.link){for(let s of this.subscriptions.values())s.end(t);for(let{reject:s}of this.syncs.values())s(t);this.subscriptions.clear(),this.syncs.clear()}}},
Rt=class extends re{constructor(t,s,r){super();this.isGroup=s;this.leave=r;this.tokens=t.split("."),this.active=new Promise((i,o)=>{this.activate=i,this.refuse=
o})}active;lost=0;activate=()=>{};refuse=()=>{};tokens;unread=0;matches(t){let s=t.split("."),{length:r}=this.tokens;return(this.tokens[r-1]===">"?s.length<r:s.
length!==r)?!1:this.tokens.every((i,o)=>i===">"||i==="*"||i===s[o])}put(t){for(this.unread+=t.payload.length+Ot;this.unread>Qs&&this.items.length>0;)this.unread-=
this.items.shift().payload.length+Ot,this.lost++;this.arrived(t)}end(t){this.refuse(t),this.finished(t)}taken({topic:t,payload:s}){let{lost:r}=this;return this.
unread-=s.length+Ot,this.lost=0,{topic:t,payload:s,lagged:r}}};var Lt="frisbee.1";function Ut(n,{protocols:e=[],WebSocket:t=globalThis.WebSocket}={}){return s=>{let r=new t(String(n),[Lt,...e]);return r.binaryType="arraybuf\
fer",r.onopen=()=>{r.protocol===Lt?s.open():r.close()},r.onmessage=({data:i})=>{i instanceof ArrayBuffer?s.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.
onclose=({code:i,reason:o})=>{s.close(`the WebSocket was closed (${i}${o&&`, ${o}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var tr=64;var ze=class{messages=new Map;enums=new Map;constructor(e){for(let{number:t,bytes:s}of U(e))t===1&&this.file(s)}message(e){let t=this.messages.get(e);if(!t)throw new Error(
`the schema has no message ${e}`);return t}enumeration(e){let t=this.enums.get(e);if(!t)throw new Error(`the schema has no enum ${e}`);return t}entry(e){let t=e.
isRepeated&&e.kind===11?this.messages.get(e.type):void 0;return t?.isEntry?t:void 0}file(e){let t="",s=[],r=new Map;for(let{number:o,bytes:a}of U(e))o===2?t=E(a):
o===4||o===5?s.push({number:o,bytes:a}):o===9&&(r=rr(a));let i={4:0,5:0};for(let{number:o,bytes:a}of s){let d=i[o]??0;i[o]=d+1;let c=`${o},${d}`;o===4?this.declare(
a,t,[],c,r,0):this.declareEnum(a,t,[],c,r)}}declare(e,t,s,r,i,o){if(o>tr)throw new y("types are declared too deep within each other");let a=[],d=[],c=[],u=[],f="",
p=!1;for(let{number:k,bytes:T}of U(e))k===1?f=E(T):k===2?a.push(T):k===3?d.push(T):k===4?c.push(T):k===7?p=Rn(T,7):k===8&&u.push({name:Cn(T),docs:i.get(`${r},8,${u.
length}`)??""});let m=[...s,f],h=In(t,m),x=a.map((k,T)=>nr(k,i.get(`${r},2,${T}`)??""));this.messages.set(h,{name:h,package:t,path:m,docs:i.get(r)??"",fields:x,
oneofs:u,isEntry:p}),d.forEach((k,T)=>this.declare(k,t,m,`${r},3,${T}`,i,o+1)),c.forEach((k,T)=>this.declareEnum(k,t,m,`${r},4,${T}`,i))}declareEnum(e,t,s,r,i){
let o=[],a="";for(let{number:u,bytes:f}of U(e)){if(u===1&&(a=E(f)),u!==2)continue;let p=0;for(let m of U(f))m.number===2&&(p=m.low|0);o.push({name:Cn(f),number:p,
docs:i.get(`${r},2,${o.length}`)??""})}let d=[...s,a],c=In(t,d);this.enums.set(c,{name:c,package:t,path:d,docs:i.get(r)??"",values:o})}},On=n=>n===11||n===10||n===
14,In=(n,e)=>[...n?[n]:[],...e].join(".");function nr(n,e){let t="",s="",r="",[i,o,a,d]=[0,0,0,-1],c=!1,u=!1;for(let f of U(n))f.number===1?t=E(f.bytes):f.number===
3?i=f.low:f.number===4?o=f.low:f.number===5?a=f.low:f.number===6?r=E(f.bytes).replace(/^\./,""):f.number===8?u=Rn(f.bytes,3):f.number===9?d=f.low:f.number===10?
s=E(f.bytes):f.number===17&&(c=f.low!==0);if(a<1||a>18)throw new y(`a field of the kind ${a}`);return{name:t,number:i,kind:a,type:r,isOptional:c,isDeprecated:u,
docs:e,jsonName:s||t.replace(/_(\w)/g,(f,p)=>p.toUpperCase()),isRepeated:o===3,oneof:d<0||c?void 0:d}}var sr=new Uint8Array;function*U(n){let e=new b(n);for(;e.
at<e.end;){let t=e.varint(),s=t>>>3,r=t&7;if(r===0)yield{number:s,bytes:sr,low:e.varint(10)};else if(r===2)yield{number:s,bytes:e.view(e.varint()),low:0};else if(r===
1||r===5)e.view(r===1?8:4);else throw new y(`a field of the wire type ${r}`)}}function Cn(n){for(let{number:e,bytes:t}of U(n))if(e===1)return E(t);return""}function Rn(n,e){
for(let{number:t,low:s}of U(n))if(t===e)return s!==0;return!1}function rr(n){let e=new Map;for(let{number:t,bytes:s}of U(n)){if(t!==1)continue;let r="",i="",o="";
for(let d of U(s))if(d.number===1){let c=new b(d.bytes),u=[];for(;c.at<c.end;)u.push(c.varint());r=u.join(",")}else d.number===3?i=E(d.bytes):d.number===4&&(o=E(
d.bytes));let a=i||o;a&&e.set(r,Ke(a))}return e}var Ke=n=>n.replace(/^ /gm,"").trim();var oe=n=>`f${n.number}`,Ye=n=>`o${n}`,Ft={1:"d",2:"f",3:"l",4:"w",5:"i",6:"w",7:"u",8:"b",9:"s",10:"m",11:"m",12:"y",13:"u",14:"e",15:"i",16:"l",17:"i",18:"l"},
ie=class{constructor(e){this.schema=e}types=new Map;enums=new Map;of(e){let t=this.types.get(e);if(t)return t;let s=this.schema.message(e),r=or(this.schema,s),i=r.
map(d=>`${oe(d)}:${this.spec(s,d)}`).join(" "),o=r.map(d=>this.schema.entry(d)?.fields[1]??d).filter(d=>On(d.kind)),a=L(e,i,()=>o.map(d=>d.kind===14?this.choice(
d.type):this.of(d.type)));return this.types.set(e,a),a}spec(e,t){let s=this.schema.entry(t),r=Ft[t.kind];if(s){let[i,o]=s.fields;if(!i||!o)throw new Error(`${s.
name} is no entry of a map`);return`%${Ft[i.kind]}${Ft[o.kind]}`}if(t.isRepeated)return`*${r}`;if(t.oneof!==void 0){let i=e.fields.filter(o=>o.oneof===t.oneof);
return`${Ye(t.oneof)}/${i.indexOf(t)+1}/${r}`}return t.isOptional&&r!=="m"?`?${r}`:r}choice(e){let t=this.enums.get(e);return t||(t=ir(this.schema.enumeration(e)),
this.enums.set(e,t)),t}},ir=n=>Object.fromEntries(n.values.map(({number:e},t)=>[`v${t}`,e]));function or(n,e){let t=s=>n.entry(s)?2:s.isRepeated?1:s.kind===11||
s.kind===10?2:0;return[0,1,2].flatMap(s=>e.fields.filter(r=>t(r)===s))}function Ln(n,e,t,s,r){let i=r.map(({operation:a,request:d,response:c,sends:u,receives:f,
isIdempotent:p})=>({operation:a,request:n.of(d),reply:n.of(c),sends:u,receives:f,idempotent:p})),o=we(e,t,s,Object.fromEntries(i.map((a,d)=>[`m${d}`,a])));return i.
map(a=>({service:o,method:a}))}var Dt={POLYGLOT:0,PROTOBUF:1},Ee={UNKNOWN:0,IDEMPOTENT:1,NO_SIDE_EFFECTS:2},ar=L("frpc.reflection.v1.FilesPiece","etag:s notModified:b data:y"),lr=L("frpc.refl\
ection.v1.FilesRequest","etag:s withoutImports:b names:*s symbols:*s"),dr=L("frpc.reflection.v1.ListPiece","etag:s notModified:b services:*m",()=>[fr]),cr=L("fr\
pc.reflection.v1.ListRequest","etag:s"),ur=L("frpc.reflection.v1.Method","name:s operation:u request:s requestStreams:b response:s responseStreams:b idempotency\
:e requestAdded:u responseAdded:u docs:s isDeprecated:b formats:*s",()=>[Ee]),fr=L("frpc.reflection.v1.Service","name:s fingerprint:s codec:e file:s docs:s isDe\
precated:b compatible:*s methods:*m",()=>[Dt,ur]),ae=we("frpc.reflection.v1.Reflection","e1620cb3723b0c31",[],{list:{operation:65e3,request:cr,reply:dr,receives:!0,
idempotent:!0},files:{operation:65001,request:lr,reply:ar,receives:!0,idempotent:!0}});var Un=32<<20,B=n=>`${n.service.name}/${n.name}`,Ze=class{constructor(e,t){this.url=e;let s=Ut(e),r=o=>{this.wire=o,t()},i=o=>{let a=s({open:()=>{this.traffic.since=
Date.now(),this.traffic.connections++,o.open(),r("open")},data:d=>{this.traffic.received+=d.length,o.data(d)},close:d=>{r("lost"),o.close(d)}});return{...a,send:d=>{
this.traffic.sent+=d.length,a.send(d)}}};this.channel=new xe(i,{stayConnected:!0}),this.channel.name(ae),this.topics=new ke(this.channel)}channel;topics;metadata={};wire="\
connecting";traffic={since:0,connections:0,sent:0,received:0};async catalog(e){let{channel:t,metadata:s}=this,r=new Map,i="";for await(let p of t.serverStreaming(
ae,ae.methods.list,{etag:e?.etag??""},{metadata:s})){if(p.notModified)return;i||=p.etag;for(let m of p.services){let h=r.get(m.name);h?h.methods.push(...m.methods):
r.set(m.name,m)}}let o=[],a=0;for await(let{data:p}of t.serverStreaming(ae,ae.methods.files,{},{metadata:s}))if(o.push(p),a+=p.length,a>Un)throw new v(Be.RESOURCE_EXHAUSTED,
`the schema has more than ${Un} bytes`);let d=new Uint8Array(a),c=0;for(let p of o)d.set(p,c),c+=p.length;let u=new ze(d),f=new ie(u);return{etag:i,schema:u,services:[
...r.values()].map(p=>pr(p,f))}}async hasBroker(){return this.topics.sync().then(()=>!0,()=>!1)}};function pr(n,e){let t,s=i=>{if(n.codec!==Dt.POLYGLOT)throw new Error(
"its messages are encoded as protobuf, which this page does not speak natively");if(!n.file)throw new Error("the server does not have its schema: its build says\
 nothing of reflection");return t??=Ln(e,n.name,n.fingerprint,n.compatible,n.methods.map(o=>({...o,sends:o.requestStreams,receives:o.responseStreams,isIdempotent:o.
idempotency!==Ee.UNKNOWN}))),t[i]},r={name:n.name,fingerprint:n.fingerprint,file:n.file,docs:Ke(n.docs),isDeprecated:n.isDeprecated,methods:[]};return r.methods=
n.methods.map((i,o)=>({service:r,name:i.name,operation:i.operation,request:i.request,response:i.response,sends:i.requestStreams,receives:i.responseStreams,idempotency:i.
idempotency===Ee.NO_SIDE_EFFECTS?"no side effects":i.idempotency===Ee.IDEMPOTENT?"idempotent":"",formats:i.formats,docs:Ke(i.docs),isDeprecated:i.isDeprecated,callable:()=>s(
o)})),r}var Qe=n=>Object.entries(Be).find(([,e])=>e===n)?.[0]??String(n);var mr=50;function et(n,e,t){let s=n.slice(-mr).reverse().map(r=>l("li",{},l("button",{type:"button",className:"history",title:"Fill the request in again",onclick:()=>e(
r)},l("span",{className:"muted"},se(r.beganAt)),l("span",{className:r.code===0?"badge ok":"badge failed"},Qe(r.code)),!t&&l("span",{className:"path"},r.path),l(
"span",{className:"muted shortened"},(r.request??"").replace(/\s+/g," ").slice(0,160)),l("span",{className:"time"},D(r.took)))));return s.length>0?l("ol",{className:"\
histories"},...s):l("p",{className:"empty"},"Nothing has been called yet.")}var w=class extends Error{constructor(e,t){super(e?`${e}: ${t}`:t)}},N=()=>Object.create(null),_t=n=>typeof n=="object"&&n!==null&&!Array.isArray(n),Pt=/^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/,
G=n=>Pt.test(n)||/^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(n);function z(n){try{return JSON.parse(n||"{}")}catch(e){throw new w(
"",e.message)}}function Ne(n,e,t,s=""){let r=vr(n,e,t,s);if(r)return r;if(!_t(t))throw new w(s,`${e} is an object`);let i=n.message(e),o={};for(let[a,d]of Object.
entries(t)){let c=i.fields.find(p=>p.jsonName===a||p.name===a),u=s?`${s}.${a}`:a;if(!c)throw new w(u,`${e} has no such field${hr(i)}`);if(d===null&&c.type!=="go\
ogle.protobuf.Value")continue;let f=yr(n,c,d,u);if(c.oneof===void 0)o[oe(c)]=f;else{let p=Ye(c.oneof);if(o[p])throw new w(u,`${i.oneofs[c.oneof]?.name} has two \
members`);o[p]={case:oe(c),value:f}}}return o}var hr=n=>n.fields.length>0?`; it has: ${n.fields.map(e=>e.jsonName).join(", ")}`:"";function yr(n,e,t,s){let r=n.
entry(e),[i,o]=r?.fields??[];if(i&&o){if(!_t(t))throw new w(s,"a map is an object");return new Map(Object.entries(t).map(([a,d])=>[gr(i,a,s),Bt(n,o,d,`${s}[${JSON.
stringify(a)}]`)]))}if(!e.isRepeated)return Bt(n,e,t,s);if(!Array.isArray(t))throw new w(s,"a list is an array");return t.map((a,d)=>Bt(n,e,a,`${s}[${d}]`))}function gr(n,e,t){
if(n.kind!==8)return Te(n,e,t);if(e!=="true"&&e!=="false")throw new w(t,`${e} is not true or false`);return e==="true"}var Dn=(()=>{let n=t=>[-(1n<<t-1n),(1n<<t-
1n)-1n],e=t=>[0n,(1n<<t)-1n];return{5:n(32n),17:n(32n),15:n(32n),3:n(64n),18:n(64n),16:n(64n),13:e(32n),7:e(32n),4:e(64n),6:e(64n)}})(),st=n=>[3,4,6,16,18].includes(
n),Ht=n=>n in Dn;function Bt(n,e,t,s){if(e.kind===11)return Ne(n,e.type,t,s);if(e.kind!==14)return Te(e,t,s);let{name:r,values:i}=n.enumeration(e.type);if(typeof t==
"number"&&Number.isInteger(t))return t;let o=i.find(a=>a.name===t);if(!o)throw new w(s,`${r} has no value ${Ae(t)}; it has: ${i.map(a=>a.name).join(", ")}`);return o.
number}var Ae=n=>JSON.stringify(n).slice(0,60);function Te(n,e,t=""){let{kind:s}=n,r=Dn[s];if(r){if(!(typeof e=="number"?Number.isInteger(e):typeof e=="string"&&
/^-?\d{1,20}$/.test(e)))throw new w(t,`${Ae(e)} is no integer`);if(typeof e=="number"&&!Number.isSafeInteger(e))throw new w(t,"an integer of this size is writte\
n as text, in quotes");let o=BigInt(e);if(o<r[0]||o>r[1])throw new w(t,`${o} is not from ${r[0]} to ${r[1]}`);return st(s)?o:Number(o)}if(s===1||s===2){if(!(typeof e==
"number"||e==="NaN"||e==="Infinity"||e==="-Infinity"||typeof e=="string"&&/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(e)))throw new w(t,`${Ae(e)} is no number`);return Number(
e)}if(s===8){if(typeof e!="boolean")throw new w(t,`${Ae(e)} is not true or false`);return e}if(typeof e!="string")throw new w(t,`${Ae(e)} is no text`);return s===
12?C(e,t):e}function vr(n,e,t,s){let r=Pt.test(e)&&n.message(e).fields[0];if(r)return{f1:Te(r,t,s)};switch(e){case"google.protobuf.Timestamp":return br(t,s);case"\
google.protobuf.Duration":{let i=typeof t=="string"&&/^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(t);if(!i)throw new w(s,'a duration is written as "1.5s"');let[,o,a="",
d=""]=i,c=Number(d.padEnd(9,"0"));return{f1:BigInt(`${o}${a}`),f2:o?-c:c}}case"google.protobuf.FieldMask":if(typeof t!="string")throw new w(s,'a mask is written\
 as "name,homeAddress.city"');return{f1:t===""?[]:t.split(",").map(i=>i.trim().replace(/[A-Z]/g,o=>`_${o.toLowerCase()}`))};case"google.protobuf.Struct":if(!_t(
t))throw new w(s,"a Struct is an object");return{f1:new Map(Object.entries(t).map(([i,o])=>[i,Me(o,0)]))};case"google.protobuf.ListValue":if(!Array.isArray(t))throw new w(
s,"a ListValue is an array");return{f1:t.map(i=>Me(i,0))};case"google.protobuf.Value":return Me(t,0)}}function br(n,e){let t=typeof n=="string"&&/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.
exec(n),s=t?Date.parse(`${t[1]}${t[3]?.toUpperCase()}`):NaN;if(!t||Number.isNaN(s))throw new w(e,'an instant is written as "2030-01-31T12:00:00Z"');return{f1:BigInt(
s/1e3),f2:Number((t[2]??"").padEnd(9,"0"))}}function Me(n,e){if(e>90)throw new w("","nests too deep");let t=(s,r)=>({o0:{case:`f${s}`,value:r}});return n===null?
t(1,0):typeof n=="number"?t(2,n):typeof n=="string"?t(3,n):typeof n=="boolean"?t(4,n):Array.isArray(n)?t(6,{f1:n.map(s=>Me(s,e+1))}):t(5,{f1:new Map(Object.entries(
n).map(([s,r])=>[s,Me(r,e+1)]))})}function $e(n,e,t){let s=Sr(n,e,t);if(s!==void 0)return s;let r=N();for(let i of n.message(e).fields){let o=i.oneof===void 0?void 0:
t[Ye(i.oneof)],a=i.oneof===void 0?t[oe(i)]:o?.case===oe(i)?o.value:void 0;if(a===void 0)continue;let d=wr(n,i,a);Array.isArray(a)&&a.length===0||a instanceof Map&&
a.size===0||(r[i.jsonName]=d)}return r}function wr(n,e,t){let s=n.entry(e)?.fields[1];if(s&&t instanceof Map){let r=N();for(let[i,o]of t)r[String(i)]=tt(n,s,o);
return r}return Array.isArray(t)?t.map(r=>tt(n,e,r)):tt(n,e,t)}function tt(n,e,t){return e.kind===11?$e(n,e.type,t):e.kind===14?n.enumeration(e.type).values.find(
({number:s})=>s===t)?.name??t:t instanceof Uint8Array?_(t):typeof t=="bigint"||typeof t=="number"&&!Number.isFinite(t)?String(t):e.kind===2?xr(t):t}function xr(n){
for(let e=6;e<10;e++){let t=Number(n.toPrecision(e));if(Math.fround(t)===n)return t}return n}function Sr(n,e,t){let s=Pt.test(e)&&n.message(e).fields[0];if(s)return tt(
n,s,t.f1);switch(e){case"google.protobuf.Timestamp":{let r=Number(t.f1),i=new Date(r*1e3);return Number.isNaN(i.getTime())||r<-62135596800||r>253402300799?void 0:
`${i.toISOString().slice(0,19)}${Fn(t.f2)}Z`}case"google.protobuf.Duration":{let[r,i]=[t.f1,t.f2];return`${r<0n||i<0?"-":""}${r<0n?-r:r}${Fn(Math.abs(i))}s`}case"\
google.protobuf.FieldMask":return t.f1.map(r=>r.replace(/_([a-z])/g,(i,o)=>o.toUpperCase())).join(",");case"google.protobuf.Struct":return Bn(t);case"google.pro\
tobuf.ListValue":return t.f1.map(nt);case"google.protobuf.Value":return nt(t)}}function Bn(n){let e=N();for(let[t,s]of n.f1)e[t]=nt(s);return e}function nt(n){let e=n.
o0;return!e||e.case==="f1"?null:e.case==="f5"?Bn(e.value):e.case==="f6"?e.value.f1.map(nt):typeof e.value=="number"&&!Number.isFinite(e.value)?String(e.value):e.
value}var Fn=n=>{let e=String(n).padStart(9,"0");return n===0?"":`.${e.replace(/(000){1,2}$/,"")}`};function _(n){let e="";for(let t=0;t<n.length;t+=32768)e+=String.
fromCharCode(...n.subarray(t,t+32768));return btoa(e)}function C(n,e=""){try{return Uint8Array.from(atob(n.replace(/-/g,"+").replace(/_/g,"/")),t=>t.charCodeAt(
0))}catch{throw new w(e,"it is no base64")}}function le(n){try{let e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}).decode(n);return/[\0-\x08\x0e-\x1f\x7f]/.test(
e)?void 0:e}catch{return}}var Y=n=>Array.from(n,e=>e.toString(16).padStart(2,"0")).join(" ");var O=n=>qt(JSON.stringify(n)),qt=n=>n.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,"0")}`),
P=n=>/^[\w./:=@%+-]+$/.test(n)?n:`'${qt(n).replace(/'/g,"'\\''")}'`,_n=n=>Object.entries(n).map(([e,t])=>[e,typeof t=="string"?t:_(t)]);function Pn({method:n,requests:e,
metadata:t,timeout:s,origin:r}){let i=n.sends||n.receives,o=[i?"curl -sN":"curl",`-H 'content-type: application/${i?"connect+json":"json"}'`];s!==void 0&&o.push(
`-H ${P(`connect-timeout-ms: ${Math.round(s)}`)}`);for(let[u,f]of _n(t))o.push(`-H ${P(`${u}: ${f}`)}`);let a=P(`${r}/${B(n)}`);if(!i)return[...o,`-d ${P(O(e[0]??
{}))}`,a].join(` \\
  `);let d=e.map(O);return[`printf '${d.map(u=>`\\0${kr(new TextEncoder().encode(u).length)}%s`).join("")}' ${d.map(P).join(" ")} | ${o[0]}`,...o.slice(1),"--da\
ta-binary @-",a].join(` \\
  `)}var kr=n=>[24,16,8,0].map(e=>`\\${(n>>>e&255).toString(8).padStart(3,"0")}`).join("");function Hn({method:n,requests:e,metadata:t,timeout:s,origin:r}){let{
host:i,protocol:o}=new URL(r),a=o==="https:"?`wss://${i}/`:i,d=[`frpc call --server ${P(a)}`,P(B(n))];for(let c of e)d.push(P(O(c)));for(let[c,u]of _n(t))d.push(
`-H ${P(`${c}=${u}`)}`);return s!==void 0&&d.push(`--deadline ${Math.round(s)}ms`),d.join(` \\
  `)}var lt=n=>n.replace(/\W/g,"_")||"_",de=n=>lt(n).replace(/^_(?=\d)/,"-"),Jn=n=>lt(n).replace(/([a-z\d])([A-Z])/g,"$1_$2").replace(/([A-Z])([A-Z][a-z])/g,"$1\
_$2").split("_").filter(Boolean),Ie=n=>Jn(n).map(e=>e.toLowerCase()).join("_")||"_",Z=n=>Jn(n).map(e=>e[0]?.toUpperCase()+e.slice(1).toLowerCase()).join("")||"_",
rt=n=>Z(n).replace(/^./,e=>e.toLowerCase()),Er=new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut p\
ub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized virtual\
 yield gen".split(" ")),at=n=>Er.has(Ie(n))?/^(self|super|crate)$/.test(Ie(n))?`${Ie(n)}_`:`r#${Ie(n)}`:Ie(n),K=n=>qt(JSON.stringify(n)).replace(/\\u([\da-f]{4})/gi,
"\\u{$1}").replace(/\\[bf]/g,e=>e==="\\b"?"\\u{8}":"\\u{c}");function qn(n){let{schema:e,method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=lt(t.service.name.
split(".").pop()??""),d=s.map(m=>Vn(e,t.request,m,0)),c=at(t.name),u=[`let client = ${a}Client::connect(${K(new URL(o).host)}).await?;`],f=d[0]??`${Z(t.request)}\
::default()`;t.sends&&(u.push("let (requests, source) = frpc::RequestStream::channel(16);"),f="source");let p=[...i===void 0?[]:[`request.set_timeout(Duration::\
from_millis(${Math.round(i)}));`],...Object.entries(r).map(([m,h])=>typeof h=="string"?`request.metadata_mut().insert(${K(m)}, ${K(h)})?;`:`request.metadata_mut\
().insert_bin(${K(m)}, &[${[...h].join(", ")}][..])?;`)];return p.length>0&&(u.push(`let mut request = frpc::Request::new(${f});`,...p),f="request"),t.receives?
(u.push(`let mut replies = client.${c}(${f}).await?.into_inner();`),u.push(...d.slice(0,t.sends?void 0:0).map(m=>`requests.send(${m}).await?;`),...t.sends?["dro\
p(requests);"]:[]),u.push("while let Some(reply) = replies.message().await? {",'    println!("{reply:?}");',"}")):t.sends?(u.push(`let call = client.${c}(${f});`,
"let sending = async {",...d.map(m=>`    requests.send(${m}).await?;`),"    drop(requests);","    Ok(())","};"),u.push("let (reply, ()) = tokio::try_join!(call,\
 sending)?;",'println!("{:?}", reply.into_inner());')):u.push(`let reply = client.${c}(${f}).await?.into_inner();`,'println!("{reply:?}");'),u.join(`
`)}function Wn({path:n,package:e}){let t=[...n.slice(0,-1).map(at),Z(n[n.length-1]??"")].join("::");return e==="google.protobuf"?`frpc::prost_types::${t}`:t}var Jt=(n,e)=>`${"\
    ".repeat(e)}${n}`;function Vn(n,e,t,s){let r=n.message(e),i=Wn(r),o=typeof t=="object"&&t!==null&&!Array.isArray(t)?t:{},a=[],d=new Set;for(let f of r.fields){
let p=o[f.jsonName]??o[f.name];if(p==null)continue;let m=f.oneof===void 0?void 0:r.oneofs[f.oneof],h=Ar(n,r,f,p,s+1),x=m?m.name:f.name;d.add(x);let k=[...r.path.
map(at),Z(m?.name??"")].join("::");a.push(Jt(`${at(x)}: ${m?`Some(${k}::${Z(f.name)}(${h}))`:h},`,s+1))}let c=new Set(r.fields.map(f=>f.oneof===void 0?f.name:r.
oneofs[f.oneof]?.name));if(a.length===0)return`${i}${c.size===0?" {}":"::default()"}`;d.size<c.size&&a.push(Jt(`..${i}::default()`,s+1));let u=`${i} { ${a.map(f=>f.
trim().replace(/,$/,"")).join(", ")} }`;return u.length<90&&!u.includes(`
`)?u:`${i} {
${a.join(`
`)}
${Jt("}",s)}`}function Ar(n,e,t,s,r){let[i,o]=n.entry(t)?.fields??[];if(i&&o)return`HashMap::from([${Object.entries(s).map(([f,p])=>`(${i.kind===9?`${K(f)}.to_o\
wned()`:de(f)}, ${it(n,o,p,r)})`).join(", ")}])`;if(t.isRepeated)return`vec![${s.map(c=>it(n,t,c,r)).join(", ")}]`;let a=it(n,t,s,r),d=t.kind===11&&!G(t.type)&&
jn(n,t.type,e.name,new Set)?`Box::new(${a})`:a;return t.oneof===void 0&&(t.isOptional||t.kind===11)?`Some(${d})`:d}function jn(n,e,t,s){return e===t?!0:s.has(e)?
!1:(s.add(e),n.messages.get(e)?.fields.some(r=>r.kind===11&&!r.isRepeated&&jn(n,r.type,t,s))??!1)}function it(n,e,t,s){if(e.kind===11){let[r]=n.message(e.type).
fields;return e.type==="google.protobuf.Timestamp"||e.type==="google.protobuf.Duration"?`${K(String(t))}.parse()?`:G(e.type)&&r&&/Value$/.test(e.type)&&r.name===
"value"?it(n,r,t,s):G(e.type)?`serde_json::from_str(${K(O(t))})?`:Vn(n,e.type,t,s)}if(e.kind===14){let r=n.enumeration(e.type),i=r.values.find(({name:d})=>d===t);
if(!i)return String(Number(t)|0);let o=Z(r.path[r.path.length-1]??""),a=Z(i.name);return`${Wn(r)}::${a.startsWith(o)&&a.length>o.length?a.slice(o.length):a}.int\
o()`}return e.kind===12?`vec![${[...C(String(t))].join(", ")}]`:e.kind===9?`${K(String(t))}.to_owned()`:e.kind===1||e.kind===2?Mr(Number(t),e.kind===1?"f64":"f3\
2"):de(String(t))}var Mr=(n,e)=>Number.isFinite(n)?Number.isInteger(n)&&Math.abs(n)<1e15?n.toFixed(1):String(n):Number.isNaN(n)?`${e}::NAN`:n<0?`${e}::NEG_INFIN\
ITY`:`${e}::INFINITY`;function Xn(n){let{schema:e,method:t,requests:s,metadata:r,timeout:i,origin:o}=n,a=lt(t.service.name.split(".").pop()??""),d=s.map(m=>zn(e,
t.request,m)),c=[...i===void 0?[]:[`timeout: ${i}`],...Object.keys(r).length===0?[]:[`metadata: { ${Object.entries(r).map(([m,h])=>`${O(m)}: ${typeof h=="string"?
O(h):Gn(h)}`).join(", ")} }`]],u=t.sends?`[${d.join(", ")}]`:d[0]??"{}",f=`client.${rt(t.name)}(${u}${c.length>0?`, { ${c.join(", ")} }`:""})`;return`${`const c\
lient = new ${a}Client(connect(${O(`${o.replace(/^http/,"ws")}/`)}));`}
${t.receives?`for await (const reply of ${f}) console.log(reply);`:`console.log(await ${f});`}`}var Gn=n=>`new Uint8Array([${[...n].join(", ")}])`;function zn(n,e,t){
let s=n.message(e),r=typeof t=="object"&&t!==null&&!Array.isArray(t)?t:{},i=[];for(let o of s.fields){let a=r[o.jsonName]??r[o.name];if(a==null)continue;let d=Nr(
n,o,a),c=o.oneof===void 0?void 0:s.oneofs[o.oneof];i.push(c?`${rt(c.name)}: { case: "${rt(o.name)}", value: ${d} }`:`${rt(o.name)}: ${d}`)}return i.length>0?`{ ${i.
join(", ")} }`:"{}"}function Nr(n,e,t){let[s,r]=n.entry(e)?.fields??[];if(s&&r){let i=o=>s.kind===9?O(o):st(s.kind)?`${de(o)}n`:de(o);return`new Map([${Object.entries(
t).map(([o,a])=>`[${i(o)}, ${ot(n,r,a)}]`).join(", ")}])`}return e.isRepeated?`[${t.map(i=>ot(n,e,i)).join(", ")}]`:ot(n,e,t)}function ot(n,e,t){if(e.kind===14){
let s=n.enumeration(e.type);return String(s.values.find(({name:r})=>r===t)?.number??Number(t))}return e.kind===11?G(e.type)?Tr(n,e.type,t):zn(n,e.type,t):e.kind===
12?Gn(C(String(t))):st(e.kind)?`${de(String(t))}n`:e.kind===1||e.kind===2?String(Number(t)):O(t)}function Tr(n,e,t){let[s]=n.message(e).fields;if(e==="google.pr\
otobuf.Timestamp"&&typeof t=="string")return`{ seconds: ${BigInt(Math.floor(Date.parse(t)/1e3)||0)}n }`;if(e==="google.protobuf.Duration"&&typeof t=="string"){let[
r="0",i=""]=t.replace("s","").split(".");return`{ seconds: ${de(r)}n, nanos: ${Number(i.padEnd(9,"0"))} }`}return s&&s.name==="value"&&!s.isRepeated?`{ value: ${ot(
n,s,t)} }`:`fromJson(${O(e)}, ${O(t)})`}var Kn=new WeakMap;function ce(n,e){return Kn.set(n,e),n}var Ce=n=>Kn.get(n)??N();var Yn=16<<20,Wt=n=>l("textarea",{rows:1,spellcheck:!1,...n});function Vt(n,e){let t="";try{e()}catch(s){t=s.message}n.setAttribute("aria-invalid",String(t!=="")),
n.title=t}function jt(n){let e=M(),{kind:t}=n;if(t===8){let o=l("input",{type:"checkbox",id:e});return ce({element:o,id:e,get:()=>o.checked||void 0,set:a=>o.checked=
a===!0},!1)}if(t===9){let o=Wt({id:e});return ce({element:o,id:e,get:()=>o.value||void 0,set:a=>o.value=a===void 0?"":String(a)},"")}let s=()=>Vt(r,()=>void(r.value.
trim()&&Te(n,i()))),r=l("input",{type:"text",id:e,className:"number",inputMode:Ht(t)?"numeric":"decimal",autocomplete:"off",placeholder:"0",oninput:()=>s()}),i=()=>{
let o=r.value.trim();return Number.isSafeInteger(Number(o))&&!$r(t)||/^-?[\d.]+(e[+-]?\d+)?$/i.test(o)&&!Ht(t)?Number(o):o};return ce({element:r,id:e,get:()=>r.
value.trim()?Ir(i()):void 0,set(o){r.value=o==null?"":String(o),s()}},0)}var $r=n=>n===3||n===4||n===6||n===16||n===18,Ir=n=>n===0&&!Object.is(n,-0)||n==="0"?void 0:
n;function Zn(n){let e=M(),t=l("select",{id:e},...n.values.map(({name:r,number:i,docs:o})=>l("option",{value:r,title:o},`${r} = ${i}`))),[s]=n.values;return ce(
{element:t,id:e,get:()=>t.value===s?.name?void 0:t.value,set:r=>t.value=n.values.find(({name:i,number:o})=>i===r||o===r)?.name??s?.name??""},s?.name??0)}function Qn(){
let n=M(),e,t=Wt({id:n,oninput:()=>p()}),s=l("select",{"aria-label":"written as",onchange:()=>f()},...["text","base64","hex"].map(h=>l("option",{},h))),r=s.value,
i=l("span",{className:"muted"}),o=l("input",{type:"file",hidden:!0,"aria-label":"file",onchange:async()=>{let h=o.files?.[0];if(h){if(h.size>Yn){i.textContent=`${h.
name} has more than ${Yn>>20} MiB`;return}e=new Uint8Array(await h.arrayBuffer()),i.textContent=`${h.name}, ${e.length} bytes`,t.disabled=s.disabled=!0,a.hidden=
!1,m.dispatchEvent(new Event("change",{bubbles:!0}))}}}),a=l("button",{type:"button",className:"icon","aria-label":"No file",hidden:!0,onclick:()=>d()},"×"),d=()=>{
e=void 0,i.textContent=o.value="",t.disabled=s.disabled=!1,a.hidden=!0},c=h=>{if(h==="text")return new TextEncoder().encode(t.value);if(h==="base64")return C(t.
value.replace(/\s/g,""));let x=t.value.replace(/\s/g,"");if(!/^([\da-f]{2})*$/i.test(x))throw new Error("it is no row of pairs of hexadecimal digits");return Uint8Array.
from(x.match(/../g)??[],k=>parseInt(k,16))},u=(h,x)=>{let k=x==="text"?le(h):void 0;s.value=r=x==="text"&&k===void 0?"base64":x,t.value=s.value==="text"?k??"":s.
value==="hex"?Y(h):_(h),p()},f=()=>{try{u(c(r),s.value)}catch{r=s.value,p()}},p=()=>Vt(t,()=>void c(s.value)),m=l("div",{className:"bytes"},t,s,l("button",{type:"\
button",className:"quiet",onclick:()=>o.click()},"File…"),o,i,a);return ce({element:m,id:n,get(){let h=e??c(s.value);return h.length>0?_(h):void 0},set(h){d(),
u(typeof h=="string"?C(h):new Uint8Array,s.value)}},"")}function Q(n,e,t){let s=M(),r=Wt({id:s,placeholder:e,oninput:()=>Vt(r,()=>void(n==="json"&&r.value&&JSON.
parse(r.value)))}),i=t&&l("button",{type:"button",className:"quiet",onclick:()=>r.value=t.json()},t.label);return{element:l("div",{className:"free"},r,i),id:s,get:()=>r.
value.trim()?n==="json"?JSON.parse(r.value):r.value.trim():void 0,set:o=>r.value=o===void 0?"":n==="json"?JSON.stringify(o):String(o)}}var Cr=3,ct=class{constructor(e,t,s){this.schema=e;this.name=t;this.editor=ss(e,t),this.element=l("div",{className:"form",oninput:s,onchange:s,onclick:s},this.editor.
element)}element;editor;get(){return this.editor.get()??N()}set(e){this.editor.set(e)}example(){this.set(ts(this.schema,this.name,[]))}};function ts(n,e,t){switch(e){case"\
google.protobuf.Timestamp":return new Date().toISOString().replace(/\.\d+/,"");case"google.protobuf.Duration":return"1.500s";case"google.protobuf.FieldMask":return"\
name";case"google.protobuf.Struct":return{key:"value"};case"google.protobuf.Value":return"value";case"google.protobuf.ListValue":return["value"]}let s=n.message(
e),r=s.fields[0];if(G(e)&&r)return es(n,r,t);let i=N(),o=[...t,e];for(let a of s.fields){let d=n.entry(a),c=d?.fields[1]??a,u=a.oneof===void 0||s.fields.find(h=>h.
oneof===a.oneof)===a,f=c.kind===11&&(o.includes(c.type)||o.length>Cr);if(!u||f||c.kind===10||a.isDeprecated)continue;let p=es(n,c,o),m=d?.fields[0];m?i[a.jsonName]=
Object.assign(N(),{[m.kind===9?"key":m.kind===8?"true":"1"]:p}):i[a.jsonName]=a.isRepeated?[p]:p}return i}function es(n,e,t){switch(e.kind){case 11:return ts(n,
e.type,t);case 14:{let{values:s}=n.enumeration(e.type);return(s.find(({number:r})=>r!==0)??s[0])?.name??0}case 8:return!0;case 9:return e.name.replace(/_/g," ");case 12:
return btoa("bytes");case 1:case 2:return 1.5;case 3:case 4:case 6:case 16:case 18:return"1";default:return 1}}function Or(n,e){let t=n.entry(e),[s,r]=t?.fields??
[];return s&&r?`map<${dt(s)}, ${dt(r)}>`:`${e.isRepeated?"repeated ":e.isOptional?"optional ":""}${dt(e)}`}var Rr=["","double","float","int64","uint64","int32",
"fixed64","fixed32","bool","string","group","","bytes","uint32","","sfixed32","sfixed64","sint32","sint64"],dt=n=>Rr[n.kind]||(n.type.split(".").pop()??"");function ue(n,e){
return e.kind===14?Zn(n.enumeration(e.type)):e.kind===12?Qn():e.kind!==11?jt(e):Lr(n,e.type)}function Lr(n,e){switch(e){case"google.protobuf.Timestamp":return Q(
"text","2030-01-31T12:00:00Z",{label:"Now",json:()=>new Date().toISOString()});case"google.protobuf.Duration":return Q("text","1.5s");case"google.protobuf.Field\
Mask":return Q("text","name,homeAddress.city");case"google.protobuf.Struct":return Q("json",'{ "key": "value" }');case"google.protobuf.Value":return Q("json","a\
ny JSON");case"google.protobuf.ListValue":return Q("json","[1, 2]")}let t=G(e)?n.message(e).fields[0]:void 0;if(!t)return ss(n,e);let s=ue(n,t);return{...s,get:()=>s.
get()??ns(t)}}var ns=n=>n.kind===8?!1:n.kind===9||n.kind===12?"":0;function ss(n,e){let t=n.message(e),s=[],r=l("div",{className:"fields"}),i=new Set;for(let o of t.
fields){if(o.oneof!==void 0){if(i.has(o.oneof))continue;i.add(o.oneof);let d=_r(n,t,o.oneof);r.append(d.element),s.push({editor:d,names:[],put:c=>Object.assign(
c,d.get()),take:c=>d.set(c)});continue}let a=Ur(n,o);r.append(rs(o.name,Or(n,o),o.docs,a,o.isDeprecated)),s.push({editor:a,names:[o.jsonName],put:d=>{let c=a.get();
c!==void 0&&(d[o.jsonName]=c)},take:d=>a.set(d[o.jsonName]??d[o.name])})}return t.fields.length===0&&r.append(l("p",{className:"muted"},`${e} has no fields.`)),
{element:r,get(){let o=N();for(let{put:a}of s)a(o);return o},set(o){let a=typeof o=="object"&&o!==null&&!Array.isArray(o)?o:N();for(let{take:d}of s)d(a)}}}function rs(n,e,t,s,r){
let i=s.id?l("label",{htmlFor:s.id,className:"name"},n):l("span",{className:"name"},n);return s.id||(s.element.setAttribute("role","group"),s.element.setAttribute(
"aria-label",n)),l("div",{className:"row"},l("div",{className:"about"},i,l("span",{className:"type"},e),r&&l("span",{className:"tag"},"deprecated")),l("div",{className:"\
value"},s.element,t&&l("p",{className:"docs"},t)))}function Ur(n,e){let t=n.entry(e);return t?Br(n,t):e.isRepeated?Dr(()=>ue(n,e)):e.isOptional||e.kind===11?Fr(
()=>ue(n,e),()=>e.kind===11?N():ns(e)):ue(n,e)}function Fr(n,e){let t=M(),s,r=l("input",{type:"checkbox",id:t,"aria-label":"set",onchange:()=>a(r.checked)}),i=l(
"div",{className:"inside"}),o=l("div",{className:"presence"},r,i),a=d=>{r.checked=d,d?g(i,(s??=n()).element):g(i,l("span",{className:"muted"},"not set"))};return a(
!1),{element:o,get:()=>r.checked?s?.get()??e():void 0,set(d){a(d!=null),r.checked&&s?.set(d)}}}var is=n=>l("button",{type:"button",className:"icon","aria-label":"\
Remove",title:"Remove",onclick:n},"×");function Dr(n){let e=[],t=l("div",{className:"items"}),s=i=>{let o=n();i!==void 0&&o.set(i),e.push(o);let a=l("div",{className:"\
item"},o.element,is(()=>{e=e.filter(d=>d!==o),a.remove()}));return t.append(a),o},r=l("button",{type:"button",className:"quiet",onclick:()=>os(s().element)},"Ad\
d");return{element:l("div",{className:"list"},t,r),get:()=>e.length>0?e.map(i=>i.get()??Ce(i)):void 0,set(i){e=[],g(t);for(let o of Array.isArray(i)?i:[])s(o)}}}
var os=n=>(n.matches("input, textarea, select")?n:n.querySelector("input, textarea, select"))?.focus();function Br(n,e){let[t,s]=e.fields;if(!t||!s)throw new Error(
`${e.name} is no entry of a map`);let r=[],i=l("div",{className:"items"}),o=(d,c)=>{let u={key:jt({...t,kind:t.kind===8?9:t.kind}),value:ue(n,s)};u.key.element.
classList.add("key"),u.key.element.setAttribute("aria-label","key"),d!==void 0&&u.key.set(d),c!==void 0&&u.value.set(c),r.push(u);let f=l("div",{className:"item"},
u.key.element,u.value.element,is(()=>{r=r.filter(p=>p!==u),f.remove()}));return i.append(f),u.key},a=l("button",{type:"button",className:"quiet",onclick:()=>os(
o().element)},"Add");return{element:l("div",{className:"list"},i,a),get(){if(r.length===0)return;let d=N();for(let{key:c,value:u}of r)d[String(c.get()??Ce(c))]=
u.get()??Ce(u);return d},set(d){if(r=[],g(i),typeof d=="object"&&d!==null)for(let[c,u]of Object.entries(d))o(c,u)}}}function _r(n,e,t){let s=e.fields.filter(p=>p.
oneof===t),r=M(),i=l("div",{className:"inside"}),o=new Map,a=l("select",{id:r,onchange:()=>d(a.value)},l("option",{value:""},"not set"),...s.map(p=>l("option",{
value:p.jsonName},`${p.name}: ${dt(p)}`))),d=p=>{a.value=p;let m=s.find(x=>x.jsonName===p);if(!m)return void g(i);let h=o.get(p)??ue(n,m);return o.set(p,h),h.id&&
document.getElementById(h.id)?.setAttribute("aria-label",m.name),g(i,h.element,m.docs&&l("p",{className:"docs"},m.docs)),h},{name:c,docs:u}=e.oneofs[t]??{name:"\
oneof",docs:""},f={element:l("div",{className:"oneof"},a,i),id:r,get:()=>{},set(){}};return{element:rs(c,"oneof",u,f,!1),get(){let p=o.get(a.value);return a.value&&
p?Object.assign(N(),{[a.value]:p.get()??Ce(p)}):N()},set(p){let m=p,h=s.find(x=>(m[x.jsonName]??m[x.name])!==void 0);d(h?.jsonName??"")?.set(h&&(m[h.jsonName]??
m[h.name]))}}}var fe=class{constructor(e){this.changed=e;let t=l("button",{type:"button",className:"quiet",onclick:()=>this.add("","").focus()},"Add");this.element=l("div",{className:"\
list metadata",oninput:e},this.rows,t)}element;rows=l("div",{className:"items"});get(){let e={};for(let t of this.rows.children){let[s="",r=""]=[...t.querySelectorAll(
"input")].map(o=>o.value),i=s.trim().toLowerCase();i&&(e[i]=i.endsWith("-bin")?C(r,i):r)}return e}set(e){g(this.rows);for(let[t,s]of Object.entries(e))this.add(
t,typeof s=="string"?s:_(s))}add(e,t){let s=l("input",{type:"text",value:e,placeholder:"key","aria-label":"key",spellcheck:!1,autocomplete:"off"}),r=l("input",{
type:"text",value:t,placeholder:"value, or base64 for …-bin","aria-label":"value",spellcheck:!1,autocomplete:"off"}),i=l("div",{className:"item"},s,r,l("butto\
n",{type:"button",className:"icon","aria-label":"Remove",onclick:()=>{i.remove(),this.changed()}},"×"));return this.rows.append(i),s}},Xt=n=>l("dl",{className:"\
pairs"},...Object.entries(n).flatMap(([e,t])=>[l("dt",{},e),l("dd",{},typeof t=="string"?t:_(t))]));var Gt=1e5,Pr=90;function as(n,e){let t=l("div",{className:"status",role:"status"}),s=l("div",{}),r=l("ol",{className:"log","aria-label":"Messages"}),{method:i}=e,
o=i.sends||i.receives;o||r.classList.add("one");let a=0;return g(n,t,s,r),()=>{g(t,...Hr(e)),g(s,e.isOver&&e.status&&Jr(e),e.metadata&&Object.keys(e.metadata).length>
0&&l("div",{className:"block"},l("h3",{},"Metadata"),Xt(e.metadata)));let d=r.scrollHeight-r.scrollTop-r.clientHeight<40,c=Math.max(0,a-e.dropped),u=e.messages.
length-c;for(;r.childElementCount>0&&r.childElementCount+u>e.messages.length;)r.firstElementChild?.remove();for(let f of e.messages.slice(c))(o||!f.isSent)&&r.append(
Wr(f,o));a=e.dropped+e.messages.length,d&&(r.scrollTop=r.scrollHeight)}}function Hr(n){let{sent:e,received:t,method:s}=n,i=[s.sends&&`${e} sent`,(s.sends||s.receives)&&
`${t} received`,n.waiting>0&&s.sends&&`${n.waiting} waiting`,n.dropped>0&&`${n.dropped} not kept`].filter(a=>!!a).join(", ");if(!n.isOver)return[l("span",{className:"\
badge busy"},"in progress"),l("span",{className:"muted"},i)];let o=n.status?.code??0;return[l("span",{className:o===0?"badge ok":"badge failed"},`${Qe(o)}${o===
0?"":` ${o}`}`),l("span",{className:"muted"},D(n.took),i&&`, ${i}`)]}function Jr({status:n}){let e=n?.details??new Uint8Array;return l("div",{className:"block f\
ailure"},l("p",{},n?.message??""),l("p",{className:"muted"},n?.mayHaveRun?"It may have run.":"It has not run."),e.length>0&&l("h3",{},`Details, ${e.length} byte\
s`),e.length>0&&l("pre",{className:"code"},le(e)??Y(e.subarray(0,4096))),n&&Object.keys(n.metadata).length>0&&l("h3",{},"Metadata"),n&&Object.keys(n.metadata).length>
0&&Xt(n.metadata))}function qr(n){let e=n.replace(/\n\s*/g," ");return e.length<=Pr?e:n}function Wr(n,e){let t=e?qr(n.json):n.json,s=l("pre",{className:"code",tabIndex:0},
Fe(t.slice(0,Gt)),t.length>Gt&&`
… ${t.length-Gt} characters more`);return l("li",{className:n.isSent?"sent":"received"},l("div",{className:"bar"},l("span",{className:"muted"},e&&`${n.isSent?
"↑":"↓"} ${n.number}`,e&&` · ${D(n.at)}`),l("span",{className:"grow"}),ne(()=>t)),s)}var Vr=500,jr=16<<20,ut=class{constructor(e,t,s,r,i){this.catalog=t;this.method=s;this.terms=r;this.changed=i;this.run(e)}messages=[];dropped=0;sent=0;received=0;metadata;status;isOver=!1;began=performance.
now();beganAt=Date.now();took=0;chars=0;stop=new AbortController;outgoing=new zt;send(e,t){this.tell(!0,e),this.outgoing.push(t),this.method.sends||this.outgoing.
end()}end(){this.outgoing.end(),this.changed(this)}get hasEnded(){return this.outgoing.isEnded}get waiting(){return this.outgoing.length}cancel(){this.stop.abort()}async run(e){
let{method:t,terms:s}=this;try{let{service:r,method:i}=t.callable(),o={signal:this.stop.signal,metadata:{...e.metadata,...s.metadata},onMetadata:a=>this.metadata=
a,...s.timeout!==void 0&&{timeout:s.timeout}};if(t.sends||t.receives)for await(let a of e.channel.twoWay(r,i,this.outgoing,o))this.reply(a);else{let{value:a}=await this.
outgoing.next();this.reply(await e.channel.unary(r,i,a,o))}}catch(r){this.status=v.from(r)}this.took=performance.now()-this.began,this.isOver=!0,this.outgoing.end(),
this.changed(this)}reply(e){this.tell(!1,JSON.stringify($e(this.catalog.schema,this.method.response,e),void 0,2))}tell(e,t){let s=e?++this.sent:++this.received;
for(this.messages.push({isSent:e,at:performance.now()-this.began,number:s,json:t}),this.chars+=t.length;this.messages.length>Vr||this.chars>jr&&this.messages.length>
1;)this.chars-=this.messages.shift()?.json.length??0,this.dropped++;this.changed(this)}},zt=class{isEnded=!1;waiting=[];wake;get length(){return this.waiting.length}[Symbol.
asyncIterator](){return this}push(e){this.waiting.push(e),this.wake?.()}end(){this.isEnded=!0,this.wake?.()}async next(){for(;;){let e=this.waiting.shift();if(e)
return{done:!1,value:e};if(this.isEnded)return{done:!0,value:void 0};await new Promise(t=>this.wake=t)}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}};var Xr=["Form","JSON","Copy as"],ls={curl:Pn,frpc:Hn,Rust:qn,TypeScript:Xn};function Kt({sends:n,receives:e}){return n?e?{name:"two-way stream",sign:"⇄"}:{name:"\
client stream",sign:"⇉"}:e?{name:"server stream",sign:"⇇"}:{name:"unary",sign:"→"}}var ft=class{constructor(e,t,s,r){this.server=e;this.catalog=t;this.method=
s;this.records=r;let i="";try{s.callable(),this.form=new ct(t.schema,s.request,()=>this.note("")),this.form.example()}catch(o){i=o.message}this.element=l("artic\
le",{className:"method"},this.header(),i?l("p",{className:"notice"},`This method cannot be called here: ${i}.`):l("div",{className:"panes"},this.request(),this.
output)),i||(this.tabs.select("Form"),this.act(),g(this.output,l("p",{className:"empty"},"Nothing has been called yet.")))}element;form;json=l("textarea",{className:"\
code",spellcheck:!1,"aria-label":"The request as JSON",oninput:()=>this.note("")});metadata=new fe(()=>this.note(""));timeout=l("input",{type:"text",id:M(),className:"\
number",inputMode:"decimal",placeholder:"30000",autocomplete:"off"});problem=l("p",{className:"problem",role:"alert"});body=l("div",{className:"request-body"});actions=l(
"div",{className:"actions"});output=l("section",{className:"pane response","aria-label":"Response"});tabs=gt(Xr,"Request",e=>this.show(e));tab="Form";command="c\
url";run;drawn;pending;send(){this.attempt(()=>{let e=this.text(),t=this.run&&!this.run.isOver;if(t&&!this.method.sends)return;let s=Ne(this.catalog.schema,this.
method.request,z(e));t||this.begin(),this.run?.send(e,s)})}end(){this.run&&!this.run.isOver&&this.method.sends&&this.run.end()}cancel(){let e=this.run!==void 0&&
!this.run.isOver;return this.run?.cancel(),e}get isBusy(){return this.run!==void 0&&!this.run.isOver}restore({request:e,metadata:t,timeout:s}){e!==void 0&&(this.
json.value=e,this.attempt(()=>this.form?.set(z(e))),this.tab==="Copy as"&&this.tabs.select("Copy as")),this.metadata.set(t),this.timeout.value=s===void 0?"":String(
s)}header(){let{method:e}=this,t=Kt(e),s=r=>l("span",{className:"tag"},r);return l("header",{className:"title"},l("h1",{},l("span",{className:"of"},`${e.service.
name}/`),e.name),l("p",{className:"tags"},s(t.name),e.idempotency&&s(e.idempotency),e.isDeprecated&&s("deprecated"),l("span",{className:"muted"},`${e.sends?"str\
eam ":""}${e.request} → ${e.receives?"stream ":""}${e.response}, operation ${e.operation}`)),e.docs&&l("p",{className:"docs"},e.docs))}request(){let e=(s,r)=>l(
"button",{type:"button",className:"quiet",onclick:r},s),t=s=>{s===void 0?this.form?.example():this.form?.set(s),this.json.value=this.formText(),this.tabs.select(
this.tab==="Copy as"?"Form":this.tab),this.note("")};return l("section",{className:"pane","aria-label":"Request"},l("div",{className:"bar"},this.tabs.element,l(
"span",{className:"grow"}),e("Example",()=>t()),e("Clear",()=>t({}))),this.body,l("details",{className:"terms"},l("summary",{},"Metadata and deadline"),this.metadata.
element,l("div",{className:"row"},l("div",{className:"about"},l("label",{htmlFor:this.timeout.id,className:"name"},"deadline")),l("div",{className:"value unit"},
this.timeout,"ms"))),this.problem,this.actions)}formText(){return JSON.stringify(this.form?.get()??{},void 0,2)}text(){return this.tab==="JSON"?this.json.value.
trim()||"{}":this.formText()}show(e){let t=this.tab;this.attempt(()=>{e==="JSON"&&t!=="JSON"&&(this.json.value=this.formText()),e!=="JSON"&&t==="JSON"&&this.form?.
set(z(this.json.value))}),this.tab=e,e==="Form"?g(this.body,this.form?.element):e==="JSON"?g(this.body,this.json):this.attempt(()=>g(this.body,this.commands()))}commands(){
let e=l("pre",{className:"code",tabIndex:0}),{method:t}=this,s=this.run?.messages.filter(a=>a.isSent).map(a=>z(a.json)),r=t.sends&&s&&s.length>0?s:[z(this.formText())],
i={schema:this.catalog.schema,method:t,requests:r,origin:location.origin,...this.terms()},o=gt(Object.keys(ls),"Copy as",a=>{this.command=a,e.textContent=ls[this.
command](i)});return o.select(this.command),l("div",{className:"commands"},l("div",{className:"bar"},o.element,l("span",{className:"grow"}),ne(()=>e.textContent??
"")),e)}terms(){let e=this.timeout.value.trim(),t=e===""?void 0:Number(e);if(t!==void 0&&!(t>=0))throw new Error(`the deadline is a number of milliseconds, not ${e}`);
return{metadata:this.metadata.get(),timeout:t}}begin(){let e=new ut(this.server,this.catalog,this.method,this.terms(),t=>this.changed(t));this.run=e,this.drawn=
{run:e,draw:as(this.output,e)},this.act(),this.draw()}changed(e){if(e.isOver&&e===this.run){let t=e.messages.filter(s=>s.isSent);this.records.add({path:B(this.method),
beganAt:e.beganAt,took:e.took,code:e.status?.code??0,messages:e.received,request:t[t.length-1]?.json,...e.terms})}e===this.run&&(this.pending??=setTimeout(()=>this.
draw(),16))}draw(){clearTimeout(this.pending),this.pending=void 0,this.drawn&&this.drawn.run===this.run&&this.drawn.draw(),this.act()}act(){let{method:e,run:t}=this,
s=t!==void 0&&!t.isOver,r=d=>l("kbd",{},d),i=`${s},${t?.hasEnded}`;if(this.actions.dataset.state===i)return;this.actions.dataset.state=i;let o=this.actions.contains(
document.activeElement),a=e.sends?l("button",{type:"button",className:"primary",disabled:s&&t.hasEnded,onclick:()=>this.send()},s?"Send":"Open and send",r("Ctrl\
 ↵")):l("button",{type:"button",className:"primary",disabled:s,onclick:()=>this.send()},"Call",r("Ctrl ↵"));g(this.actions,a,e.sends&&!s&&l("button",{type:"\
button",onclick:()=>this.attempt(()=>this.begin())},"Open"),e.sends&&s&&l("button",{type:"button",disabled:t.hasEnded,onclick:()=>this.end()},"End",r("Ctrl ⇧ ↵")),
s&&l("button",{type:"button",onclick:()=>this.cancel()},"Cancel",r("Esc"))),o&&[...this.actions.querySelectorAll("button")].find(d=>!d.disabled)?.focus()}attempt(e){
this.note("");try{e()}catch(t){this.note(t.message)}}note(e){this.problem.textContent!==e&&(this.problem.textContent=e)}};var Zt=12e4,Yt=2e3,[pe,ee,te,Re]=[480,120,44,16];function ds(n){let e=F("svg",{viewBox:`0 0 ${pe} ${ee}`,class:"plot",role:"img","aria-label":n});for(let[t,s]of[
[0,"2 min ago"],[.5,"1 min"],[1,"now"]]){let r=F("text",{x:te+(pe-te)*t,y:ee-3,"text-anchor":t===0?"start":t===1?"end":"middle"});r.textContent=s,e.append(r)}return e}
function cs(n,e,t){let s=F("text",{x:te-6,y:e+3.5,"text-anchor":"end"});s.textContent=t,n.append(F("line",{x1:te,x2:pe,y1:e,y2:e,class:"grid"}),s)}var Oe=ee-Re-
8;function us(n,e){let t=ds("Calls and errors in the last two minutes"),s=Zt/Yt,r=Array.from({length:s},()=>({ok:0,failed:0})),i=Math.floor(e/Yt);for(let{beganAt:d,
took:c,code:u}of n){let f=r[s-1-(i-Math.floor((d+c)/Yt))];f&&f[u===0?"ok":"failed"]++}let o=Math.max(4,...r.map(({ok:d,failed:c})=>d+c));for(let d of[0,.5,1])cs(
t,ee-Re-Oe*d,String(Math.round(o*d)));let a=(pe-te)/s;return r.forEach(({ok:d,failed:c},u)=>{let f=(p,m,h)=>{m>0&&t.append(F("rect",{x:te+u*a+.75,width:a-1.5,y:ee-
Re-(p+m)/o*Oe,height:m/o*Oe,class:h}))};f(0,c,"failed"),f(c,d,"ok")}),t}function fs(n,e){let t=ds("Latencies in the last two minutes"),s=n.filter(({beganAt:a,took:d})=>e-
a-d<Zt),r=s.map(({took:a})=>Math.log10(Math.max(a,.01))),i=Math.floor(Math.min(0,...r)),o=Math.ceil(Math.max(2,...r));for(let a=i;a<=o;a++)cs(t,ee-Re-Oe*(a-i)/(o-
i),a<3?`${10**a} ms`:`${10**(a-3)} s`);return s.forEach(({beganAt:a,took:d,code:c},u)=>{let f=pe-(pe-te)*(e-a-d)/Zt,p=ee-Re-Oe*((r[u]??0)-i)/(o-i);t.append(F("c\
ircle",{cx:f,cy:p,r:2.5,class:c===0?"ok":"failed"}))}),t}function ps(n){let e=n.slice(-40),t=F("svg",{viewBox:"0 0 120 20",class:"spark","aria-hidden":"true"}),
s=Math.max(.01,...e.map(({took:r})=>r));return e.forEach(({took:r,code:i},o)=>{let a=Math.max(1.5,r/s*20);t.append(F("rect",{x:o*3,width:2,y:20-a,height:a,class:i===
0?"ok":"failed"}))}),t}var Gr=1e3,pt=class{constructor(e,t,s,r,i){this.server=e;this.records=t;this.catalog=s;this.open=r;let o=new fe(()=>{this.problem.textContent="";try{e.metadata=
o.get()}catch(a){this.problem.textContent=a.message}});this.element=l("article",{className:"overview"},l("header",{className:"title"},l("h1",{},location.host),this.
facts),l("section",{},l("h2",{},"Calls of this page"),this.plots,this.methods),l("section",{},l("h2",{},"History"),this.history),l("section",{},l("h2",{},"Metad\
ata of every call"),l("p",{className:"muted"},"Such as a token. It is kept until the page is closed."),o.element,this.problem,l("button",{type:"button",onclick:i},
"Ask for the schema again"))),setInterval(()=>this.draw(),Gr)}element;facts=l("dl",{className:"facts"});plots=l("div",{className:"plots"});methods=l("div",{className:"\
scroll"});history=l("div",{});problem=l("p",{className:"problem",role:"alert"});drawnOf=-1;draw(){if(!this.element.isConnected||document.hidden)return;let{server:{
wire:e,traffic:t},records:s}=this,r=this.catalog(),i=r?.services.reduce((c,u)=>c+u.methods.length,0)??0,o=[["connection",e==="open"?`open since ${se(t.since)}`:
e],["connections made",String(t.connections)],["sent",ms(t.sent)],["received",ms(t.received)],["services",r?`${r.services.length}, with ${i} methods`:"unknown"]];
g(this.facts,...o.map(([c,u])=>l("div",{},l("dt",{},c),l("dd",{},u))));let a=Date.now();g(this.plots,l("figure",{},l("figcaption",{},"Calls in each two seconds,\
 ",l("span",{className:"failed"},"errors")," below"),us(s.all,a)),l("figure",{},l("figcaption",{},"Latency of each call; of a stream, its duration"),fs(s.all,a)));
let d=s.all.length===0?0:(s.all[s.all.length-1]?.beganAt??0)+s.all.length;d!==this.drawnOf&&(this.drawnOf=d,g(this.methods,s.all.length>0&&this.table()),g(this.
history,et(s.all,this.open,!1)))}table(){let e=t=>l("td",{className:"count"},t);return l("table",{},l("thead",{},l("tr",{},...["method","calls","errors","p50","\
p95","longest","the last calls"].map((t,s)=>l("th",{scope:"col",className:s>0&&s<6?"count":""},t)))),l("tbody",{},...this.records.totals().map(({path:t,calls:s,
errors:r,p50:i,p95:o,max:a,last:d})=>{let c=l("a",{href:`#/${t}`},t);return l("tr",{},l("td",{},c),e(String(s)),l("td",{className:r>0?"count failed":"count"},String(
r)),e(D(i)),e(D(o)),e(D(a)),l("td",{},ps(d)))})))}};function ms(n){return n<1e4?`${n} B`:n<1e7?`${(n/1e3).toFixed(1)} kB`:`${(n/1e6).toFixed(1)} MB`}var hs=500,ys=2e4,mt=class{constructor(e){this.server=e;let t=l("input",{type:"text",id:M(),placeholder:"orders.*.created, or > for all",spellcheck:!1,autocomplete:"\
off"}),s=l("input",{type:"text",id:M(),placeholder:"orders.1.created",spellcheck:!1,autocomplete:"off"}),r=l("textarea",{id:M(),rows:3,spellcheck:!1}),i=this.typed(
"written as"),o=(a,d,...c)=>l("form",{className:a,onsubmit:u=>{u.preventDefault(),this.problem.textContent="",d().catch(f=>this.problem.textContent=f.message)}},
...c);this.element=l("article",{className:"topics"},l("header",{className:"title"},l("h1",{},"Topics"),l("p",{className:"docs"},"What the broker of this server \
publishes. A pattern has * for one part, and > for all that follow.")),this.problem,l("div",{className:"panes"},l("section",{className:"pane","aria-label":"Publ\
ish"},l("h2",{},"Watch"),o("inline short",()=>this.watch(t.value.trim()),l("label",{htmlFor:t.id},"Pattern"),t,l("button",{type:"submit",className:"primary"},"W\
atch")),this.list,l("h2",{},"Publish"),o("inline",()=>this.publish(s.value.trim(),r.value,i.value),l("label",{htmlFor:s.id},"Topic"),s,l("label",{htmlFor:r.id},
"Payload"),r,i,l("button",{type:"submit",className:"primary"},"Publish")),this.types),l("section",{className:"pane","aria-label":"Messages"},l("div",{className:"\
bar"},l("h2",{},"Messages"),l("span",{className:"grow"}),this.as,l("button",{type:"button",className:"quiet",onclick:()=>g(this.log)},"Clear")),this.log)))}element;watches=new Map;list=l(
"div",{className:"watches"});log=l("ol",{className:"log","aria-label":"Messages"});problem=l("p",{className:"problem",role:"alert"});types=l("datalist",{id:M()});as=this.
typed("shown as");schema;waiting=[];pending;count=0;know(e){this.schema={catalog:e,tables:new ie(e.schema)},g(this.types,...["text","base64","hex",...[...e.schema.
messages.values()].filter(({isEntry:t})=>!t).map(({name:t})=>t)].map(t=>l("option",{value:t})))}typed(e){return l("input",{type:"text",list:this.types.id,value:"\
text","aria-label":e,title:`${e}: text, base64, hex or a message`,className:"as",spellcheck:!1,autocomplete:"off"})}async watch(e){if(!e||this.watches.has(e))return;
let t=await this.server.topics.subscribe(e);this.watches.set(e,t);let s=l("span",{className:"watch"},l("code",{},e),l("button",{type:"button",className:"icon","\
aria-label":`Watch ${e} no longer`,onclick:()=>void t.return?.()},"×"));this.list.append(s),(async()=>{try{for await(let r of t)this.arrived(r)}catch(r){this.problem.
textContent=`${e}: ${r.message}`}this.watches.delete(e),s.remove()})()}async publish(e,t,s){if(!e)throw new Error("a message has a topic");let r=t;s==="base64"?
r=C(t.replace(/\s/g,"")):s==="hex"?r=Uint8Array.from(t.match(/[\da-f]{2}/gi)??[],i=>parseInt(i,16)):s!=="text"&&this.schema&&(r=xt(this.schema.tables.of(s),Ne(this.
schema.catalog.schema,s,z(t)))),await this.server.topics.publish(e,r)}arrived(e){this.waiting.push(e),this.waiting.length>hs&&this.waiting.shift(),this.count++,
this.pending??=setTimeout(()=>this.draw(),30)}draw(){this.pending=void 0;let e=this.log.scrollHeight-this.log.scrollTop-this.log.clientHeight<40;for(let{topic:t,
payload:s,lagged:r}of this.waiting){r>0&&this.log.append(l("li",{className:"muted"},`${r} messages were lost here, since this page did not take them in time`));
let i=this.text(s);this.log.append(l("li",{className:"received"},l("div",{className:"bar"},l("code",{className:"topic"},t),l("span",{className:"muted"},`${s.length}\
 bytes · ${se(Date.now())}`),l("span",{className:"grow"}),ne(()=>i)),l("pre",{className:"code",tabIndex:0},/^[{[]/.test(i)?Fe(i):i)))}for(this.waiting=[];this.
log.childElementCount>hs;)this.log.firstElementChild?.remove();e&&(this.log.scrollTop=this.log.scrollHeight)}text(e){let t=this.as.value.trim();try{if(this.schema?.
catalog.schema.messages.has(t))return JSON.stringify($e(this.schema.catalog.schema,t,St(this.schema.tables.of(t),e)),void 0,2)}catch(r){return`not a valid ${t}:\
 ${r.message}
${Y(e.subarray(0,ys))}`}let s=e.subarray(0,ys);return(t==="hex"?void 0:le(s))??Y(s)}};var zr=[["/","filter the methods"],["↑ ↓","go through the list"],["Ctrl ↵","call, or send a message"],["Ctrl ⇧ ↵","end the stream"],["Esc","give the c\
all up"],["?","show the keys"]],[gs,Qt,vs,Le,tn]=[R("services"),R("main"),R("state"),R("filter"),R("keys")],H=new Ze(`${location.origin.replace(/^http/,"ws")}/`,
()=>Kr()),yt=new De,ht=new Map,ws=new mt(H),J,Ue="",bs=!1,q,en=0,nn=new pt(H,yt,()=>J,n=>ks(n),()=>void xs(!0));async function xs(n){let e=++en,t=n?void 0:J;try{
let s=await H.catalog(t);if(e!==en)return;if(Ue="",s){J=s;for(let[r,i]of ht)i.isBusy||ht.delete(r);ws.know(s)}}catch(s){if(e!==en)return;Ue=s.message}sn(),rn(),
bs=await H.hasBroker(),R("to-topics").hidden=!bs}function Kr(){vs.textContent=H.wire==="open"?"connected":H.wire==="lost"?"connection lost":"connecting",vs.className=
`state ${H.wire}`,H.wire==="open"&&setTimeout(()=>void xs(!1))}function sn(){let n=Le.value.trim().toLowerCase().split(/\s+/),e=i=>n.every(o=>B(i).toLowerCase().
includes(o)),t=decodeURIComponent(location.hash.slice(2)),s=(J?.services??[]).map(i=>({service:i,methods:i.methods.filter(e)})).filter(({methods:i})=>i.length>0),
r=i=>/^(frpc|grpc)\./.test(i);s.sort((i,o)=>Number(r(i.service.name))-Number(r(o.service.name))),g(gs,...s.map(({service:i,methods:o})=>l("details",{open:!r(i.name)||
Le.value!==""||t.startsWith(`${i.name}/`)},l("summary",{title:i.docs},l("span",{},i.name.includes(".")&&l("span",{className:"of"},i.name.slice(0,i.name.lastIndexOf(
"."))),i.name.slice(i.name.lastIndexOf(".")+1))),l("ul",{},...o.map(d=>{let c=B(d),u=Kt(d),f=l("a",{href:`#/${encodeURI(c)}`,title:d.docs,className:d.isDeprecated?
"deprecated":""},d.name,l("span",{className:"sign",title:u.name,"aria-label":u.name,role:"img"},u.sign));return c===t&&f.setAttribute("aria-current","page"),l("\
li",{},f)}))))),s.length===0&&g(gs,l("p",{className:"empty"},J?"No method has this name.":Ue?"No services.":"Asking the server…"))}function rn(){let n=decodeURIComponent(
location.hash.slice(2));for(let t of document.querySelectorAll("nav a"))decodeURIComponent(t.hash.slice(2))===n?t.setAttribute("aria-current","page"):t.removeAttribute(
"aria-current");document.body.classList.remove("listing"),q=void 0;let e=J?.services.flatMap(t=>t.methods).find(t=>B(t)===n);if(document.title=e?`${e.name} · fr\
pc console`:`${location.host} · frpc console`,n==="topics")g(Qt,ws.element);else if(e&&J)q=ht.get(n)??new ft(H,J,e,yt),ht.set(n,q),g(Qt,q.element,Zr(n));else{let t=n&&
J?`The server shows no method ${n}.`:"";g(Qt,Ue&&Yr(),t&&l("p",{className:"notice"},t),nn.element),nn.draw()}}function Yr(){return l("div",{className:"notice"},
l("p",{},`The schema of the server could not be had: ${Ue}.`),l("p",{className:"muted"},"The console needs a server with Reflection::new() of frpc-reflection. I\
f its middleware asks for metadata, such as a token, give it below and ask again."))}function Zr(n){let e=l("div",{}),t=()=>g(e,et(yt.all.filter(s=>s.path===n),
ks,!0));return t(),Ss=t,l("section",{className:"past"},l("h2",{},"History"),e)}var Ss=()=>{};yt.listen(()=>{Ss(),nn.draw()});function ks(n){location.hash===`#/${encodeURI(
n.path)}`?q?.restore(n):(location.hash=`#/${encodeURI(n.path)}`,addEventListener("hashchange",()=>q?.restore(n),{once:!0}))}function Qr(n){let e=[...document.querySelectorAll(
"nav a, nav summary")].filter(s=>s.offsetParent!==null),t=e.indexOf(document.activeElement);e[Math.max(0,Math.min(e.length-1,t+n))]?.focus()}addEventListener("k\
eydown",n=>{let e=n.target,t=e.matches("input, textarea, select"),s=n.ctrlKey||n.metaKey;if(n.key==="Enter"&&s)n.shiftKey?q?.end():q?.send();else if(n.key==="Es\
cape"&&!tn.open){if(!q?.cancel())return}else if(n.key==="/"&&!t)Le.focus();else if(n.key==="?"&&!t)tn.showModal();else if((n.key==="ArrowDown"||n.key==="ArrowUp")&&
e.closest("nav")&&!e.matches("select"))Qr(n.key==="ArrowDown"?1:-1);else return;n.preventDefault()});addEventListener("hashchange",rn);Le.addEventListener("inpu\
t",sn);R("menu").addEventListener("click",()=>{document.body.classList.toggle("listing"),document.body.classList.contains("listing")&&Le.focus()});R("help").addEventListener(
"click",()=>tn.showModal());g(R("key-list"),...zr.flatMap(([n,e])=>[l("dt",{},...n.split(" ").map(t=>l("kbd",{},t))),l("dd",{},e)]));sn();rn();})();
