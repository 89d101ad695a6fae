var xn=new TextEncoder,An=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Ht=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
F=e=>{throw new we(e)},G=e=>({bytes:e,at:0,depth:0,memory:0}),Ge=(e=64)=>G(new Uint8Array(e)),pe=e=>xn.encode(e);function Ke(e,t){let{bytes:n,at:o}=e;o+t>n.length&&
(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function O(e,t){e.at===e.bytes.length&&Ke(e,1),e.bytes[e.at++]=t}function qt(e,t){
O(e,t>>8),O(e,t)}function L(e,t){for(;t>127;t=Math.floor(t/128))O(e,t|128);O(e,t)}function ne(e,t){Ke(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function xe(e,t){
L(e,t.length),ne(e,t)}function be(e,t){let{at:n}=e,{length:o}=t,r=o>Ht?128:0;O(e,o);for(let i=0;i<o&&r<128;i++)O(e,r=t.charCodeAt(i));r>127&&(e.at=n,xe(e,pe(t)))}
function de(e,t,n){O(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,xe(e,r),r.length>0}var ze=({bytes:e,at:t})=>e.subarray(0,t),H=({bytes:e,at:t})=>e.
length-t,Ae=({bytes:e,at:t})=>e[t],z=e=>e.bytes[e.at++]??F("truncated");function ce(e,t){let n=z(e);n!==t&&F(`found byte ${n}, expected ${t}`)}function U(e,t=5){
let n=0;for(let o=1;t-- >0;o*=128){let r=z(e);if(r<128)return n+r*o;n+=(r-128)*o}return F("a number is too long")}function me(e,t=U(e)){return t>H(e)&&F("trunca\
ted"),e.bytes.subarray(e.at,e.at+=t)}var Ee=({bytes:e,at:t})=>e.slice(t);function ee(e,t=U(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Ht)for(let s;i<t&&(s=n[o+i])<128;i++)
r+=String.fromCharCode(s);if(i<t){let s=me(e,t);try{return An.decode(s)}catch{F("a text is not UTF-8")}}return e.at+=t,r}var M=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:s={},mayHaveRun:d=!0}=r??{};Object.assign(this,
{details:i,metadata:s,mayHaveRun:d,code:n})}static from(n){return n instanceof e?n:new e(2,yt(n),{cause:n})}};var yt=e=>e instanceof Error?e.message:String(e),q=(e,t)=>new M(e,t,{mayHaveRun:!1}),Ye=e=>e>0&&e<=16?e:2,_e=(e,t,n)=>new M(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),
Ue=e=>_e(1,"the caller cancelled the call",e),Je=(e,t="")=>_e(4,`deadline exceeded${t}`,e);var et=100,En=64<<20,Tn=12,gt=8,vt=56,ht=new Uint8Array(8),Wt=new DataView(ht.buffer);function ye(e,t,n){let o;return{name:e,fields:()=>o??=kn(t,n?.()??[])}}var St=(e,t)=>ke(G(t),e,0);function Ne(e,t,n){e.depth=et,Kt(e,t,n)}function ke(e,t,n){return e.depth=et,e.memory=Math.max(En,H(e)*Tn),zt(e,t,n)??Yt(e,t)}function kn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,s,d,u,m,b]=i,h=b==="m"?In(t[o++]):b==="e"?On(t[o++]):jt[b],w=jt[m[1]??""],E=w?[2,w.wire,h.wire,10]:m==="*"?[1,h.wire,10]:void 0,S=d?n.get(d):void 0;
d&&!S&&n.set(d,S=[]);let R={name:d??s,of:h,isOptional:m==="?",key:w,head:E,case:s,number:+u,all:S};return S?.push(R),R})}var He=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Kt(e,t,n){if(!e.depth--)throw Gt(t.name,`nests deeper than ${et}`);O(e,8),O(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:s}=r,d=n[o=s];if(!i)Cn(e,r,d);else if(e.isFlat||r===i[0]){let u=d,m=i.find(h=>h.case===u?.case);if(u&&!m)throw new Error(`has no member ${u.case}`);e.
isFlat||(O(e,3),L(e,m?m.number:0));let b=e.isFlat?r:m;b&&Fe(e,b.of,b===m?u?.value:void 0)}}}catch(r){throw r instanceof M?r:Gt(`${t.name}.${o}`,r.message)}e.depth++}
function Cn(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=He(t)),o){let s=n,d=n;for(let u of o)O(e,u);if(L(e,r?s.size:d.length),r)for(let[
u,m]of s)Fe(e,r,u),Fe(e,i,m);else for(let u of d)Fe(e,i,u)}else n===void 0&&t.isOptional&&!e.isFlat?O(e,0):Fe(e,i,n)}function Fe(e,t,n){t.table||O(e,t.wire),t.put(
e,n===void 0?t.zero():n)}function zt(e,t,n){if(Ae(e)===0)return void e.at++;ce(e,8),z(e),e.depth--||F(`${t.name} nests deeper than ${et}`);let o=t.fields();wt(e,
vt+gt*o.length);let r={},i="";for(let s of o){let{name:d,all:u,of:m}=s,b=u&&u[0]===s;if(b&&(r[d]=void 0),n>0&&!H(e))n--,u||(r[d]=He(s));else if(!u)r[d]=Mn(e,s);else if(b&&
Ae(e)===3){e.at++,i+=` ${d} `;let h=U(e),w=u.find(E=>E.number===h);w?r[d]={case:w.case,value:bt(e,w.of)}:h&&F(`${t.name}.${d} has no member ${h}`)}else if(!i.includes(
` ${d} `)){let h=Ze(e,m);(h instanceof Uint8Array?h.length:!Object.is(h,m.zero()))&&(r[d]={case:s.case,value:h})}}return e.depth++,r}function Mn(e,t){let{head:n,
key:o,of:r}=t;if((o||t.isOptional)&&Ae(e)===0)return e.at++,He(t);if(!n)return Ze(e,r);for(let d of n)ce(e,d);let i=U(e),s=He(t);for(;i-- >0;)wt(e,o?vt:gt),o?s.
set(Ze(e,o),bt(e,r)):s.push(bt(e,r));return s}function Ze(e,{wire:t,table:n,take:o}){return n||ce(e,t),o(e)}var bt=(e,t)=>Ze(e,t)??Yt(e,t.table);function Yt(e,t){
let n={},o=t.fields();wt(e,vt+gt*o.length);for(let r of o)n[r.name]=r.all?void 0:He(r);return n}function wt(e,t){(e.memory-=t)<0&&F("exceeds the memory limit")}
var ge=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),In=e=>ge(3,()=>{},(t,n)=>n?Kt(t,e,n):O(t,0),t=>zt(t,e,0),e);function On(e){let t=Object.values(e);return ge(
10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;Ve(r>=0||o===(o|0)&&o<0&&i>=t.length,o),L(n,r<0?i:r)},n=>{let o=U(n)>>>0,r=o-2147483648;return o>=t.length&&
(r>=0||t.includes(r))&&F(`an enum has the index ${o}`),t[o]??r})}var Qe=(e,t)=>ge(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),s=e?i<0?-2*i-1:2*i:i;if(Number.
isSafeInteger(s)&&s>=0)return L(n,s);Ve((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let d=e?r<<1n^r>>63n:r;for(;d>>53n;d>>=7n)O(n,Number(d&127n)|128);L(n,Number(
d))},n=>{let{at:o}=n,r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let s=0n;o<n.at;s+=7n)i|=BigInt(n.bytes[o++]&127)<<s;i=BigInt.
asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||F("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Xt=(e,t)=>ge(e,()=>0,(n,o)=>{
Wt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)O(n,ht[r])},n=>{for(let o=0;o<t;o++)ht[o]=z(n);return Wt[t>4?"getFloat64":"getFloat32"](0)}),jt={b:ge(
7,()=>!1,(e,t)=>O(e,+t),e=>{let t=z(e);return t>1&&F(`a bool is ${t}`),t>0}),i:ge(12,()=>0,(e,t)=>{Ve(t===(t|0),t),L(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>
1^-(t&1)}),u:ge(10,()=>0,(e,t)=>{Ve(t===t>>>0,t),L(e,t)},e=>U(e)>>>0),l:Qe(!0,!1),w:Qe(!1,!1),L:Qe(!0,!0),W:Qe(!1,!0),f:Xt(14,4),d:Xt(15,8),s:ge(5,()=>"",(e,t)=>{
Ve(typeof t=="string",t),O(e,10),be(e,t)},e=>(ce(e,10),ee(e))),y:ge(4,()=>new Uint8Array,(e,t)=>{O(e,10),xe(e,t)},e=>(ce(e,10),me(e).slice()))},Gt=(e,t)=>q(3,`${e}\
 ${t}`);function Ve(e,t){if(!e)throw new Error(`cannot be ${String(t)}`)}var At=16,Jt=65536,Qt=256,Un=61440,Nn={metadata:{}},xt=e=>e.endsWith("-bin"),Zt=(e,t)=>xt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${xt(
e)?"":t}`),Et=e=>typeof e=="string"?pe(e):e;function qe(e,{isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;de(e,At,()=>{t&&de(e,4,()=>{}),n!==void 0&&
de(e,1,()=>L(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let d=0;if(Object.entries(o).forEach(([u,m],b)=>{if(!Zt(u,m))throw q(3,`invalid\
 metadata entry: ${u}`);if(d+=u.length+m.length+8,b>=Qt||d>Un)throw q(8,"too much metadata");de(e,2,()=>{be(e,u),ne(e,Et(m))})}),r){let{code:u,details:m,mayHaveRun:b}=r;
de(e,3,()=>{L(e,u),e.at-i+m.length+32<=Jt&&ne(e,m)}),b||de(e,5,()=>{})}})||(e.at=i)}function Le(e){if(Ae(e)!==At)return Nn;e.at++;let t=G(me(e));H(t)>Jt&&F("a p\
refix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;H(t);){let i=z(t),s=G(me(t));if(i===1)o.timeout=U(s,10)/1e3;else if(i===2){let d=ee(s),u=xt(
d)?Ee(s):ee(s,H(s));(!Zt(d,u)||d in n||++r>Qt)&&F("invalid metadata"),n[d]=u}else i===3?(o.code=Ye(U(s,10)),o.details=Ee(s)):i===5&&(o.isRefused=!0)}return o}function en(e){
let t=1;for(;e[t]>127;)t++;return e[0]===At&&e[t+1]===4&&e[t+2]===0}function tt(e,{metadata:t,code:n,details:o,isRefused:r}){if(Ae(e)===6)return e.at++,ce(e,5),
ce(e,10),new M(n??2,ee(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function nt(e,t,n){qe(e,{isBackward:n,status:t,metadata:t.metadata}),ne(e,[6,5,10]),be(e,
t.message)}var rt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function ot(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw q(9,`incompatibl\
e layouts of ${e.name}`);return 1}var it=({added:e=[0,0]},t,n)=>t*e[n];function Tt(e,t){let n=r=>r.match(/../g)?.forEach(i=>O(e,parseInt(i,16)));be(e,t.name),n(
t.fingerprint),L(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,s)=>i-s))L(e,r-o),o=r}function tn(e){let t=()=>{let o="";
for(;o.length<16;)o+=z(e).toString(16).padStart(2,"0");return o},n={service:ee(e),fingerprint:t(),compatible:[],operations:[]};for(let o=U(e);o>0;o--)n.compatible.
push(t());for(let o=0;H(e);)n.operations.push(o+=U(e));return n}var kt=5<<20,Ln=1024,Rn=65536,Re=10,Ce=16384,Pn=Ce/2,Ct=256,st=262144,Dn=1e5,Bn=64<<20,$n=65536,_n=2e3,Fn=5,Vn=1e4,nn="the server is going away",Hn=2147483647,Pe=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Hn));function on(e,t,n,o,r){let i=Ge(16384),s=new Map,d=new Map,u=new Map,m=[],b=0,h=0,w=0,E=0,S=0,R=32767,B=[0,kt,1/0,Ce,0],I=!1,Y=!1,
W,K=Re,V=0,X=!1,$=0,j=!1,P=!1,Q=0,te,Z=()=>{i.at&&(j=!1,P=!0,I||fe?.send(ze(i)),i.at=$=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),(fe?.buffered()??
0)>Bn&&C("too many unsent bytes"))},c=()=>{i.at!==$?($=i.at,queueMicrotask(c)):(X=!1,Z())},a=(l,y,v,D)=>{let{at:Ie}=i;try{Ke(i,Re),i.at+=Re,v?.(i,D);let se=i.at,
Oe=se-Ie-Re,Vt=Math.max(B[1],Ln);if(Oe>Vt)throw q(8,`the message has ${Oe} bytes of at most ${Vt}`);i.at=Ie;for(let wn of[15,l,y,Oe>>>16,Oe])qt(i,wn);i.at=se}catch(se){
throw i.at=Ie,se}i.at>$n?Z():X||(X=!0,$=0,queueMicrotask(c))},f=(l,{code:y,message:v})=>a(l,7,D=>{L(D,y),ne(D,pe(v.slice(0,256)))}),p=(l,y)=>{a(l,5,L,0),f(l,y)},
g=l=>{if(!I){if(Q=0,W){if(ne(W,l),W.at<K)return;l=ze(W),W=void 0}try{let y=0,v=D=>l[y+D]<<8|l[y+D+1];for(;!I&&!(l.length<(K=y+Re));y=K){v(0)!==15&&F("a header w\
ithout its magic");let D=v(6)*65536+v(8);if(D>kt&&F(`a packet of ${D} bytes`),l.length<(K+=D))break;k(v(2),v(4),l.subarray(y+Re,K))}y<l.length&&(K-=y,ne(W=Ge(),
l.subarray(y)))}catch(y){C(`the server broke the protocol: ${y.message}`)}}},k=(l,y,v)=>{let D=G(v),Ie=s.get(l);if(y>=10)if(T.isUp||F("a packet before HELLO"),en(
v)){if(_)return _.packet(l,y,v,!1)}else{let se=m[l%Ce];if(se?.id===l&&se.operation===y)return le(l),t.answered(),se.isGivenUp?h--:t.replied(se,v),x();if(r.filter(
Oe=>Oe.packet(T,l,y,v)).length)return}else if(y<2){v.length&&F("a PING with a body"),y===1?T.isUp||C("the server is a compat peer"):j||(j=!0,a(0,1));return}else{
if(y===3&&!T.isUp)return J(D);if(y===4)return A();if(y===6)return _?.cancel(l,U(D));if(y===8)F("a stray hand-off");else{if(Ie&&y!==3&&y<8)return t.answered(),Ie.
packet(y,v);if(y===2){let se=l-R&32767;if(l>=32768&&se&&se<=16384)return R=l,_?_.packet(l,2,v,!0):p(l,q(12,"no service is served"))}}}++V>Dn&&C("too many stray \
packets")},J=l=>{for((H(l)>Rn||ee(l,4)!=="fris"||!z(l))&&F("no HELLO");H(l);){let y=z(l),v=G(me(l));if(y in B)B[y]=U(v);else if(y===32||y===33)try{let D=tn(v);(y===
32?d:u).set(D.service,D)}catch{}}B[3]=Math.min(B[3],Ce),T.isUp=!0,clearTimeout(Se),t.room(T)},le=l=>{m[l%Ce]=void 0,b--===B[3]&&t.room(T)},ue=(l,y,v)=>{s.set(y,
l),l.begin(T,y,B[4],v)},x=()=>{Y&&b===h&&!s.size&&!_?.progress.size&&queueMicrotask(()=>C(nn))},A=()=>{Y||(Y=!0,t.closing(T,nn),x())},C=l=>{I||(Z(),fe?.close(),
N(l))},N=l=>{if(I)return;I=!0,clearInterval(te),clearTimeout(Se),t.closing(T,l),T.isUp=!1;let y=new M(14,`the connection was lost: ${l}`);for(let v of m)v&&!v.isGivenUp&&
t.lost(v,y);for(let v of s.values())v.lost(y);_?.down(y);for(let v of r)v.down(T,y)},T={isUp:!1,write:a,reset:f,refuse:p,fits(l){let y=d.get(l.name);if(y)return y.
fingerprint===l.fingerprint||n.includes(l)?ot(l,y):void 0;for(let v of d.values())if(v.operations.some(D=>l.operations.includes(D)))throw q(12,`the server has ${v.
service} instead of ${l.name}`);return 0},call(l,y){if(b>=B[3])return!1;do w=w+1&65535;while(m[w%Ce]);let v=l.id=w;m[v%Ce]=l,b++;try{a(v,l.operation,y,l)}catch(D){
throw le(v),D}return!0},cancel(l){I||(l.isGivenUp=!0,a(l.id,6,L,l.operation),++h>=Pn&&A(),x())},open(l,y,v){if(!B[2])throw q(12,"the server does not accept stre\
ams");if(E>=Math.min(B[2],28672))return!1;do S=S%32767+1;while(s.has(S));return E++,ue(l,S,y),a(S,2,v),!0},accept:ue,over(l){s.delete(l),l<32768&&(E--,t.room(T)),
x()},drain:A,closeIfIdle:x},_=o?.on(T,u),Se=Pe(Vn,()=>C("handshake timeout")),$e=()=>{i.isFlat=fe?.isFlat,a(0,3,l=>{ne(l,pe("fris"));let y=_?Ct:0;[kt,y,y,st].forEach(
(v,D)=>de(l,D+1,()=>L(l,v)));for(let v of o?.services??[])de(l,32,()=>Tt(l,v));for(let v of n)de(l,33,()=>Tt(l,v))}),a(1,0),Z(),te=setInterval(()=>{if(++Q>Fn)return C(
"keepalive timeout");(Q>1||!P)&&a(0,0),P=!1;let l=performance.now();for(let y of m)y&&y.until<=l&&!y.isGivenUp&&t.expired(y)},_n)},fe,_t=l=>fe?l():queueMicrotask(
l),Ft=l=>_t(()=>N(l));try{fe=e({open:()=>_t($e),data:g,close:Ft})}catch(l){Ft(yt(l))}return T}function at(e,t){let n=[],o=!1,r=()=>{},i=u=>{o||=u,r()},s=(async function*(){try{for(;;){let u=n.shift();if(u!==void 0){let m=e(u);m!==void 0&&(yield m)}else if(o){
if(o!==!0)throw o;return}else await new Promise(m=>r=m)}}finally{t()}})(),{return:d}=s;return s.return=()=>(t(),n.length=0,i(!0),d.call(s,void 0)),{messages:s,items:n,
put:u=>{n.push(u),r()},end:i}}var Mt=64,qn=4,Wn=4096,It=(e,t)=>e instanceof we?new M(13,`not a valid ${t.name}: ${e.message}`):M.from(e);function lt(e,t,n,o,r){let i,s=0,d=0,u=0,m=0,b=0,h=!0,
w=!0,E=!1,S=!1,R=()=>{},B,I=()=>!h&&!w,{messages:Y,items:W,put:K,end:V}=at(a=>{let f=a.length+Mt;m-=f,b+=f,w&&b*qn>=st&&(i?.write(s,5,L,b),b=0);try{let p=G(a),g=Le(
p);if(p.at&&(r?.(X.metadata=g.metadata),!H(p)))return;let k=tt(p,g);if(k)throw k;return ke(p,t,d)}catch(p){throw It(p,t)}},()=>n?Q(!0):Z()),X=Object.assign(Y,{metadata:{}}),
$=()=>{I()&&(R(),B?.(),i?.over(s),i=B=void 0,o())},j=()=>{h&&(h=!1,i?.write(s,7),$())},P=a=>{h=w=!1,V(a),$()},Q=(a,f=Ue(!0))=>{I()||i?.reset(s,f),W.length=0,P(a)},
te=a=>Q(a,a),Z=()=>{W.length=0,E=!0},c=a=>{if(!i||!h)return;let f=a instanceof M;i.write(s,2,p=>{let{at:g}=p;f?nt(p,a,!1):Ne(p,e,a),u-=p.at-g+Mt}),f&&j()};return{
messages:X,begin(a,f,p,g){i=a,s=f,u=p,d=g},packet(a,f){if(a===2)return!w||E?void 0:m+b>=st?te(new M(8,"the peer exceeded its credit")):(m+=f.length+Mt,K(new Uint8Array(
f)));let p=G(f);if(a===5){let g=U(p,10);S||=!g,(u+=g)>0&&R()}else if(f.length){let g=Ye(U(p));P(new M(g,new TextDecoder().decode(Ee(p).subarray(0,Wn)),{mayHaveRun:!S}))}else
w=!1,V(!0),$()},send:c,async pump(a){try{let f=Symbol.asyncIterator in a?a[Symbol.asyncIterator]():a[Symbol.iterator]();for(B=async()=>{try{await f.return?.()}catch{}};;){
for(;u<=0&&!I();)await new Promise(k=>R=k);if(I())return;let{done:p,value:g}=await f.next();if(I())return;if(p)break;c(g)}B=void 0,j()}catch(f){let p=M.from(f);
n?Q(p):c(p)}},finish:j,discard:Z,fail:te,lost:P}}var Xn=3e4,jn=5e3,Gn=20,sn=2e3,an=10,dt=class{constructor(t,{timeout:n,patience:o=jn,metadata:r,serve:i,stayConnected:s}={}){let d,u=0,m=an,b=0,h,w=!1,E="",S=new Set,
R=new Set,B=[],I=()=>{d||h||w||!(S.size||s)||(b=performance.now(),d=on(t,Y,[...R],i,B))},Y={room:c=>queueMicrotask(()=>{for(let a of S){if(d!==c||!W(a,c))return;
S.delete(a)}}),closing(c,a){d===c&&(d=void 0,c.isUp&&performance.now()-b>=sn?u=0:(E=a,clearTimeout(h),h=Pe(Math.random()*Math.min(Gn*2**Math.min(u++,16),sn),()=>{
h=void 0,I()})),I())},answered:()=>void(u=0),replied(c,a){let f=c,{method:{reply:p},options:{onMetadata:g}}=f;X(f);try{let k=G(a),J=Le(k),le=tt(k,J);if(le)throw le;
k.at&&g?.(J.metadata),f.resolve(ke(k,p,f.missing)),m<an&&(m+=.1)}catch(k){f.reject(It(k,p))}},expired:c=>V(c),lost(c,a){let f=c;if(f.link=void 0,!f.method.idempotent||
m<1)return $(f,a);m--,K(f)}},W=(c,a)=>{let{service:f,method:p}=c;try{let g=f?a.fits(f):0;return g!==void 0?(c.missing=it(p,g,1),c.start(c,a)&&(c.isSent=!0)):(R.
add(f),u=0,a.drain(),!1)}catch(g){return $(c,M.from(g)),!0}},K=c=>{if(!(d?.isUp&&W(c,d))){if(w)return $(c,ln());c.patientUntil=performance.now()+o,S.add(c),V(c),
I()}},V=c=>{let{until:a,isSent:f,patientUntil:p}=c,g=performance.now(),k=S.has(c)&&!d?.isUp&&`no connection to the server${E&&`: ${E}`}`;clearTimeout(c.timer),g>=
a?$(c,Je(f,k?`; ${k}`:"")):g>=p&&k?$(c,_e(14,k,f)):c.timer=Pe((g<p?Math.min(a,p):a)-g,()=>V(c))},X=c=>{S.delete(c),clearTimeout(c.timer),c.options.signal?.removeEventListener(
"abort",c.abort)},$=(c,a)=>{X(c),c.link?.cancel(c),c.reject(a)},j=(c,{sentTimeout:a,until:f,options:{metadata:p}})=>{(a!==void 0||r||p)&&qe(c,{timeout:a&&f-performance.
now(),metadata:{...r,...p}})},P=(c,a)=>{j(c,a),Ne(c,a.method.request,a.request)},Q=(c,a)=>{let f=a.call(c,P);return f&&(c.link=a),f},te=(c,a,f,p,g,k,J,le,ue=1/0)=>{
let{signal:x}=p,A={id:0,operation:a.operation,until:performance.now()+(g??ue),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:c,
method:a,request:f,options:p,sentTimeout:g,start:k,resolve:J,reject:le,abort:x&&(()=>$(A,Ue(A.isSent)))};return x?.aborted?A.abort?.():(x?.addEventListener("abo\
rt",A.abort),g!==void 0&&V(A),(g===void 0||g>0)&&K(A)),A},Z=(c,a,f,p={})=>{let g,k=lt(a.request,a.reply,!0,()=>g&&X(g),p.onMetadata);return g=te(c,a,f,p,p.timeout,
(J,le)=>{let ue=le.open(k,J.missing,x=>{j(x,J),O(x,9),L(x,J.operation)});return ue&&k.pump(f),ue},()=>{},k.fail),k};this.unary=(c,a,f,p={})=>new Promise((g,k)=>void te(
c,a,f,p,p.timeout??n,Q,g,k,Xn)),this.serverStreaming=(c,a,f,p)=>Z(c,a,[f],p).messages,this.twoWay=(c,a,f,p)=>Z(c,a,f,p).messages,this.clientStreaming=async(c,a,f,p)=>{
let{messages:g}=Z(c,a,f,p),{done:k,value:J}=await g.next();if(k)throw new M(13,"there is no reply");return g.return?.(),J},this.name=c=>void R.add(c),this.mount=
c=>void B.push(c),this.connected=()=>new Promise((c,a)=>{te(void 0,{},void 0,{},void 0,(f,p)=>(X(f),c(p),!0),c,a)}),this.close=()=>{w=!0,clearTimeout(h);for(let c of S)
$(c,ln());d?.drain()},s&&queueMicrotask(I)}},ln=()=>_e(9,"the channel is closed",!1);async function ct(e){let t;do t=await e.connected();while(!t.isUp);return t}function Ot(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(s,d)=>t[r]?.(s,d)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let s=new Map,d=(u,m)=>{let b=o.get(u);if(!b||!(b.method.sends||b.method.receives)===m)throw q(12,`unknown ope\
ration ${u}`);if(s.size>=Ct)throw q(8,"too many calls are in progress");let{service:h,method:w}=b,E=i.get(h.name);return{...b,left:it(w,E?ot(h,E):0,0)}};return{
progress:s,packet(u,m,b,h){let w,E=S=>r.write(u,m,R=>{S instanceof M?nt(R,S,!0):(qe(R,{isBackward:!0}),Ne(R,w.reply,S))});try{let S=G(b),{timeout:R,metadata:B}=Le(
S);h&&(ce(S,9),m=U(S,3));let I=d(m,h);({method:w}=I);let Y=h||ke(S,w.request,I.left),W=h?u+65536:u,K=new AbortController,V=P=>{clearTimeout(j),P||K.abort(),s.delete(
W),r.closeIfIdle()},X=h?lt(w.reply,w.request,!1,()=>V(!1)):{send(P){s.has(W)&&(E(P),V(!0))},fail:E,finish(){},discard(){}},$=P=>{X.fail(P),V(!1)},j=R===void 0?void 0:
Pe(R,()=>$(Je(!0)));s.set(W,{operation:m,stop:$}),h&&r.accept(X,u,I.left),Kn(I,h,Y,X,{signal:K.signal,metadata:B})}catch(S){let R=S instanceof we?q(3,`malformed\
 request: ${S.message}`):M.from(S);h?r.refuse(u,R):E(R)}},cancel(u,m){let b=s.get(u);b?.operation===m&&b.stop(Ue(!0))},down(u){for(let m of s.values())m.stop(u)}}}}}
async function Kn({method:e,handler:t},n,o,r,i){try{if(e.sends)o=r.messages;else if(n){let d=await r.messages.next();if(d.done)throw q(3,"no request");o=d.value}
let s=t(o,i);e.receives?await r.pump?.(s):(r.send(await s),r.finish())}catch(s){r.send(M.from(s))}r.discard()}var We=65280,zn=16<<20,Ut=64,Yn=65536,Jn=4,ut={now:0,last:1,oldest:2},Xe=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this;
t.mount({packet(o,r,i,s){if(i<We)return!1;for(let[d,u]of n)(!r||r===d)&&u.packet(o,r,i-We,G(s));return!0},down(o,r){for(let i of[...n.values()])i.down(o,r)}})}subscribe(t,{
group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){(await ct(this.channel)).write(0,We+2,o=>{xe(o,pe(t)),ne(o,Et(n))})}async sync(){await(await this.
request(3)).return?.()}async request(t,n,o="",r){let{requests:i}=this,s=await ct(this.channel);do this.last=this.last%65535+1;while(i.has(this.last));let d=this.
last;return new Promise((u,m)=>{let b=0,h=0,w=!1,{items:E,messages:S,put:R,end:B}=at(x=>(b-=x.payload.length+Ut,x),()=>{i.delete(d)&&n!==void 0&&s.isUp&&s.write(
d,We+1)}),I=x=>{i.delete(d),m(x),B(x)},Y=o?[]:n?.split(".")??[],W=Y[Y.length-1]===">",K=x=>{let A=x.split(".");return(W?A.length>=Y.length:A.length===Y.length)&&
Y.every((C,N)=>C===">"||C==="*"||C===A[N])},V=t===0&&!o&&r!==void 0,X=typeof r=="object",$=X||r===void 0?ut.oldest:ut[r],j=new Map(X?[[n,{...r,offset:r.offset+1}]]:
[]),P=new Map,Q=0,te="",Z=!1,c=!1,a=!1,f=!1,p=!1,g=x=>{s.write(d,We+x,A=>{if(n!==void 0&&xe(A,pe(n)),x===6){O(A,$);for(let[C,N]of j){be(A,C);for(let T=0;T<16;T+=
2)O(A,parseInt(N.epoch.slice(T,T+2),16));L(A,N.offset)}}else ne(A,pe(o))})},k=()=>{p=!0,c&&(a||!(V&&f))&&(w=!0),u(S)},J=x=>Array.from(me(x,8),A=>A.toString(16).
padStart(2,"0")).join(""),le=(x,A,C)=>{if(A===5&&x&&!p&&V&&C.bytes[C.at]===Jn)a=!0,g(0);else if(A===6&&x&&C.bytes[C.at]===0){z(C),f=z(C)===1;let N=J(C);Q=U(C,10);
let T=te!==""&&te!==N,_=!n?.match(/[*>]/)&&j.size>0;te=N,k(),a=!1,w||=_?!Q:T}else if(A===7)for(;H(C);){let N=ee(C),T={epoch:J(C),offset:U(C,10)};if(!p||!x&&!K(N))
continue;let _=P.get(N);x&&!_?(Q--,_=j.get(N)??(Z?{...T,offset:1}:void 0)):!x&&_?.epoch!==T.epoch&&(_=void 0),_&&f&&(_.epoch===T.epoch&&_.offset<=T.offset?h+=T.
offset-_.offset:w=!0),P.size>=Yn&&(P.clear(),a=!0),P.set(N,T)}else return!1;return!0},ue=async()=>{try{let x=await ct(this.channel);if(!i.has(d))return;s=x,g(V?
6:0)}catch(x){let A=M.from(x);if(A.code===14&&i.has(d))return ue();I(A)}};i.set(d,{packet(x,A,C,N){if(!(x!==s||V&&le(A,C,N)))if(C===2){let T=ee(N);if(!A&&(!p||!K(
T)))return;let _=Ee(N),Se=P.get(T);for(Se&&P.set(T,{...Se,offset:Se.offset+1}),b+=_.length+Ut;b>zn&&E.length;){let $e=E.shift();b-=$e.payload.length+Ut;let fe=E[0];
h+=$e.lagged+1,w||=$e.reconnected,fe&&(fe.lagged+=h,fe.reconnected||=w,h=0,w=!1)}R({topic:T,payload:_,position:Se,lagged:h,reconnected:w}),h=0,w=!1}else C===4?V&&
f&&p||(h+=U(N,10)):A&&(H(N)?I(q([8,12,7][z(N)-3]??3,ee(N,H(N)))):k())},down(x,A){if(x===s){if(n===void 0||!p&&!c)return I(A);if(p)if(Q>0)for(let[C,N]of P)j.set(
C,N);else j=a?new Map:P,$=a?ut.now:ut.oldest,Z=!a;P=new Map,p=!1,c=!0,ue()}}}),g(V?6:t)})}};var Nt="frisbee.1";function dn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[Nt,...t]);return r.binaryType="arraybuffer",r.onopen=()=>{r.protocol===Nt?o.open():r.close()},
r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.onclose=({code:i,reason:s})=>{o.close(`the WebSocket w\
as closed (${i}${s&&`, ${s}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Lt=(e,t={})=>new dt(dn(e,t),t);var ae={BUY:0,SELL:1},Rt=ye("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[cn,cn,Zn]),Zn=ye("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ae]),un=ye("exchange.Inquiry","side:e amount:u",()=>[ae]),cn=ye("exchange.Level","price:u amount:u"),er=ye("exchange.Nothing",""),fn=ye("exchange.Offer",
"price:u called:u answered:u"),tr=ye("exchange.Order","number:u side:e price:u amount:u",()=>[ae]),nr=ye("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ae]),Me=rt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:er,reply:Rt},trade:{operation:11,request:tr,reply:nr,sends:!0,receives:!0},
inquire:{operation:12,request:un,reply:fn}}),ft=class{constructor(t){this.channel=t,t.name(Me)}look(t,n){return this.channel.unary(Me,Me.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Me,Me.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Me,Me.methods.inquire,t,n)}},pn=rt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:un,reply:fn}});var Dt=240,gn=8,ie=e=>document.getElementById(e),oe=(e,t)=>void(ie(e).textContent=t),he=e=>(e/100).toFixed(2),pt=e=>e===ae.BUY?"buy":"sell";function re(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function rr(e,t){let n=ie(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>gn;)n.lastElementChild?.remove()}var je=new Map,mn=0,yn=0,vn=()=>{},Bt=[];async function*or(){for(;;){let e=Bt.shift();
e?yield e:await new Promise(t=>vn=t)}}function ir({number:e,amount:t,price:n,left:o}){let r=je.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===ae.BUY?
1:-1;mn+=i*t,yn-=i*t*n,oe("held",String(mn)),oe("cash",he(yn));let s=[...je.values()].reverse().slice(0,gn).map(({order:d,done:u,left:m})=>re("tr",[re("td",`${pt(
d.side)} ${d.amount}`,pt(d.side)),re("td",he(d.price)),re("td",String(u)),re("td",String(m))]));ie("orders").replaceChildren(...s)}ie("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ae.SELL:ae.BUY,o={number:je.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};je.set(o.number,{order:o,done:0,left:o.amount}),Bt.push(o),vn()});var Be=0,Pt=0,De,ve=[];function hn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));ie(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,re("li",[i,re("span",he(o)),re("span",String(r))])}))}function sr(e){for(let{number:o,price:r}of[...e].reverse())o>Pt&&ve.push(r);ve.splice(0,ve.length-Dt);let[
t]=e;if(!t||t.number===Pt)return;Pt=t.number;let n=t.price-Be;Be&&n&&(oe("change",`${n>0?"▲":"▼"} ${he(Math.abs(n))}`),ie("change").dataset.side=n>0?"buy":"\
sell"),Be=t.price,oe("last",he(Be)),ie("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>re("li",[re("span",o===ae.BUY?"bought":"sold",pt(o)),re("s\
pan",he(r)),re("span",String(i))]))),$t()}function bn({bids:e,asks:t,deals:n,traders:o,orders:r}){hn("asks",t),hn("bids",e),t[0]&&e[0]&&oe("spread",`${he(t[0].price-
e[0].price)} apart`),oe("traders",String(o));let i=performance.now();(!De||i-De.at>1e3)&&(De&&oe("rate",((r-De.orders)/((i-De.at)/1e3)).toFixed(0)),De={orders:r,
at:i}),sr(n)}function $t(){let e=ie("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||ve.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),s=ie("state"),d=Math.min(...ve)-2,u=Math.max(...ve)+2,m=n-56,b=E=>E/(Dt-1)*m,h=E=>(u-E)/(u-d)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(s).color,t.lineWidth=.5;for(let E=0;E<5;E++){let S=d+(u-d)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,h(S)),t.lineTo(m,h(S)),t.stroke(),t.globalAlpha=1,t.fillText(he(S),m+8,h(S)+4)}let w=Dt-ve.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ve.
forEach((E,S)=>t.lineTo(b(w+S),h(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(b(w),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",$t);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",$t);var ar=Ot(pn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(ie("margin").value)*100),o=Be&&Be+
(e===ae.BUY?n:-n);return rr("asked",re("li",`${pt(e)} ${t}? You said ${he(o)}.`)),{price:o}}}),{hostname:lr}=location,Sn=Lt(`ws://${lr}:${document.documentElement.
dataset.port}/`,{serve:ar,stayConnected:!0}),mt=new ft(Sn),dr=new Xe(Sn);ie("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await mt.inquire({side:ae.BUY,amount:10}),s=(performance.now()-n).toFixed(0);oe(
"offer",o?`${he(o)} is the best of ${i} of ${r}, after ${s} ms.`:`None of ${r} had a price.`)}catch(n){oe("offer",M.from(n).message)}t.disabled=!1});async function cr(){
for(;;){try{let e=await dr.subscribe("exchange.book"),t=mt.trade(or()),n=(async()=>{for await(let r of t)ir(r)})();ie("state").dataset.is="open",oe("state","con\
nected"),bn(await mt.look({}));let o=(async()=>{for await(let{payload:r}of e)bn(St(Rt,r))})();await Promise.race([n,o])}catch(e){ie("state").dataset.is="failed",
oe("state",M.from(e).message)}Bt.length=0;for(let e of je.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}cr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await mt.look({},{timeout:5e3}),oe("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{oe("ping","–")}},2e3);
