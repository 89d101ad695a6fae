var An=new TextEncoder,En=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),qt=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
F=e=>{throw new Se(e)},G=e=>({bytes:e,at:0,depth:0,memory:0}),Ke=(e=64)=>G(new Uint8Array(e)),pe=e=>An.encode(e);function ze(e,t){let{bytes:n,at:o}=e;o+t>n.length&&
(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function U(e,t){e.at===e.bytes.length&&ze(e,1),e.bytes[e.at++]=t}function Wt(e,t){
U(e,t>>8),U(e,t)}function L(e,t){for(;t>127;t=Math.floor(t/128))U(e,t|128);U(e,t)}function re(e,t){ze(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function we(e,t){
L(e,t.length),re(e,t)}function be(e,t){let{at:n}=e,{length:o}=t,r=o>qt?128:0;U(e,o);for(let i=0;i<o&&r<128;i++)U(e,r=t.charCodeAt(i));r>127&&(e.at=n,we(e,pe(t)))}
function de(e,t,n){U(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,we(e,r),r.length>0}var Ye=({bytes:e,at:t})=>e.subarray(0,t),H=({bytes:e,at:t})=>e.
length-t,xe=({bytes:e,at:t})=>e[t],z=e=>e.bytes[e.at++]??F("truncated");function ce(e,t){let n=z(e);n!==t&&F(`found byte ${n}, expected ${t}`)}function N(e,t=5){
let n=0;for(let o=1;t-- >0;o*=128){let r=z(e);if(r<128)return n+r*o;n+=(r-128)*o}return F("a number is too long")}function me(e,t=N(e)){return t>H(e)&&F("trunca\
ted"),e.bytes.subarray(e.at,e.at+=t)}var Ae=({bytes:e,at:t})=>e.slice(t);function Z(e,t=N(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=qt)for(let s;i<t&&(s=n[o+i])<128;i++)
r+=String.fromCharCode(s);if(i<t){let s=me(e,t);try{return En.decode(s)}catch{F("a text is not UTF-8")}}return e.at+=t,r}var C=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:s={},mayHaveRun:d=!0}=r??{};Object.assign(this,
{details:i,metadata:s,mayHaveRun:d,code:n})}static from(n){return n instanceof e?n:new e(2,Je(n),{cause:n})}};var Je=e=>e instanceof Error?e.message:String(e),q=(e,t)=>new C(e,t,{mayHaveRun:!1}),Qe=e=>e>0&&e<=16?e:2,Fe=(e,t,n)=>new C(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),
Ne=e=>Fe(1,"the caller cancelled the call",e),Ze=(e,t="")=>Fe(4,`deadline exceeded${t}`,e);var nt=100,Tn=64<<20,kn=12,vt=8,St=56,bt=new Uint8Array(8),Xt=new DataView(bt.buffer);function ye(e,t,n){let o;return{name:e,fields:()=>o??=Cn(t,n?.()??[])}}var wt=(e,t)=>Te(G(t),e,0);function Le(e,t,n){e.depth=nt,zt(e,t,n)}function Te(e,t,n){return e.depth=nt,e.memory=Math.max(Tn,H(e)*kn),Yt(e,t,n)??Jt(e,t)}function Cn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,s,d,f,y,b]=i,h=b==="m"?On(t[o++]):b==="e"?Un(t[o++]):Gt[b],w=Gt[y[1]??""],E=w?[2,w.wire,h.wire,10]:y==="*"?[1,h.wire,10]:void 0,S=d?n.get(d):void 0;
d&&!S&&n.set(d,S=[]);let R={name:d??s,of:h,isOptional:y==="?",key:w,head:E,case:s,number:+f,all:S};return S?.push(R),R})}var qe=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function zt(e,t,n){if(!e.depth--)throw Kt(t.name,`nests deeper than ${nt}`);U(e,8),U(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:s}=r,d=n[o=s];if(!i)Mn(e,r,d);else if(e.isFlat||r===i[0]){let f=d,y=i.find(h=>h.case===f?.case);if(f&&!y)throw new Error(`has no member ${f.case}`);e.
isFlat||(U(e,3),L(e,y?y.number:0));let b=e.isFlat?r:y;b&&Ve(e,b.of,b===y?f?.value:void 0)}}}catch(r){throw r instanceof C?r:Kt(`${t.name}.${o}`,r.message)}e.depth++}
function Mn(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=qe(t)),o){let s=n,d=n;for(let f of o)U(e,f);if(L(e,r?s.size:d.length),r)for(let[
f,y]of s)Ve(e,r,f),Ve(e,i,y);else for(let f of d)Ve(e,i,f)}else n===void 0&&t.isOptional&&!e.isFlat?U(e,0):Ve(e,i,n)}function Ve(e,t,n){t.table||U(e,t.wire),t.put(
e,n===void 0?t.zero():n)}function Yt(e,t,n){if(xe(e)===0)return void e.at++;ce(e,8),z(e),e.depth--||F(`${t.name} nests deeper than ${nt}`);let o=t.fields();xt(e,
St+vt*o.length);let r={},i="";for(let s of o){let{name:d,all:f,of:y}=s,b=f&&f[0]===s;if(b&&(r[d]=void 0),n>0&&!H(e))n--,f||(r[d]=qe(s));else if(!f)r[d]=In(e,s);else if(b&&
xe(e)===3){e.at++,i+=` ${d} `;let h=N(e),w=f.find(E=>E.number===h);w?r[d]={case:w.case,value:gt(e,w.of)}:h&&F(`${t.name}.${d} has no member ${h}`)}else if(!i.includes(
` ${d} `)){let h=tt(e,y);(h instanceof Uint8Array?h.length:!Object.is(h,y.zero()))&&(r[d]={case:s.case,value:h})}}return e.depth++,r}function In(e,t){let{head:n,
key:o,of:r}=t;if((o||t.isOptional)&&xe(e)===0)return e.at++,qe(t);if(!n)return tt(e,r);for(let d of n)ce(e,d);let i=N(e),s=qe(t);for(;i-- >0;)xt(e,o?St:vt),o?s.
set(tt(e,o),gt(e,r)):s.push(gt(e,r));return s}function tt(e,{wire:t,table:n,take:o}){return n||ce(e,t),o(e)}var gt=(e,t)=>tt(e,t)??Jt(e,t.table);function Jt(e,t){
let n={},o=t.fields();xt(e,St+vt*o.length);for(let r of o)n[r.name]=r.all?void 0:qe(r);return n}function xt(e,t){(e.memory-=t)<0&&F("exceeds the memory limit")}
var ge=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),On=e=>ge(3,()=>{},(t,n)=>n?zt(t,e,n):U(t,0),t=>Yt(t,e,0),e);function Un(e){let t=Object.values(e);return ge(
10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;He(r>=0||o===(o|0)&&o<0&&i>=t.length,o),L(n,r<0?i:r)},n=>{let o=N(n)>>>0,r=o-2147483648;return o>=t.length&&
(r>=0||t.includes(r))&&F(`an enum has the index ${o}`),t[o]??r})}var et=(e,t)=>ge(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),s=e?i<0?-2*i-1:2*i:i;if(Number.
isSafeInteger(s)&&s>=0)return L(n,s);He((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let d=e?r<<1n^r>>63n:r;for(;d>>53n;d>>=7n)U(n,Number(d&127n)|128);L(n,Number(
d))},n=>{let{at:o}=n,r=N(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let s=0n;o<n.at;s+=7n)i|=BigInt(n.bytes[o++]&127)<<s;i=BigInt.
asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||F("an integer is beyond 2^53"),Number(r)):BigInt(r)}),jt=(e,t)=>ge(e,()=>0,(n,o)=>{
Xt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)U(n,bt[r])},n=>{for(let o=0;o<t;o++)bt[o]=z(n);return Xt[t>4?"getFloat64":"getFloat32"](0)}),Gt={b:ge(
7,()=>!1,(e,t)=>U(e,+t),e=>{let t=z(e);return t>1&&F(`a bool is ${t}`),t>0}),i:ge(12,()=>0,(e,t)=>{He(t===(t|0),t),L(e,(t<<1^t>>31)>>>0)},e=>{let t=N(e);return t>>>
1^-(t&1)}),u:ge(10,()=>0,(e,t)=>{He(t===t>>>0,t),L(e,t)},e=>N(e)>>>0),l:et(!0,!1),w:et(!1,!1),L:et(!0,!0),W:et(!1,!0),f:jt(14,4),d:jt(15,8),s:ge(5,()=>"",(e,t)=>{
He(typeof t=="string",t),U(e,10),be(e,t)},e=>(ce(e,10),Z(e))),y:ge(4,()=>new Uint8Array,(e,t)=>{U(e,10),we(e,t)},e=>(ce(e,10),me(e).slice()))},Kt=(e,t)=>q(3,`${e}\
 ${t}`);function He(e,t){if(!e)throw new Error(`cannot be ${String(t)}`)}var Et=16,Qt=65536,Zt=256,Nn=61440,Ln={metadata:{}},At=e=>e.endsWith("-bin"),en=(e,t)=>At(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${At(
e)?"":t}`),Tt=e=>typeof e=="string"?pe(e):e;function We(e,{isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;de(e,Et,()=>{t&&de(e,4,()=>{}),n!==void 0&&
de(e,1,()=>L(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let d=0;if(Object.entries(o).forEach(([f,y],b)=>{if(!en(f,y))throw q(3,`invalid\
 metadata entry: ${f}`);if(d+=f.length+y.length+8,b>=Zt||d>Nn)throw q(8,"too much metadata");de(e,2,()=>{be(e,f),re(e,Tt(y))})}),r){let{code:f,details:y,mayHaveRun:b}=r;
de(e,3,()=>{L(e,f),e.at-i+y.length+32<=Qt&&re(e,y)}),b||de(e,5,()=>{})}})||(e.at=i)}function Re(e){if(xe(e)!==Et)return Ln;e.at++;let t=G(me(e));H(t)>Qt&&F("a p\
refix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;H(t);){let i=z(t),s=G(me(t));if(i===1)o.timeout=N(s,10)/1e3;else if(i===2){let d=Z(s),f=At(
d)?Ae(s):Z(s,H(s));(!en(d,f)||d in n||++r>Zt)&&F("invalid metadata"),n[d]=f}else i===3?(o.code=Qe(N(s,10)),o.details=Ae(s)):i===5&&(o.isRefused=!0)}return o}function tn(e){
let t=1;for(;e[t]>127;)t++;return e[0]===Et&&e[t+1]===4&&e[t+2]===0}function rt(e,{metadata:t,code:n,details:o,isRefused:r}){if(xe(e)===6)return e.at++,ce(e,5),
ce(e,10),new C(n??2,Z(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function ot(e,t,n){We(e,{isBackward:n,status:t,metadata:t.metadata}),re(e,[6,5,10]),be(e,
t.message)}var it=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function st(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw q(9,`incompatibl\
e layouts of ${e.name}`);return 1}var at=({added:e=[0,0]},t,n)=>t*e[n];function kt(e,t){let n=r=>r.match(/../g)?.forEach(i=>U(e,parseInt(i,16)));be(e,t.name),n(
t.fingerprint),L(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,s)=>i-s))L(e,r-o),o=r}function nn(e){let t=()=>{let o="";
for(;o.length<16;)o+=z(e).toString(16).padStart(2,"0");return o},n={service:Z(e),fingerprint:t(),compatible:[],operations:[]};for(let o=N(e);o>0;o--)n.compatible.
push(t());for(let o=0;H(e);)n.operations.push(o+=N(e));return n}var Ct=5<<20,Rn=1024,Pn=65536,Pe=10,ke=16384,Dn=ke/2,Mt=256,lt=262144,Bn=1e5,$n=64<<20,_n=65536,Fn=2e3,Vn=5,Hn=1e4,rn="the server is going away",qn=2147483647,De=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),qn));function sn(e,t,n,o,r){let i=Ke(16384),s=new Map,d=new Map,f=new Map,y=[],b=0,h=0,w=0,E=0,S=0,R=32767,B=[0,Ct,1/0,ke,0],I=!1,Y=!1,
W,K=Pe,V=0,X=!1,$=0,j=!1,P=!1,Q=0,ee,te=a=>{if(!(I||!Ie))try{a(Ie)}catch(m){_(Je(m));try{Ie.close()}catch{}}},l=()=>{i.at&&(j=!1,P=!0,te(a=>a.send(Ye(i))),i.at=
$=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),te(a=>{a.buffered()>$n&&k("too many unsent bytes")}))},c=()=>{i.at!==$?($=i.at,queueMicrotask(c)):(X=!1,
l())},u=(a,m,v,D)=>{let{at:Oe}=i;try{ze(i,Pe),i.at+=Pe,v?.(i,D);let ae=i.at,Ue=ae-Oe-Pe,Ht=Math.max(B[1],Rn);if(Ue>Ht)throw q(8,`the message has ${Ue} bytes of \
at most ${Ht}`);i.at=Oe;for(let xn of[15,a,m,Ue>>>16,Ue])Wt(i,xn);i.at=ae}catch(ae){throw i.at=Oe,ae}i.at>_n?l():X||(X=!0,$=0,queueMicrotask(c))},p=(a,{code:m,message:v})=>u(
a,7,D=>{L(D,m),re(D,pe(v.slice(0,256)))}),g=(a,m)=>{u(a,5,L,0),p(a,m)},T=a=>{if(!I){if(Q=0,W){if(re(W,a),W.at<K)return;a=Ye(W),W=void 0}try{let m=0,v=D=>a[m+D]<<
8|a[m+D+1];for(;!I&&!(a.length<(K=m+Pe));m=K){v(0)!==15&&F("a header without its magic");let D=v(6)*65536+v(8);if(D>Ct&&F(`a packet of ${D} bytes`),a.length<(K+=
D))break;J(v(2),v(4),a.subarray(m+Pe,K))}m<a.length&&(K-=m,re(W=Ke(),a.subarray(m)))}catch(m){k(`the server broke the protocol: ${m.message}`)}}},J=(a,m,v)=>{let D=G(
v),Oe=s.get(a);if(m>=10)if(M.isUp||F("a packet before HELLO"),tn(v)){if(ne)return ne.packet(a,m,v,!1)}else{let ae=y[a%ke];if(ae?.id===a&&ae.operation===m)return fe(
a),t.answered(),ae.isGivenUp?h--:t.replied(ae,v),x();if(r.filter(Ue=>Ue.packet(M,a,m,v)).length)return}else if(m<2){v.length&&F("a PING with a body"),m===1?M.isUp||
k("the server is a compat peer"):j||(j=!0,u(0,1));return}else{if(m===3&&!M.isUp)return ue(D);if(m===4)return O();if(m===6)return ne?.cancel(a,N(D));if(m===8)F("\
a stray hand-off");else{if(Oe&&m!==3&&m<8)return t.answered(),Oe.packet(m,v);if(m===2){let ae=a-R&32767;if(a>=32768&&ae&&ae<=16384)return R=a,ne?ne.packet(a,2,v,
!0):g(a,q(12,"no service is served"))}}}++V>Bn&&k("too many stray packets")},ue=a=>{for((H(a)>Pn||Z(a,4)!=="fris"||!z(a))&&F("no HELLO");H(a);){let m=z(a),v=G(me(
a));if(m in B)B[m]=N(v);else if(m===32||m===33)try{let D=nn(v);(m===32?d:f).set(D.service,D)}catch{}}B[3]=Math.min(B[3],ke),M.isUp=!0,clearTimeout(Me),t.room(M)},
fe=a=>{y[a%ke]=void 0,b--===B[3]&&t.room(M)},A=(a,m,v)=>{s.set(m,a),a.begin(M,m,B[4],v)},x=()=>{Y&&b===h&&!s.size&&!ne?.progress.size&&queueMicrotask(()=>k(rn))},
O=()=>{Y||(Y=!0,t.closing(M,rn),x())},k=a=>{I||(l(),te(m=>m.close()),_(a))},_=a=>{if(I)return;I=!0,clearInterval(ee),clearTimeout(Me),t.closing(M,a),M.isUp=!1;let m=new C(
14,`the connection was lost: ${a}`);for(let v of y)v&&!v.isGivenUp&&t.lost(v,m);for(let v of s.values())v.lost(m);ne?.down(m);for(let v of r)v.down(M,m)},M={isUp:!1,
write:u,reset:p,refuse:g,fits(a){let m=d.get(a.name);if(m)return m.fingerprint===a.fingerprint||n.includes(a)?st(a,m):void 0;for(let v of d.values())if(v.operations.
some(D=>a.operations.includes(D)))throw q(12,`the server has ${v.service} instead of ${a.name}`);return 0},call(a,m){if(b>=B[3])return!1;do w=w+1&65535;while(y[w%
ke]);let v=a.id=w;y[v%ke]=a,b++;try{u(v,a.operation,m,a)}catch(D){throw fe(v),D}return!0},cancel(a){I||(a.isGivenUp=!0,u(a.id,6,L,a.operation),++h>=Dn&&O(),x())},
open(a,m,v){if(!B[2])throw q(12,"the server does not accept streams");if(E>=Math.min(B[2],28672))return!1;do S=S%32767+1;while(s.has(S));return E++,A(a,S,m),u(S,
2,v),!0},accept:A,over(a){s.delete(a),a<32768&&(E--,t.room(M)),x()},drain:O,closeIfIdle:x},ne=o?.on(M,f),Me=De(Hn,()=>k("handshake timeout")),_e=()=>{i.isFlat=Ie?.
isFlat,u(0,3,a=>{re(a,pe("fris"));let m=ne?Mt:0;[Ct,m,m,lt].forEach((v,D)=>de(a,D+1,()=>L(a,v)));for(let v of o?.services??[])de(a,32,()=>kt(a,v));for(let v of n)
de(a,33,()=>kt(a,v))}),u(1,0),l(),!I&&(ee=setInterval(()=>{if(++Q>Vn)return k("keepalive timeout");(Q>1||!P)&&u(0,0),P=!1;let a=performance.now();for(let m of y)
m&&m.until<=a&&!m.isGivenUp&&t.expired(m)},Fn))},Ie,Ft=a=>Ie?a():queueMicrotask(a),Vt=a=>Ft(()=>_(a));try{Ie=e({open:()=>Ft(_e),data:T,close:Vt})}catch(a){Vt(Je(
a))}return M}function dt(e,t){let n=[],o=!1,r=()=>{},i=f=>{o||=f,r()},s=(async function*(){try{for(;;){let f=n.shift();if(f!==void 0){let y=e(f);y!==void 0&&(yield y)}else if(o){
if(o!==!0)throw o;return}else await new Promise(y=>r=y)}}finally{t()}})(),{return:d}=s;return s.return=()=>(t(),n.length=0,i(!0),d.call(s,void 0)),{messages:s,items:n,
put:f=>{n.push(f),r()},end:i}}var It=64,Wn=4,Xn=4096,Ot=(e,t)=>e instanceof Se?new C(13,`not a valid ${t.name}: ${e.message}`):C.from(e);function ct(e,t,n,o,r){let i,s=0,d=0,f=0,y=0,b=0,h=!0,
w=!0,E=!1,S=!1,R=()=>{},B,I=()=>!h&&!w,{messages:Y,items:W,put:K,end:V}=dt(c=>{let u=c.length+It;y-=u,b+=u,w&&b*Wn>=lt&&(i?.write(s,5,L,b),b=0);try{let p=G(c),g=Re(
p);if(p.at&&(r?.(X.metadata=g.metadata),!H(p)))return;let T=rt(p,g);if(T)throw T;return Te(p,t,d)}catch(p){throw Ot(p,t)}},()=>n?Q(!0):te()),X=Object.assign(Y,{
metadata:{}}),$=()=>{I()&&(R(),B?.(),i?.over(s),i=B=void 0,o())},j=()=>{h&&(h=!1,i?.write(s,7),$())},P=c=>{h=w=!1,V(c),$()},Q=(c,u=Ne(!0))=>{I()||i?.reset(s,u),
W.length=0,P(c)},ee=c=>Q(c,c),te=()=>{W.length=0,E=!0},l=c=>{if(!i||!h)return;let u=c instanceof C;i.write(s,2,p=>{let{at:g}=p;u?ot(p,c,!1):Le(p,e,c),f-=p.at-g+
It}),u&&j()};return{messages:X,begin(c,u,p,g){i=c,s=u,f=p,d=g},packet(c,u){if(c===2)return!w||E?void 0:y+b>=lt?ee(new C(8,"the peer exceeded its credit")):(y+=u.
length+It,K(new Uint8Array(u)));let p=G(u);if(c===5){let g=N(p,10);S||=!g,(f+=g)>0&&R()}else if(u.length){let g=Qe(N(p));P(new C(g,new TextDecoder().decode(Ae(p).
subarray(0,Xn)),{mayHaveRun:!S}))}else w=!1,V(!0),$()},send:l,async pump(c){try{let u=Symbol.asyncIterator in c?c[Symbol.asyncIterator]():c[Symbol.iterator]();for(B=
async()=>{try{await u.return?.()}catch{}};;){for(;f<=0&&!I();)await new Promise(T=>R=T);if(I())return;let{done:p,value:g}=await u.next();if(I())return;if(p)break;
l(g)}B=void 0,j()}catch(u){let p=C.from(u);n?Q(p):l(p)}},finish:j,discard:te,fail:ee,lost:P}}var jn=3e4,Gn=5e3,Kn=20,an=2e3,ln=10,ut=class{constructor(t,{timeout:n,patience:o=Gn,metadata:r,serve:i,stayConnected:s}={}){let d,f=0,y=ln,b=0,h,w=!1,E="",S=new Set,
R=new Set,B=[],I=()=>{d||h||w||!(S.size||s)||(b=performance.now(),d=sn(t,Y,[...R],i,B))},Y={room:l=>queueMicrotask(()=>{for(let c of S){if(d!==l||!W(c,l))return;
S.delete(c)}}),closing(l,c){d===l&&(d=void 0,l.isUp&&performance.now()-b>=an?f=0:(E=c,clearTimeout(h),h=De(Math.random()*Math.min(Kn*2**Math.min(f++,16),an),()=>{
h=void 0,I()})),I())},answered:()=>void(f=0),replied(l,c){let u=l,{method:{reply:p},options:{onMetadata:g}}=u;X(u);try{let T=G(c),J=Re(T),ue=rt(T,J);if(ue)throw ue;
T.at&&g?.(J.metadata),u.resolve(Te(T,p,u.missing)),y<ln&&(y+=.1)}catch(T){u.reject(Ot(T,p))}},expired:l=>V(l),lost(l,c){let u=l;if(u.link=void 0,!u.method.idempotent||
y<1)return $(u,c);y--,K(u)}},W=(l,c)=>{let{service:u,method:p}=l;try{let g=u?c.fits(u):0;return g!==void 0?(l.missing=at(p,g,1),l.start(l,c)&&(l.isSent=!0)):(R.
add(u),f=0,c.drain(),!1)}catch(g){return $(l,C.from(g)),!0}},K=l=>{if(!(d?.isUp&&W(l,d))){if(w)return $(l,dn());l.patientUntil=performance.now()+o,S.add(l),V(l),
I()}},V=l=>{let{until:c,isSent:u,patientUntil:p}=l,g=performance.now(),T=S.has(l)&&!d?.isUp&&`no connection to the server${E&&`: ${E}`}`;clearTimeout(l.timer),g>=
c?$(l,Ze(u,T?`; ${T}`:"")):g>=p&&T?$(l,Fe(14,T,u)):l.timer=De((g<p?Math.min(c,p):c)-g,()=>V(l))},X=l=>{S.delete(l),clearTimeout(l.timer),l.options.signal?.removeEventListener(
"abort",l.abort)},$=(l,c)=>{X(l),l.link?.cancel(l),l.reject(c)},j=(l,{sentTimeout:c,until:u,options:{metadata:p}})=>{(c!==void 0||r||p)&&We(l,{timeout:c&&u-performance.
now(),metadata:{...r,...p}})},P=(l,c)=>{j(l,c),Le(l,c.method.request,c.request)},Q=(l,c)=>{let u=c.call(l,P);return u&&(l.link=c),u},ee=(l,c,u,p,g,T,J,ue,fe=1/0)=>{
let{signal:A}=p,x={id:0,operation:c.operation,until:performance.now()+(g??fe),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:l,
method:c,request:u,options:p,sentTimeout:g,start:T,resolve:J,reject:ue,abort:A&&(()=>$(x,Ne(x.isSent)))};return A?.aborted?x.abort?.():(A?.addEventListener("abo\
rt",x.abort),g!==void 0&&V(x),(g===void 0||g>0)&&K(x)),x},te=(l,c,u,p={})=>{let g,T=ct(c.request,c.reply,!0,()=>g&&X(g),p.onMetadata);return g=ee(l,c,u,p,p.timeout,
(J,ue)=>{let fe=ue.open(T,J.missing,A=>{j(A,J),U(A,9),L(A,J.operation)});return fe&&T.pump(u),fe},()=>{},T.fail),T};this.unary=(l,c,u,p={})=>new Promise((g,T)=>void ee(
l,c,u,p,p.timeout??n,Q,g,T,jn)),this.serverStreaming=(l,c,u,p)=>te(l,c,[u],p).messages,this.twoWay=(l,c,u,p)=>te(l,c,u,p).messages,this.clientStreaming=async(l,c,u,p)=>{
let{messages:g}=te(l,c,u,p),{done:T,value:J}=await g.next();if(T)throw new C(13,"there is no reply");return g.return?.(),J},this.name=l=>void R.add(l),this.mount=
l=>void B.push(l),this.connected=()=>new Promise((l,c)=>{ee(void 0,{},void 0,{},void 0,(u,p)=>(X(u),l(p),!0),l,c)}),this.close=()=>{w=!0,clearTimeout(h);for(let l of S)
$(l,dn());d?.drain()},s&&queueMicrotask(I)}},dn=()=>Fe(9,"the channel is closed",!1);async function ft(e){let t;do t=await e.connected();while(!t.isUp);return t}function Ut(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(s,d)=>t[r]?.(s,d)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let s=new Map,d=(f,y)=>{let b=o.get(f);if(!b||!(b.method.sends||b.method.receives)===y)throw q(12,`unknown ope\
ration ${f}`);if(s.size>=Mt)throw q(8,"too many calls are in progress");let{service:h,method:w}=b,E=i.get(h.name);return{...b,left:at(w,E?st(h,E):0,0)}};return{
progress:s,packet(f,y,b,h){let w,E=S=>r.write(f,y,R=>{S instanceof C?ot(R,S,!0):(We(R,{isBackward:!0}),Le(R,w.reply,S))});try{let S=G(b),{timeout:R,metadata:B}=Re(
S);h&&(ce(S,9),y=N(S,3));let I=d(y,h);({method:w}=I);let Y=h||Te(S,w.request,I.left),W=h?f+65536:f,K=new AbortController,V=P=>{clearTimeout(j),P||K.abort(),s.delete(
W),r.closeIfIdle()},X=h?ct(w.reply,w.request,!1,()=>V(!1)):{send(P){s.has(W)&&(E(P),V(!0))},fail:E,finish(){},discard(){}},$=P=>{X.fail(P),V(!1)},j=R===void 0?void 0:
De(R,()=>$(Ze(!0)));s.set(W,{operation:y,stop:$}),h&&r.accept(X,f,I.left),zn(I,h,Y,X,{signal:K.signal,metadata:B})}catch(S){let R=S instanceof Se?q(3,`malformed\
 request: ${S.message}`):C.from(S);h?r.refuse(f,R):E(R)}},cancel(f,y){let b=s.get(f);b?.operation===y&&b.stop(Ne(!0))},down(f){for(let y of s.values())y.stop(f)}}}}}
async function zn({method:e,handler:t},n,o,r,i){try{if(e.sends)o=r.messages;else if(n){let d=await r.messages.next();if(d.done)throw q(3,"no request");o=d.value}
let s=t(o,i);e.receives?await r.pump?.(s):(r.send(await s),r.finish())}catch(s){r.send(C.from(s))}r.discard()}var Xe=65280,Yn=16<<20,Nt=64,Jn=65536,Qn=4,pt={now:0,last:1,oldest:2},je=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this;
t.mount({packet(o,r,i,s){if(i<Xe)return!1;for(let[d,f]of n)(!r||r===d)&&f.packet(o,r,i-Xe,G(s));return!0},down(o,r){for(let i of[...n.values()])i.down(o,r)}})}subscribe(t,{
group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){(await ft(this.channel)).write(0,Xe+2,o=>{we(o,pe(t)),re(o,Tt(n))})}async sync(){await(await this.
request(3)).return?.()}async request(t,n,o="",r){let{requests:i}=this,s=await ft(this.channel);do this.last=this.last%65535+1;while(i.has(this.last));let d=this.
last;return new Promise((f,y)=>{let b=0,h=0,w=!1,{items:E,messages:S,put:R,end:B}=dt(A=>(b-=A.payload.length+Nt,A),()=>{i.delete(d)&&n!==void 0&&s.isUp&&s.write(
d,Xe+1)}),I=A=>{i.delete(d),y(A),B(A)},Y=o?[]:n?.split(".")??[],W=Y[Y.length-1]===">",K=A=>{let x=A.split(".");return(W?x.length>=Y.length:x.length===Y.length)&&
Y.every((O,k)=>O===">"||O==="*"||O===x[k])},V=t===0&&!o&&r!==void 0,X=typeof r=="object",$=X||r===void 0?pt.oldest:pt[r],j=new Map(X?[[n,{...r,offset:r.offset+1}]]:
[]),P=new Map,Q=0,ee="",te=!1,l=!1,c=!1,u=!1,p=!1,g=A=>{s.write(d,Xe+A,x=>{if(n!==void 0&&we(x,pe(n)),A===6){U(x,$);for(let[O,k]of j){be(x,O);for(let _=0;_<16;_+=
2)U(x,parseInt(k.epoch.slice(_,_+2),16));L(x,k.offset)}}else re(x,pe(o))})},T=()=>{p=!0,l&&(c||!(V&&u))&&(w=!0),f(S)},J=A=>Array.from(me(A,8),x=>x.toString(16).
padStart(2,"0")).join(""),ue=(A,x,O)=>{if(x===5&&A&&!p&&V&&O.bytes[O.at]===Qn)c=!0,g(0);else if(x===6&&A&&O.bytes[O.at]===0){z(O),u=z(O)===1;let k=J(O);Q=N(O,10);
let _=ee!==""&&ee!==k,M=!n?.match(/[*>]/)&&j.size>0;ee=k,T(),c=!1,w||=M?!Q:_}else if(x===7)for(;H(O);){let k=Z(O),_={epoch:J(O),offset:N(O,10)};if(!p||!A&&!K(k))
continue;let M=P.get(k);A&&!M?(Q--,M=j.get(k)??(te?{..._,offset:1}:void 0)):!A&&M?.epoch!==_.epoch&&(M=void 0),M&&u&&(M.epoch===_.epoch&&M.offset<=_.offset?h+=_.
offset-M.offset:w=!0),P.size>=Jn&&(P.clear(),c=!0),P.set(k,_)}else return!1;return!0},fe=async()=>{try{let A=await ft(this.channel);if(!i.has(d))return;s=A,g(V?
6:0)}catch(A){let x=C.from(A);if(x.code===14&&i.has(d))return fe();I(x)}};i.set(d,{packet(A,x,O,k){if(!(A!==s||V&&ue(x,O,k)))if(O===2){let _=Z(k);if(!x&&(!p||!K(
_)))return;let M=Ae(k),ne=P.get(_);for(ne&&P.set(_,{...ne,offset:ne.offset+1}),b+=M.length+Nt;b>Yn&&E.length;){let Me=E.shift();b-=Me.payload.length+Nt;let _e=E[0];
h+=Me.lagged+1,w||=Me.reconnected,_e&&(_e.lagged+=h,_e.reconnected||=w,h=0,w=!1)}R({topic:_,payload:M,position:ne,lagged:h,reconnected:w}),h=0,w=!1}else O===4?V&&
u&&p||(h+=N(k,10)):x&&(H(k)?I(q([8,12,7][z(k)-3]??3,Z(k,H(k)))):T())},down(A,x){if(A===s){if(n===void 0||!p&&!l)return I(x);if(p)if(Q>0)for(let[O,k]of P)j.set(O,
k);else j=c?new Map:P,$=c?pt.now:pt.oldest,te=!c;P=new Map,p=!1,l=!0,fe()}}}),g(V?6:t)})}};var Lt="frisbee.1";function cn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[Lt,...t]);return r.binaryType="arraybuffer",r.onopen=()=>{r.protocol===Lt?o.open():r.close()},
r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.onclose=({code:i,reason:s})=>{o.close(`the WebSocket w\
as closed (${i}${s&&`, ${s}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Rt=(e,t={})=>new ut(cn(e,t),t);var le={BUY:0,SELL:1},Pt=ye("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[un,un,er]),er=ye("exchange.Deal","number:u side:e price:u amount:\
u",()=>[le]),fn=ye("exchange.Inquiry","side:e amount:u",()=>[le]),un=ye("exchange.Level","price:u amount:u"),tr=ye("exchange.Nothing",""),pn=ye("exchange.Offer",
"price:u called:u answered:u"),nr=ye("exchange.Order","number:u side:e price:u amount:u",()=>[le]),rr=ye("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[le]),Ce=it("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:tr,reply:Pt},trade:{operation:11,request:nr,reply:rr,sends:!0,receives:!0},
inquire:{operation:12,request:fn,reply:pn}}),mt=class{constructor(t){this.channel=t,t.name(Ce)}look(t,n){return this.channel.unary(Ce,Ce.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Ce,Ce.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Ce,Ce.methods.inquire,t,n)}},mn=it("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:fn,reply:pn}});var Bt=240,vn=8,se=e=>document.getElementById(e),ie=(e,t)=>void(se(e).textContent=t),he=e=>(e/100).toFixed(2),yt=e=>e===le.BUY?"buy":"sell";function oe(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function or(e,t){let n=se(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>vn;)n.lastElementChild?.remove()}var Ge=new Map,yn=0,hn=0,Sn=()=>{},$t=[];async function*ir(){for(;;){let e=$t.shift();
e?yield e:await new Promise(t=>Sn=t)}}function sr({number:e,amount:t,price:n,left:o}){let r=Ge.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===le.BUY?
1:-1;yn+=i*t,hn-=i*t*n,ie("held",String(yn)),ie("cash",he(hn));let s=[...Ge.values()].reverse().slice(0,vn).map(({order:d,done:f,left:y})=>oe("tr",[oe("td",`${yt(
d.side)} ${d.amount}`,yt(d.side)),oe("td",he(d.price)),oe("td",String(f)),oe("td",String(y))]));se("orders").replaceChildren(...s)}se("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?le.SELL:le.BUY,o={number:Ge.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ge.set(o.number,{order:o,done:0,left:o.amount}),$t.push(o),Sn()});var $e=0,Dt=0,Be,ve=[];function bn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));se(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,oe("li",[i,oe("span",he(o)),oe("span",String(r))])}))}function ar(e){for(let{number:o,price:r}of[...e].reverse())o>Dt&&ve.push(r);ve.splice(0,ve.length-Bt);let[
t]=e;if(!t||t.number===Dt)return;Dt=t.number;let n=t.price-$e;$e&&n&&(ie("change",`${n>0?"▲":"▼"} ${he(Math.abs(n))}`),se("change").dataset.side=n>0?"buy":"\
sell"),$e=t.price,ie("last",he($e)),se("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>oe("li",[oe("span",o===le.BUY?"bought":"sold",yt(o)),oe("s\
pan",he(r)),oe("span",String(i))]))),_t()}function gn({bids:e,asks:t,deals:n,traders:o,orders:r}){bn("asks",t),bn("bids",e),t[0]&&e[0]&&ie("spread",`${he(t[0].price-
e[0].price)} apart`),ie("traders",String(o));let i=performance.now();(!Be||i-Be.at>1e3)&&(Be&&ie("rate",((r-Be.orders)/((i-Be.at)/1e3)).toFixed(0)),Be={orders:r,
at:i}),ar(n)}function _t(){let e=se("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||ve.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),s=se("state"),d=Math.min(...ve)-2,f=Math.max(...ve)+2,y=n-56,b=E=>E/(Bt-1)*y,h=E=>(f-E)/(f-d)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(s).color,t.lineWidth=.5;for(let E=0;E<5;E++){let S=d+(f-d)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,h(S)),t.lineTo(y,h(S)),t.stroke(),t.globalAlpha=1,t.fillText(he(S),y+8,h(S)+4)}let w=Bt-ve.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ve.
forEach((E,S)=>t.lineTo(b(w+S),h(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(y,o),t.lineTo(b(w),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",_t);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",_t);var lr=Ut(mn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(se("margin").value)*100),o=$e&&$e+
(e===le.BUY?n:-n);return or("asked",oe("li",`${yt(e)} ${t}? You said ${he(o)}.`)),{price:o}}}),{hostname:dr}=location,wn=Rt(`ws://${dr}:${document.documentElement.
dataset.port}/`,{serve:lr,stayConnected:!0}),ht=new mt(wn),cr=new je(wn);se("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await ht.inquire({side:le.BUY,amount:10}),s=(performance.now()-n).toFixed(0);ie(
"offer",o?`${he(o)} is the best of ${i} of ${r}, after ${s} ms.`:`None of ${r} had a price.`)}catch(n){ie("offer",C.from(n).message)}t.disabled=!1});async function ur(){
for(;;){try{let e=await cr.subscribe("exchange.book"),t=ht.trade(ir()),n=(async()=>{for await(let r of t)sr(r)})();se("state").dataset.is="open",ie("state","con\
nected"),gn(await ht.look({}));let o=(async()=>{for await(let{payload:r}of e)gn(wt(Pt,r))})();await Promise.race([n,o])}catch(e){se("state").dataset.is="failed",
ie("state",C.from(e).message)}$t.length=0;for(let e of Ge.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}ur();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await ht.look({},{timeout:5e3}),ie("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ie("ping","–")}},2e3);
