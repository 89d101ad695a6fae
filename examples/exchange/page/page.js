var wt=new TextEncoder,St=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),pe=40,X=new DataView(new ArrayBuffer(8)),h=class extends Error{},Z=()=>{throw new h("\
it is cut off")},E=i=>wt.encode(i),I=class i{constructor(e=256){this.at=0;this.bytes=new Uint8Array(e)}room(e){let t=this.at+e;if(t>this.bytes.length){let n=new Uint8Array(
Math.max(t,this.bytes.length*2));n.set(this.bytes.subarray(0,this.at)),this.bytes=n}}byte(e){this.at===this.bytes.length&&this.room(1),this.bytes[this.at++]=e}half(e){
this.byte(e>>8),this.byte(e)}varint(e){for(;e>127;e=Math.floor(e/128))this.byte(e|128);this.byte(e)}raw(e){this.room(e.length),this.bytes.set(e,this.at),this.at+=
e.length}sized(e){this.varint(e.length),this.raw(e)}item(e,t){let n=new i(64);t?.(n),this.byte(e),this.sized(n.done())}text(e){let{at:t}=this,{length:n}=e,r=0;if(n<=
pe){this.room(n+1),this.byte(n);for(let s=0;s<n&&r<128;s++)this.byte(r=e.charCodeAt(s))}(n>pe||r>127)&&(this.at=t,this.sized(E(e)))}done(){return this.bytes.subarray(
0,this.at)}},v=class{constructor(e){this.bytes=e;this.at=0}get left(){return this.bytes.length-this.at}get next(){return this.bytes[this.at]}byte(){let{next:e}=this;
return e===void 0&&Z(),this.at++,e}varint(e=5){let t=0;for(let n=1;e-- >0;n*=128){let r=this.byte();if(r<128)return t+r*n;t+=(r-128)*n}throw new h("a number is \
too long")}view(e=this.varint()){return e>this.left&&Z(),this.bytes.subarray(this.at,this.at+=e)}rest(){return this.bytes.slice(this.at)}text(e=this.varint()){let{
bytes:t,at:n}=this,r="",s=0;if(e<=pe)for(let o;s<e&&(o=t[n+s])<128;s++)r+=String.fromCharCode(o);if(s<e){let o=this.view(e);try{return St.decode(o)}catch{throw new h(
"a text is not UTF-8")}}return this.at+=e,r}};var c=class i extends Error{constructor(t,n,{details:r=new Uint8Array,metadata:s={},mayHaveRun:o=!0,cause:a}={}){super(n,{cause:a});this.code=t;this.name="Statu\
s";this.details=r,this.metadata=s,this.mayHaveRun=o}static from(t){return t instanceof i?t:new i(2,t instanceof Error?t.message:String(t),{cause:t})}},y=(i,e)=>new c(
i,e,{mayHaveRun:!1}),ee=i=>i>0&&i<=16?i:2,O=(i=!0)=>new c(1,"the caller gave the call up",{mayHaveRun:i}),$=(i=!0)=>new c(4,"no answer before the deadline",{mayHaveRun:i});var z=100,xt=64<<20,At=12,ye=8,ve=56,T=(i,e,t)=>new me(i,e,t);var be=(i,e)=>U(new v(e),i,0),P=(i,e,t)=>je(i,e,t,z);function U(i,e,t){let n={depth:z,memory:Math.max(xt,i.left*At),missing:t};return ze(i,e,n)??Ge(e,{})}var me=class i{constructor(e,t,n){
this.name=e;this.spec=t;this.refs=n}get fields(){if(this.known)return this.known;let e=this.refs?.()??[],t={},n=0;return this.known=(this.spec&&this.spec.split(
" ")||[]).map(r=>{let[,s,o,a,d,l,p]=/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)$/.exec(r),f=p==="e"||p==="m"?e[n++]:void 0,u=f instanceof i?Et(f):f?It(f):Ve[p],
m=d==="?"?Tt(u):d==="*"?kt(u):d?Mt(Ve[l],u):u;if(!o)return He(m,s);let b=t[o]??=[],A={...u,case:s,number:+a,all:b};return b.push(A),He({...u,zero(){}},o,A)})}},
He=({kind:i,least:e,zero:t,put:n,take:r},s,o)=>({kind:i,least:e,zero:t,put:n,take:r,name:s,member:o});function je(i,e,t,n){if(!n)throw Xe(e.name,`nests deeper t\
han ${z}`);i.byte(8),i.byte(0);let r="";try{for(let s of e.fields){let{name:o,member:a}=s;if(r=o,!a)s.put(i,t[o],n);else if(a===a.all[0]){i.byte(3);let d=t[o],l=d&&
a.all.find(p=>p.case===d.case);if(d&&!l)throw new Error(`has no member ${d.case}`);i.varint(l?l.number:0),l?.put(i,d?.value,n)}}}catch(s){throw s instanceof c?s:
Xe(`${e.name}.${r}`,s.message)}}function ze(i,e,t){let n=i.byte();if(n===0)return;if(n!==8)throw new h(`${e.name}: byte ${n} begins no message`);i.byte();let r=t.
depth===z;if(!t.depth--)throw new h(`messages nest deeper than ${z}`);let{fields:s}=e;ge(t,ve+ye*s.length);let o={},a;for(let d of s){let{name:l,member:p}=d;if(!i.
left&&r&&t.missing>0)t.missing--,Object.hasOwn(o,l)||(o[l]=d.zero());else if(!p)o[l]=d.take(i,t);else if(p===p.all[0]&&i.next===3){i.at++,(a??=[]).push(l);let f=i.
varint(),u=p.all.find(m=>m.number===f);if(f&&!u)throw new h(`${e.name}.${l} has no member ${f}`);o[l]=u&&{case:u.case,value:we(u,i,t)}}else if(!a?.includes(l)){
let f=p.take(i,t);(f instanceof Uint8Array?f.length>0:f!==""&&f!==0n&&f!==!1&&f!==void 0&&!Object.is(f,0))?o[l]={case:p.case,value:f}:Object.hasOwn(o,l)||(o[l]=
void 0)}}return t.depth++,o}function Ge(i,e){for(let{name:t,zero:n}of i.fields)e[t]=n();return e}function ge(i,e){if((i.memory-=e)<0)throw new h("it takes too m\
uch memory")}function ne(i,e){let t=i.byte();if(t!==e)throw new h(`kind ${t} stands in the place of ${e}`)}var Et=i=>({kind:3,least:1,zero(){},put:(e,t,n)=>t===
void 0?e.byte(0):je(e,i,t,n-1),take:(e,t)=>ze(e,i,t),table:i});function we(i,e,t){let n=i.take(e,t);return n!==void 0||!i.table?n:(ge(t,ve+ye*i.table.fields.length),
Ge(i.table,{}))}var Tt=i=>({...i,zero(){},put:(e,t,n)=>t===void 0?e.byte(0):i.put(e,t,n),take:(e,t)=>e.next===0?void e.at++:i.take(e,t)});function Ye(i,e,t){for(let n of e)
i.byte(n);i.varint(t)}function Ke(i,e,t,n,r){for(let o of t)ne(i,o);let s=i.varint();return s*n>i.left&&Z(),ge(e,s*r),s}function kt(i){let e=[1,i.kind,10];return{
...i,zero:()=>[],put(t,n=[],r){Ye(t,e,n.length);for(let s of n)i.put(t,s,r)},take(t,n){let r=[];for(let s=Ke(t,n,e,i.least,ye);s>0;s--)r.push(we(i,t,n));return r}}}
function Mt(i,e){let t=[2,i.kind,e.kind,10];return{...e,zero:()=>new Map,put(n,r=new Map,s){Ye(n,t,r.size);for(let[o,a]of r)i.put(n,o,s),e.put(n,a,s)},take(n,r){
let s=new Map;if(n.next===0)n.at++;else for(let o=Ke(n,r,t,i.least+e.least,ve);o>0;o--)s.set(i.take(n,r),we(e,n,r));return s}}}var C=(i,e,t,n,r)=>({kind:i,least:e,
zero:t,put(s,o=t()){s.byte(i),n(s,o)},take(s){return ne(s,i),r(s)}});function It(i){let e=Object.values(i);return C(10,2,()=>e[0],(t,n)=>{let r=e.indexOf(n),s=n+
2147483648;j(r>=0||n===(n|0)&&n<0&&s>=e.length,n),t.varint(r<0?s:r)},t=>{let n=t.varint()>>>0,r=n-2147483648;if(n>=e.length&&(r>=0||e.includes(r)))throw new h(`\
an enum has the index ${n}`);return e[n]??r})}var te=(i,e)=>C(i?13:11,2,()=>e?0:0n,(t,n)=>{let r=BigInt(n),s=Number(r),o=i?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(
o)&&o>=0)return t.varint(o);j((i?BigInt.asIntN:BigInt.asUintN)(64,r)===r,n);let a=i?r<<1n^r>>63n:r;for(;a>>53n;a>>=7n)t.byte(Number(a&127n)|128);t.varint(Number(
a))},t=>{let{at:n}=t,r=t.varint(10);if(r<=Number.MAX_SAFE_INTEGER)i&&(r=r%2?(r+1)/-2:r/2);else{let s=0n;for(let o=0n;n<t.at;o+=7n)s|=BigInt(t.bytes[n++]&127)<<o;
s=BigInt.asUintN(64,s),r=i?s>>1n^-(s&1n):s}if(!e)return BigInt(r);if(!Number.isSafeInteger(Number(r)))throw new h("an integer is beyond 2^53");return Number(r)}),
qe=(i,e,t)=>C(i,e+1,()=>0,(n,r)=>{X[`set${t}`](0,r);for(let s=0;s<e;s++)n.byte(X.getUint8(s))},n=>{for(let r=0;r<e;r++)X.setUint8(r,n.byte());return X[`get${t}`](
0)}),Ve={b:C(7,2,()=>!1,(i,e)=>i.byte(+e),i=>{let e=i.byte();if(e>1)throw new h(`a bool is ${e}`);return e>0}),i:C(12,2,()=>0,(i,e)=>{j(e===(e|0),e),i.varint((e<<
1^e>>31)>>>0)},i=>{let e=i.varint();return e>>>1^-(e&1)}),u:C(10,2,()=>0,(i,e)=>{j(e===e>>>0,e),i.varint(e)},i=>i.varint()>>>0),l:te(!0,!1),w:te(!1,!1),L:te(!0,
!0),W:te(!1,!0),f:qe(14,4,"Float32"),d:qe(15,8,"Float64"),s:C(5,3,()=>"",(i,e)=>{j(typeof e=="string",e),i.byte(10),i.text(e)},i=>(ne(i,10),i.text())),y:C(4,3,()=>new Uint8Array,
(i,e)=>{i.byte(10),i.sized(e)},i=>(ne(i,10),i.view().slice()))},Xe=(i,e)=>y(3,`${i} ${e}`);function j(i,e){if(!i)throw new Error(`cannot be ${String(e)}`)}var xe=16,Je=65536,Qe=256,Ot=61440,Ct=/^[a-z0-9_.-]{1,256}$/,Lt=/^[ -~]*$/,Rt={metadata:{}},Ze=(i,e)=>Ct.test(i)&&(typeof e=="string"?!Se(i)&&Lt.test(e):Se(i)),
Se=i=>i.endsWith("-bin");function _(i,{backward:e,timeout:t,metadata:n,status:r}){let s=new I(64);e&&s.item(4),t!==void 0&&s.item(1,d=>d.varint(Math.min(Math.max(
0,Math.round(t*1e3)),Number.MAX_SAFE_INTEGER)));let o=Object.entries(n??{}),a=0;for(let[d,l]of o){if(!Ze(d,l))throw y(3,`metadata cannot have this entry: ${d}`);
if(a+=d.length+l.length+8,o.length>Qe||a>Ot)throw y(8,"too much metadata");s.item(2,p=>{p.text(d),p.raw(typeof l=="string"?E(l):l)})}r&&(s.item(3,d=>{d.varint(r.
code),s.at+r.details.length+16<=Je&&d.raw(r.details)}),r.mayHaveRun||s.item(5)),s.at&&(i.byte(xe),i.sized(s.done()))}function N(i){if(i.next!==xe)return Rt;i.at++;
let e=new v(i.view());if(e.left>Je)throw new h("a prefix is too long");let t=Object.create(null),n={metadata:t},r=0;for(;e.left;){let s=e.byte(),o=new v(e.view());
if(s===1)n.timeout=o.varint(10)/1e3;else if(s===2){let a=o.text(),d=Se(a)?o.rest():o.text(o.left);if(!Ze(a,d)||++r>Qe)throw new h("metadata breaks the rules");t[a]=
d}else s===3?(n.code=ee(o.varint(10)),n.details=o.rest()):s===5&&(n.refused=!0)}return n}function et(i){if(i[0]!==xe)return!1;let e=1;for(;e<6&&i[e]>127;)e++;return i[e+
1]===4&&i[e+2]===0}var re=i=>i.next===6;function ie(i,{metadata:e,code:t,details:n,refused:r}){if(i.at++,i.byte()!==5||i.byte()!==10)throw new h("an error has n\
o text");return new c(t??2,i.text(),{metadata:e,mayHaveRun:!r,...n&&{details:n}})}function G(i,e,t){_(i,{backward:t,status:e,metadata:e.metadata});for(let n of[
6,5,10])i.byte(n);i.text(e.message)}var se=(i,e,t,n)=>({name:i,fingerprint:e,compatible:t,methods:n});function oe(i,e){if(i.fingerprint===e.fingerprint||e.compatible.includes(i.fingerprint))return 0;if(!i.compatible.includes(e.fingerprint))throw y(9,`incompatibl\
e layouts of ${i.name}`);return 1}var Y=({added:i=[0,0]},e,t)=>e*i[t],K=i=>Object.values(i.methods);function Ae(i,e){let t=r=>{for(let s=0;s<16;s+=2)i.byte(parseInt(
r.slice(s,s+2),16))};i.text(e.name),t(e.fingerprint),i.varint(e.compatible.length),e.compatible.forEach(t);let n=0;for(let r of K(e).map(s=>s.operation).sort((s,o)=>s-
o))i.varint(r-n),n=r}function tt(i){let e=()=>{let n="";for(let r=0;r<8;r++)n+=i.byte().toString(16).padStart(2,"0");return n},t={service:i.text(),fingerprint:e(),
compatible:[],operations:[]};for(let n=i.varint();n>0;n--)t.compatible.push(e());for(let n=0;i.left;)t.operations.push(n+=i.varint());return t}var Ee=5<<20,Ut=1024,Nt=65536,W=10,B=16384,Bt=B/2,Te=256,de=262144,Dt=1e5,$t=64<<20,Pt=65536,_t=2e3,Wt=5,Ft=1e4,Ht=2147483647,M=(i,e)=>setTimeout(e,Math.min(Math.
max(0,i),Ht)),ae=class{constructor(e,t,n,r,s){this.owner=t;this.named=n;this.serving=r;this.mounts=s;this.bodyMax=Ee;this.streamsMax=1/0;this.credit=0;this.opened=
0;this.isUp=!1;this.isClosed=!1;this.isLeft=!1;this.out=new I(16384);this.streams=new Map;this.offered=[];this.calling=[];this.callsMax=B;this.slots=[];this.free=
[];this.ids=[];this.inFlight=0;this.givenUp=0;this.lastStream=0;this.theirStream=32767;this.known=new Map;this.need=W;this.waste=0;this.flushing=!1;this.seen=0;
this.pong=!1;this.heard=!1;this.sent=!1;this.silent=0;this.alarmAt=1/0;this.settle=()=>{this.out.at!==this.seen?(this.seen=this.out.at,queueMicrotask(this.settle)):
(this.flushing=!1,this.flush())};this.setup=M(Ft,()=>this.fail("no HELLO in time")),this.transport=e({open:()=>{this.hello(),this.flush(),this.beat=setInterval(
()=>this.tick(),_t)},data:o=>this.data(o),close:o=>this.closed(o)})}write(e,t,n){let{out:r}=this,{at:s}=r;try{for(let d of[15,e,t,0,0])r.half(d);n?.(r);let o=r.
at,a=o-s-W;if(a>this.bodyMax)throw y(8,`the message has ${a} bytes, and the server accepts ${this.bodyMax}`);r.at=s+6,r.half(a>>>16),r.half(a),r.at=o}catch(o){throw r.
at=s,o}r.at>Pt?this.flush():this.flushing||(this.flushing=!0,this.seen=0,queueMicrotask(this.settle))}number(e,t,n){this.write(e,t,r=>r.varint(n))}flush(){let{out:e}=this;
e.at&&(this.pong=!1,this.sent=!0,this.isClosed||this.transport.send(e.done()),e.at=0,this.seen=0,e.bytes.length>1<<20&&(e.bytes=new Uint8Array(16384)),this.transport.
buffered()>$t&&this.fail("the server does not take what is sent"))}hello(){this.write(0,3,e=>{e.raw(E("fris"));let t=this.serving?Te:0;[Ee,t,t,de].forEach((n,r)=>e.
item(r+1,s=>s.varint(n)));for(let n of this.serving?.services??[])e.item(32,r=>Ae(r,n));for(let n of this.named)e.item(33,r=>Ae(r,n))}),this.write(1,0)}tick(){if(this.
silent=this.heard?0:this.silent+1,this.silent>=Wt)return this.fail("the server is silent");(!this.heard||!this.sent)&&this.write(0,0),this.heard=this.sent=!1}data(e){
if(this.isClosed)return;this.heard=!0;let{partial:t}=this;if(t){if(t.raw(e),t.at<this.need)return;e=t.done(),this.partial=void 0}try{let n=this.packets(e);n<e.length&&
(this.partial=new I(e.length-n),this.partial.raw(e.subarray(n)))}catch(n){if(!(n instanceof h))throw n;this.fail(`the server broke the protocol: ${n.message}`)}}packets(e){
let t=0;this.need=W;let n=r=>e[t+r]<<8|e[t+r+1];for(;e.length-t>=W&&!this.isClosed;){if(n(0)!==15)throw new h("a header without its magic");let r=n(6)*65536+n(8);
if(r>Ee)throw new h(`a packet of ${r} bytes`);let s=t+W+r;if(s>e.length){this.need=s-t;break}this.handle(n(2),n(4),e.subarray(t+W,s)),t=s}return t}handle(e,t,n){
let r=new v(n),s=this.streams.get(e);if(t>=10){if(!this.isUp)throw new h("a packet before HELLO");if(et(n))return this.serving?this.serving.request(this,e,t,n):
this.wasted();let o=this.slots[e&B-1];if(o?.id===e&&o.operation===t)return o.isOver&&this.givenUp--,this.release(e),o.reply(n);if(t>=65280&&this.mounts.length)return this.
mounts.forEach(a=>a.packet(this,e,t,n))}else if(t<2){if(n.length)throw new h("a PING or PONG with a body");t===1?this.isUp||this.fail("the server is a plain pee\
r"):this.pong||(this.pong=!0,this.write(0,1));return}else{if(t===3&&!this.isUp)return this.greeted(r);if(t===2)return s?s.received(n):this.opening(e,n);if(t===4)
return this.leave();if(t===6)return this.serving?.cancel(this,e,r.varint());if(t===8)throw new h("an answer to no hand-off");if(t===5&&s)return s.credited(r.varint(
10));if(t===7&&s)return n.length?s.wasReset(r):s.ended()}this.wasted()}wasted(){++this.waste>Dt&&this.fail("too many packets that belong to nothing")}greeted(e){
if(e.left>Nt||e.text(4)!=="fris"||!e.byte())throw new h("it sent no HELLO");for(;e.left;){let t=e.byte(),n=new v(e.view());if(t===1)this.bodyMax=Math.max(n.varint(),
Ut);else if(t===2)this.streamsMax=n.varint();else if(t===3)this.callsMax=Math.min(n.varint(),B);else if(t===4)this.credit=n.varint();else if(t===32||t===33)try{
(t===32?this.offered:this.calling).push(tt(n))}catch{}}this.isUp=!0,clearTimeout(this.setup),this.owner.room(this)}opening(e,t){let n=e-this.theirStream&32767;if(e<
32768||!n||n>16384)return this.wasted();this.theirStream=e;try{if(!this.serving)throw y(12,"this end serves nothing");this.serving.open(this,e,t)}catch(r){this.
number(e,5,0),this.reset(e,c.from(r))}}reset(e,{code:t,message:n}){this.isClosed||this.write(e,7,r=>{r.varint(t),r.raw(E(n.slice(0,256)))})}fits(e){let t=this.known.
get(e);if(t!==void 0)return t;let n=this.offered.find(r=>r.service===e.name);if(n){if(n.fingerprint!==e.fingerprint&&!this.named.includes(e))return;t=oe(e,n)}else{
let r=K(e).map(({operation:o})=>o),s=this.offered.find(o=>o.operations.some(a=>r.includes(a)));if(s)throw y(12,`the server has ${s.service} in the place of ${e.
name}`);t=0}return this.known.set(e,t),t}enter(e){if(this.inFlight>=this.callsMax)return-1;this.inFlight++;let t=this.free.pop()??this.slots.length,n=(this.ids[t]??
t)+B&65535;return this.ids[t]=n,this.slots[t]=e,e.until<this.alarmAt&&this.wake(e.until),n}release(e){let t=e&B-1;this.slots[t]=void 0,this.free.push(t),this.inFlight--,
this.inFlight===this.callsMax-1&&this.owner.room(this),this.closeIfIdle()}cancel(e){let t=e.id&B-1;this.slots[t]!==e||e.isOver||this.isClosed||(e.isOver=!0,this.
number(e.id,6,e.operation),++this.givenUp>=Bt&&this.leave(),this.closeIfIdle())}streamId(){if(this.opened>=Math.min(this.streamsMax,28672))return-1;do this.lastStream=
this.lastStream%32767+1;while(this.streams.has(this.lastStream));return this.opened++,this.lastStream}over(e){this.streams.get(e.id)===e&&(this.streams.delete(e.
id),e.id<32768&&(this.opened--,this.owner.room(this)),this.closeIfIdle())}wake(e){clearTimeout(this.alarm),this.alarmAt=e,this.alarm=M(e-performance.now(),()=>this.
expire())}expire(){let e=performance.now(),t=this.alarmAt=1/0;for(let n of this.slots)!n||n.isOver||(n.until<=e?(this.cancel(n),n.over($())):t=Math.min(t,n.until));
t<this.alarmAt&&this.wake(t)}leave(){this.isLeft||(this.isLeft=!0,this.owner.left(this,"the server is going away"),this.closeIfIdle())}closeIfIdle(){this.isLeft&&
this.inFlight===this.givenUp&&!this.streams.size&&!this.serving?.busy(this)&&queueMicrotask(()=>this.fail("the server is going away"))}fail(e){this.isClosed||(this.
flush(),this.transport.close(),this.closed(e))}closed(e){if(this.isClosed)return;this.isClosed=!0,clearInterval(this.beat),clearTimeout(this.setup),clearTimeout(
this.alarm),this.owner.left(this,e);let t=new c(14,`the connection was lost: ${e}`);for(let n of this.slots)n?.lost(t);for(let n of[...this.streams.values()])n.
lost(t);this.serving?.down(this);for(let n of this.mounts)n.down(this,t)}};var rt={done:!0,value:void 0},F=class{constructor(){this.items=[];this.readers=[];this.last=!1}[Symbol.asyncIterator](){return this}next(){return new Promise((e,t)=>{
this.readers.push({resolve:e,reject:t}),this.serve()})}return(){return this.leave(),this.finished(!0,!0),Promise.resolve(rt)}get isAwaited(){return this.readers.
length>0}arrived(e){this.items.push(e),this.serve()}finished(e,t=!1){t&&(this.items.length=0),this.last||=e,this.serve()}serve(){for(;this.isAwaited;){let e=this.
items.shift();if(e===void 0&&!this.last)return;let t=this.readers.shift();try{if(e===void 0){let{last:n}=this;if(this.last=!0,this.told?.(),n instanceof c)throw n;
t.resolve(rt)}else{let n=this.taken(e);n===void 0?this.readers.unshift(t):t.resolve({done:!1,value:n})}}catch(n){t.reject(n)}}}};var ke=64,Vt=4,Me=(i,e)=>i instanceof h?new c(13,`not a valid ${e.name}: ${i.message}`):c.from(i),H=class extends F{constructor(t,n,r){super();this.sends=t;this.
receives=n;this.metadata={};this.id=0;this.missing=0;this.credit=0;this.sending=!0;this.receiving=!0;this.refused=!1;this.discards=!1;this.unread=0;this.consumed=
0;this.whenOver=r??(()=>{})}begin(t,n,r){this.link=t,this.id=n,this.missing=r,this.credit=t.credit,t.streams.set(n,this)}get isOpen(){return this.link!==void 0}get isOver(){
return!this.sending&&!this.receiving}within(t){this.deadline=M(t,()=>this.fail($(this.isOpen)))}leave(){this.stop(!0)}told(){clearTimeout(this.deadline),this.id<
32768&&this.leave()}taken(t){let n=t.length+ke;this.unread-=n,this.consumed+=n;let{link:r}=this;r&&this.consumed*Vt>=de&&this.receiving&&(r.number(this.id,5,this.
consumed),this.consumed=0);try{let s=new v(t),o=N(s);if(s.at&&this.whenMetadata?.(this.metadata=o.metadata),s.at&&!s.left)return;if(re(s))throw ie(s,o);return U(
s,this.receives,this.missing)}catch(s){throw this.leave(),Me(s,this.receives)}}async pump(t,n=!1){let r=Symbol.asyncIterator in t?t[Symbol.asyncIterator]():t[Symbol.
iterator]();this.stopSource=()=>r.return?.();try{for(;;){for(;this.credit<=0&&!this.isOver;)await new Promise(d=>this.wakeSender=d);if(this.isOver)return;let s=r.
next(),{done:o,value:a}=s instanceof Promise?await s:s;if(this.isOver)return;if(o)break;this.send(a)}this.stopSource=void 0,this.finish()}catch(s){if(n)throw s;
this.stop(c.from(s))}}send(t){let{link:n}=this;!n||!this.sending||(n.write(this.id,2,r=>{let{at:s}=r;t instanceof c?G(r,t,!1):P(r,this.sends,t),this.credit-=r.at-
s+ke}),t instanceof c&&this.finish())}finish(){this.sending&&(this.sending=!1,this.link?.write(this.id,7),this.release())}received(t){if(!(!this.receiving||this.
discards)){if(this.unread+this.consumed>=de)return this.fail(new c(8,"the peer sent more than it had credit for"));this.unread+=t.length+ke,this.arrived(this.isAwaited?
t:new Uint8Array(t))}}credited(t){this.refused||=t===0,this.credit+=t,this.credit>0&&this.wakeSender?.()}ended(){this.receiving=!1,this.finished(!0),this.release()}wasReset(t){
let n=ee(t.varint()),r="";try{r=t.text(Math.min(t.left,4096))}catch{}this.lost(new c(n,r,{mayHaveRun:!this.refused}))}lost(t){this.sending=this.receiving=!1,this.
finished(t),this.release()}fail(t){this.stop(t,t)}discard(){this.items.length=0,this.discards=!0}stop(t,n=O()){this.isOver||this.link?.reset(this.id,n),this.sending=
this.receiving=!1,this.finished(t,!0),this.release()}release(){let{whenOver:t}=this;!this.isOver||!t||(this.whenOver=void 0,this.wakeSender?.(),clearTimeout(this.
deadline),this.stopSource?.(),this.link?.over(this),t())}};var Xt=3e4,jt=5e3,it="not sent: the channel is closed",zt=20,st=2e3,ot=10,le=class{constructor(e,t={}){this.dial=e;this.options=t;this.failures=0;this.retries=ot;
this.dialledAt=0;this.isClosed=!1;this.trouble="";this.waiting=new Map;this.named=new Set;this.mounts=[];this.owner={room:e=>queueMicrotask(()=>this.drain(e)),left:(e,t)=>{
this.link===e&&(this.link=void 0,this.judge(e,t))}};t.stayConnected&&queueMicrotask(()=>this.connect())}name(e){this.named.add(e)}mount(e){this.mounts.push(e)}connected(){
return new Promise((e,t)=>{let n=r=>(e(r),!0);this.run({isOver:!1,start:n,fail:t},1/0)})}unary(e,t,n,r){return new Promise((s,o)=>{let a=new Ie(this,e,t,n,this.
terms(r),s,o);this.run(a,a.until)})}serverStreaming(e,t,n,r){return this.twoWay(e,t,[n],r)}twoWay(e,t,n,r){return this.open(e,t,n,r)}open(e,t,n,r){return new Oe(
this,e,t,n,{...this.terms(r),told:r?.timeout}).replies}async clientStreaming(e,t,n,r){let s=this.open(e,t,n,r),{done:o,value:a}=await s.next();if(o)throw new c(
13,"there is no reply");return s.leave(),a}close(){this.isClosed=!0,clearTimeout(this.pause);for(let[e,t]of this.waiting)clearTimeout(t),e.fail(y(9,it));this.waiting.
clear(),this.link?.leave()}run(e,t){let{link:n}=this;if(n?.isUp&&this.starts(e,n))return;if(this.isClosed)return e.fail(y(9,it));let r=performance.now()+(this.options.
patience??jt),s=()=>{let o=performance.now();o<t&&(o<r||this.link?.isUp)?this.waiting.set(e,M((o<r?Math.min(t,r):t)-o,s)):this.waiting.delete(e)&&e.fail(o<t?this.
unreachable():at())};this.waiting.set(e,void 0),s(),this.connect()}starts(e,t){let{isOver:n,service:r}=e;try{let s=n||!r?0:t.fits(r);return s!==void 0?n||e.start(
t,s):(this.named.add(r),this.failures=0,t.leave(),!1)}catch(s){return e.fail(c.from(s)),!0}}unreachable(){return y(14,`not sent: there is no connection to the s\
erver${this.trouble&&`; ${this.trouble}`}`)}terms(e){let{timeout:t,metadata:n}=this.options,r=e?.timeout??t;return{...e,told:r,timeout:r??Xt,metadata:n&&e?.metadata?
{...n,...e.metadata}:e?.metadata??n}}earn(){this.retries<ot&&(this.retries+=.1)}spend(){return this.retries<1?!1:(this.retries--,!0)}connect(){this.link||this.pause!==
void 0||this.isClosed||!this.waiting.size&&!this.options.stayConnected||(this.dialledAt=performance.now(),this.link=new ae(this.dial,this.owner,[...this.named],
this.options.serve,this.mounts))}judge(e,t){if(e.isUp&&performance.now()-this.dialledAt>=st)this.failures=0;else{this.trouble=t;let r=Math.min(zt*2**Math.min(this.
failures++,16),st);clearTimeout(this.pause),this.pause=M(Math.random()*r,()=>{this.pause=void 0,this.connect()})}this.connect()}drain(e){for(let[t,n]of this.waiting){
if(this.link!==e||!this.starts(t,e))return;clearTimeout(n),this.waiting.delete(t)}}},at=()=>y(4,"not sent: the deadline has passed"),Ie=class{constructor(e,t,n,r,s,o,a){
this.channel=e;this.service=t;this.method=n;this.request=r;this.terms=s;this.resolve=o;this.reject=a;this.id=0;this.isOver=!1;this.missing=0;this.abort=()=>{this.
link?.cancel(this),this.over(O(this.link!==void 0))};this.operation=n.operation,this.until=performance.now()+s.timeout,s.signal?.addEventListener("abort",this.abort)}start(e,t){
let{terms:n,method:r}=this,{told:s,metadata:o}=n;if(n.signal?.aborted)throw O(!1);if(n.timeout<=0)throw at();if((this.id=e.enter(this))<0)return!1;try{e.write(this.
id,this.operation,a=>{(s!==void 0||o)&&_(a,{timeout:s&&this.until-performance.now(),metadata:o}),P(a,r.request,this.request)})}catch(a){throw e.release(this.id),
a}return this.missing=Y(r,t,1),this.link=e,!0}reply(e){let{method:t,terms:n}=this;if(!this.isOver)try{let r=new v(e),s=N(r);if(re(r))throw ie(r,s);r.at&&n.onMetadata?.(
s.metadata),this.resolve(U(r,t.reply,this.missing)),this.channel.earn(),this.end()}catch(r){this.over(Me(r,t.reply))}}lost(e){if(this.link=void 0,!this.isOver){
if(!this.method.idempotent||!this.channel.spend())return this.over(e);this.before=e,this.channel.run(this,this.until)}}fail(e){this.over(this.before??e)}over(e){
this.reject(e),this.end()}end(){this.isOver=!0,this.terms.signal?.removeEventListener("abort",this.abort)}},Oe=class{constructor(e,t,n,r,s){this.service=t;this.
method=n;this.requests=r;this.terms=s;let{signal:o,told:a}=s,d=()=>this.replies.fail(O(this.replies.isOpen));this.replies=new H(n.request,n.reply,()=>o?.removeEventListener(
"abort",d)),this.replies.whenMetadata=s.onMetadata,a!==void 0&&this.replies.within(a),this.until=performance.now()+(a??1/0),o?.addEventListener("abort",d),o?.aborted?
d():e.run(this,this.until)}get isOver(){return this.replies.isOver}start(e,t){let{method:n,replies:r,terms:{told:s,metadata:o}}=this;if(!e.streamsMax)throw y(12,
"the server does not accept streams");let a=e.streamId();return a<0?!1:(r.begin(e,a,Y(n,t,1)),e.write(a,2,d=>{_(d,{timeout:s&&this.until-performance.now(),metadata:o}),
d.byte(9),d.varint(n.operation)}),r.pump(this.requests),!0)}fail(e){this.replies.fail(e)}};function Le(i,e,t){return new Ce(i,e,t)}var Ce=class{constructor(e,t,n){this.progress=new WeakMap;this.services=[...n?.services??[],e],this.methods=new Map(n?.methods);
let r=Object.keys(e.methods);K(e).forEach((s,o)=>{let a=r[o],d=(l,p)=>t[a](l,p);this.methods.set(s.operation,{service:e,method:s,handler:d})})}request(e,t,n,r){
let s=a=>{if(!e.isClosed)try{e.write(t,n,a)}catch(d){e.write(t,n,l=>G(l,c.from(d),!0))}},o=a=>s(d=>G(d,c.from(a),!0));try{let a=new v(r),d=N(a),{method:l,handler:p,
left:f}=this.find(e,n,!1),u=U(a,l.request,f),{call:m,end:b}=this.begin(e,t,n,d,o);new Promise(A=>A(p(u,m))).then(A=>{b()&&s(Fe=>{_(Fe,{backward:!0}),P(Fe,l.reply,
A)})},A=>b()&&o(A))}catch(a){o(Gt(a))}}open(e,t,n){let r=new v(n),s=N(r);if(r.byte()!==9)throw new h("a stream begins with no operation");let o=r.varint(3),{method:a,
handler:d,left:l}=this.find(e,o,!0),{call:p,end:f}=this.begin(e,t+65536,o,s,m=>u.fail(m)),u=new H(a.reply,a.request,()=>f(!0));u.begin(e,t,l),(async()=>{try{let m=u;
if(!a.sends){let A=await u.next();if(A.done)throw y(3,"there was no request");m=A.value}let b=d(m,p);a.receives?await u.pump(b,!0):(u.send(await b),u.finish())}catch(m){
u.send(c.from(m))}u.isOver||u.discard()})()}find(e,t,n){let r=this.methods.get(t);if(!r||!(r.method.sends||r.method.receives)===n)throw y(12,`there is no operat\
ion ${t} here`);if(this.busy(e)>=Te)throw y(8,"too many calls are in progress");let{service:s,method:o}=r,a=e.calling.find(d=>d.service===s.name);return{...r,left:Y(
o,a?oe(s,a):0,0)}}begin(e,t,n,{timeout:r,metadata:s},o){let a=new AbortController,d=this.of(e),l=(u=!1)=>{clearTimeout(f),u&&a.abort();let m=d.delete(t);return e.
closeIfIdle(),m},p=u=>{o(u),l(!0)},f=r===void 0?void 0:M(r,()=>p($()));return d.set(t,{operation:n,stop:p}),{call:{signal:a.signal,metadata:s},end:l}}cancel(e,t,n){
let r=this.of(e).get(t);r?.operation===n&&r.stop(O())}busy(e){return this.of(e).size}down(e){for(let{stop:t}of[...this.of(e).values()])t(new c(14,"the connectio\
n was lost"))}of(e){let t=this.progress.get(e);return t||this.progress.set(e,t=new Map),t}},Gt=i=>i instanceof h?y(3,`the request cannot be read: ${i.message}`):
c.from(i);var ce=65280,Yt=16<<20,Re=64,J=class{constructor(e){this.channel=e;this.subscriptions=new Map;this.next=0;e.mount({packet:(t,n,r,s)=>this.handle(t,n,r-ce,s),down:(t,n)=>{
if(t===this.link)for(let r of this.subscriptions.values())r.end(n)}})}async subscribe(e,{group:t=""}={}){return this.ask(0,e,t)}async publish(e,t){let n;do n=await this.
channel.connected();while(n.isClosed);n.write(0,ce+2,r=>{r.sized(E(e)),r.raw(typeof t=="string"?E(t):t)})}async sync(){await(await this.ask(3)).return()}async ask(e,t,n){
let r;do r=this.link=await this.channel.connected();while(r.isClosed);let s=this.next=this.next%65535+1,o=new Ue(n?void 0:t?.split("."),()=>{this.subscriptions.
delete(s)&&t!==void 0&&!r.isClosed&&r.write(s,ce+1)});return this.subscriptions.set(s,o),r.write(s,ce+e,a=>{t!==void 0&&a.sized(E(t)),a.raw(E(n??""))}),await o.
active,o}handle(e,t,n,r){if(e!==this.link)return;let s=new v(r),o=this.subscriptions.get(t);if(n===2){let a=s.text(),d={topic:a,payload:s.rest()};for(let l of this.
subscriptions.values())(t?l===o:l.matches(a))&&l.put(d)}else if(n===4){let a=s.varint(10);for(let d of this.subscriptions.values())(t?d===o:a)&&(d.lost+=a)}else if(!r.
length)o?.activate();else{let a=[8,12,7][s.byte()-3],d=y(a??3,s.text(s.left));this.subscriptions.delete(t),o?.end(d)}}},Ue=class extends F{constructor(t,n){super();
this.tokens=t;this.leave=n;this.lost=0;this.activate=()=>{};this.refuse=()=>{};this.unread=0;this.active=new Promise((r,s)=>{this.activate=r,this.refuse=s})}matches(t){
let{tokens:n}=this,r=t.split(".");return!n||(n.at(-1)===">"?r.length<n.length:r.length!==n.length)?!1:n.every((s,o)=>s===">"||s==="*"||s===r[o])}put(t){for(this.
unread+=t.payload.length+Re;this.unread>Yt&&this.items.length>0;)this.unread-=this.items.shift().payload.length+Re,this.lost++;this.arrived(t)}end(t){this.leave(),
this.refuse(t),this.finished(t)}taken({topic:t,payload:n}){let{lost:r}=this;return this.unread-=n.length+Re,this.lost=0,{topic:t,payload:n,lagged:r}}};var Ne="frisbee.1";function dt(i,{protocols:e=[],WebSocket:t=globalThis.WebSocket}={}){return n=>{let r=new t(String(i),[Ne,...e]);return r.binaryType="arraybuf\
fer",r.onopen=()=>{r.protocol===Ne?n.open():r.close()},r.onmessage=({data:s})=>{s instanceof ArrayBuffer?n.data(new Uint8Array(s)):r.close()},r.onerror=()=>{},r.
onclose=({code:s,reason:o})=>{n.close(`the WebSocket was closed (${s}${o&&`, ${o}`})`)},{send:s=>r.send(s),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Be=(i,e={})=>new le(
dt(i,e),e);var x={BUY:0,SELL:1},De=T("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[lt,lt,Jt]),Jt=T("exchange.Deal","number:u side:e price:u amount:u",
()=>[x]),ct=T("exchange.Inquiry","side:e amount:u",()=>[x]),lt=T("exchange.Level","price:u amount:u"),Qt=T("exchange.Nothing",""),ut=T("exchange.Offer","price:u\
 called:u answered:u"),Zt=T("exchange.Order","number:u side:e price:u amount:u",()=>[x]),en=T("exchange.Report","number:u side:e amount:u price:u left:u",()=>[x]),
D=se("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:Qt,reply:De},trade:{operation:11,request:Zt,reply:en,sends:!0,receives:!0},inquire:{operation:12,
request:ct,reply:ut}}),ue=class{constructor(e){this.channel=e;e.name(D)}look(e,t){return this.channel.unary(D,D.methods.look,e,t)}trade(e,t){return this.channel.
twoWay(D,D.methods.trade,e,t)}inquire(e,t){return this.channel.unary(D,D.methods.inquire,e,t)}},ht=se("exchange.Trader","1eff350ff92dc482",[],{quote:{operation:13,
request:ct,reply:ut}});var Pe=240,vt=8,S=i=>document.getElementById(i),w=(i,e)=>void(S(i).textContent=e),k=i=>(i/100).toFixed(2),he=i=>i===x.BUY?"buy":"sell";function g(i,e,t=""){let n=document.
createElement(i);return n.className=t,typeof e=="string"?n.textContent=e:n.append(...e),n}function tn(i,e){let t=S(i);for(t.querySelector(".empty")?.remove(),t.
prepend(e);t.children.length>vt;)t.lastElementChild?.remove()}var Q=new Map,ft=0,pt=0,bt=()=>{},_e=[];async function*nn(){for(;;){let i=_e.shift();i?yield i:await new Promise(
e=>bt=e)}}function rn({number:i,amount:e,price:t,left:n}){let r=Q.get(i);if(!r)return;r.done+=e,r.left=n;let s=r.order.side===x.BUY?1:-1;ft+=s*e,pt-=s*e*t,w("he\
ld",String(ft)),w("cash",k(pt));let o=[...Q.values()].reverse().slice(0,vt).map(({order:a,done:d,left:l})=>g("tr",[g("td",`${he(a.side)} ${a.amount}`,he(a.side)),
g("td",k(a.price)),g("td",String(d)),g("td",String(l))]));S("orders").replaceChildren(...o)}S("ticket").addEventListener("submit",i=>{i.preventDefault();let e=new FormData(
i.target),t=i.submitter.value==="sell"?x.SELL:x.BUY,n={number:Q.size+1,side:t,price:Math.round(Number(e.get("price"))*100),amount:Number(e.get("amount"))};Q.set(
n.number,{order:n,done:0,left:n.amount}),_e.push(n),bt()});var V=0,$e=0,q,L=[];function mt(i,e){let t=Math.max(1,...e.map(({amount:n})=>n));S(i).replaceChildren(
...e.slice(0,10).map(({price:n,amount:r})=>{let s=document.createElement("meter");return s.max=t,s.value=r,g("li",[s,g("span",k(n)),g("span",String(r))])}))}function sn(i){
for(let{number:n,price:r}of[...i].reverse())n>$e&&L.push(r);L.splice(0,L.length-Pe);let[e]=i;if(!e||e.number===$e)return;$e=e.number;let t=e.price-V;V&&t&&(w("c\
hange",`${t>0?"▲":"▼"} ${k(Math.abs(t))}`),S("change").dataset.side=t>0?"buy":"sell"),V=e.price,w("last",k(V)),S("deals").replaceChildren(...i.map(({side:n,
price:r,amount:s})=>g("li",[g("span",n===x.BUY?"bought":"sold",he(n)),g("span",k(r)),g("span",String(s))]))),We()}function yt({bids:i,asks:e,deals:t,traders:n,orders:r}){
mt("asks",e),mt("bids",i),e[0]&&i[0]&&w("spread",`${k(e[0].price-i[0].price)} apart`),w("traders",String(n));let s=performance.now();(!q||s-q.at>1e3)&&(q&&w("ra\
te",((r-q.orders)/((s-q.at)/1e3)).toFixed(0)),q={orders:r,at:s}),sn(t)}function We(){let i=S("chart"),e=i.getContext("2d"),{clientWidth:t,clientHeight:n}=i;if(!e||
L.length<2||t===0)return;let r=devicePixelRatio;i.width=t*r,i.height=n*r,e.scale(r,r);let s=getComputedStyle(i),o=S("state"),a=Math.min(...L)-2,d=Math.max(...L)+
2,l=t-56,p=m=>m/(Pe-1)*l,f=m=>(d-m)/(d-a)*(n-12)+6;e.font=`12px ${s.fontFamily}`,e.fillStyle=e.strokeStyle=getComputedStyle(o).color,e.lineWidth=.5;for(let m=0;m<
5;m++){let b=a+(d-a)*m/4;e.globalAlpha=.35,e.beginPath(),e.moveTo(0,f(b)),e.lineTo(l,f(b)),e.stroke(),e.globalAlpha=1,e.fillText(k(b),l+8,f(b)+4)}let u=Pe-L.length;
e.strokeStyle=e.fillStyle=s.color,e.beginPath(),L.forEach((m,b)=>e.lineTo(p(u+b),f(m))),e.lineWidth=1.5,e.stroke(),e.lineTo(l,n),e.lineTo(p(u),n),e.globalAlpha=
.1,e.fill()}addEventListener("resize",We);matchMedia("(prefers-color-scheme: dark)").addEventListener("change",We);var on=Le(ht,{quote:({side:i,amount:e})=>{let t=Math.
round(Number(S("margin").value)*100),n=V&&V+(i===x.BUY?t:-t);return tn("asked",g("li",`${he(i)} ${e}? You said ${k(n)}.`)),{price:n}}}),{hostname:an}=location,gt=Be(
`ws://${an}:${document.documentElement.dataset.port}/`,{serve:on,stayConnected:!0}),fe=new ue(gt),dn=new J(gt);S("inquire").addEventListener("submit",async i=>{
i.preventDefault();let e=i.target.querySelector("button");e.disabled=!0;try{let t=performance.now(),{price:n,called:r,answered:s}=await fe.inquire({side:x.BUY,amount:10}),
o=(performance.now()-t).toFixed(0);w("offer",n?`${k(n)} is the best of ${s} of ${r}, after ${o} ms.`:`None of ${r} had a price.`)}catch(t){w("offer",c.from(t).message)}
e.disabled=!1});async function ln(){for(;;){try{let i=await dn.subscribe("exchange.book"),e=fe.trade(nn()),t=(async()=>{for await(let r of e)rn(r)})();S("state").
dataset.is="open",w("state","connected"),yt(await fe.look({}));let n=(async()=>{for await(let{payload:r}of i)yt(be(De,r))})();await Promise.race([t,n])}catch(i){
S("state").dataset.is="failed",w("state",c.from(i).message)}_e.length=0;for(let i of Q.values())i.left=0;await new Promise(i=>setTimeout(i,1e3))}}ln();setInterval(
async()=>{if(document.hidden)return;let i=performance.now();try{await fe.look({},{timeout:5e3}),w("ping",`${(performance.now()-i).toFixed(1)} ms`)}catch{w("ping",
"–")}},2e3);
