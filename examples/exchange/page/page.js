var Tn=new TextEncoder,kn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Wt=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
F=e=>{throw new Se(e)},V=e=>({bytes:e,at:0,depth:0,memory:0}),ze=(e=64)=>V(new Uint8Array(e)),pe=e=>Tn.encode(e);function Ye(e,t){let{bytes:n,at:o}=e;o+t>n.length&&
(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function O(e,t){e.at===e.bytes.length&&Ye(e,1),e.bytes[e.at++]=t}function Xt(e,t){
O(e,t>>8),O(e,t)}function L(e,t){for(;t>127;t=Math.floor(t/128))O(e,t|128);O(e,t)}function re(e,t){Ye(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function we(e,t){
L(e,t.length),re(e,t)}function be(e,t){let{at:n}=e,{length:o}=t,r=o>Wt?128:0;O(e,o);for(let i=0;i<o&&r<128;i++)O(e,r=t.charCodeAt(i));r>127&&(e.at=n,we(e,pe(t)))}
function ue(e,t,n){O(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,we(e,r),r.length>0}var Je=({bytes:e,at:t})=>e.subarray(0,t),q=({bytes:e,at:t})=>e.
length-t,xe=({bytes:e,at:t})=>e[t],Y=e=>e.bytes[e.at++]??F("truncated");function fe(e,t){let n=Y(e);n!==t&&F(`found byte ${n}, expected ${t}`)}function U(e,t=5){
let n=0;for(let o=1;t-- >0;o*=128){let r=Y(e);if(r<128)return n+r*o;n+=(r-128)*o}return F("a number is too long")}function me(e,t=U(e)){return t>q(e)&&F("trunca\
ted"),e.bytes.subarray(e.at,e.at+=t)}var Ae=({bytes:e,at:t})=>e.slice(t);function ee(e,t=U(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Wt)for(let a;i<t&&(a=n[o+i])<128;i++)
r+=String.fromCharCode(a);if(i<t){let a=me(e,t);try{return kn.decode(a)}catch{F("a text is not UTF-8")}}return e.at+=t,r}var k=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:d=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:d,code:n})}static from(n){return n instanceof e?n:new e(2,Re(n),{cause:n})}};var Re=e=>e instanceof Error?e.message:String(e),W=(e,t)=>new k(e,t,{mayHaveRun:!1}),Qe=e=>{let t=k.from(e);return t.mayHaveRun?t:new k(t.code,t.message,{...t,mayHaveRun:!0})},
Ze=e=>e>0&&e<=16?e:2,Ve=(e,t,n)=>new k(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Ne=e=>Ve(1,"the caller cancelled the call",e),et=(e,t="")=>Ve(4,`deadline exceeded${t}`,
e);var rt=100,Cn=64<<20,Mn=12,St=8,wt=56,gt=new Uint8Array(8),jt=new DataView(gt.buffer);function ye(e,t,n){let o;return{name:e,fields:()=>o??=In(t,n?.()??[])}}var xt=(e,t)=>Te(V(t),e,0);function Le(e,t,n){e.depth=rt,Yt(e,t,n)}function Te(e,t,n){return e.depth=rt,e.memory=Math.max(Cn,q(e)*Mn),Jt(e,t,n)??Qt(e,t)}function In(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,d,f,m,b]=i,y=b==="m"?Rn(t[o++]):b==="e"?Nn(t[o++]):Kt[b],v=Kt[m[1]??""],E=v?[2,v.wire,y.wire,10]:m==="*"?[1,y.wire,10]:void 0,S=d?n.get(d):void 0;
d&&!S&&n.set(d,S=[]);let P={name:d??a,of:y,isOptional:m==="?",key:v,head:E,case:a,number:+f,all:S};return S?.push(P),P})}var Xe=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Yt(e,t,n){if(!e.depth--)throw zt(t.name,`nests deeper than ${rt}`);O(e,8),O(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,d=n[o=a];if(!i)On(e,r,d);else if(e.isFlat||r===i[0]){let f=d,m=i.find(y=>y.case===f?.case);if(f&&!m)throw new Error(`has no member ${f.case}`);e.
isFlat||(O(e,3),L(e,m?m.number:0));let b=e.isFlat?r:m;b&&qe(e,b.of,b===m?f?.value:void 0)}}}catch(r){throw r instanceof k?r:zt(`${t.name}.${o}`,r.message)}e.depth++}
function On(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=Xe(t)),o){let a=n,d=n;for(let f of o)O(e,f);if(L(e,r?a.size:d.length),r)for(let[
f,m]of a)qe(e,r,f),qe(e,i,m);else for(let f of d)qe(e,i,f)}else n===void 0&&t.isOptional&&!e.isFlat?O(e,0):qe(e,i,n)}function qe(e,t,n){t.table||O(e,t.wire),t.put(
e,n===void 0?t.zero():n)}function Jt(e,t,n){if(xe(e)===0)return void e.at++;fe(e,8),Y(e),e.depth--||F(`${t.name} nests deeper than ${rt}`);let o=t.fields();At(e,
wt+St*o.length);let r={},i="";for(let a of o){let{name:d,all:f,of:m}=a,b=f&&f[0]===a;if(b&&(r[d]=void 0),n>0&&!q(e))n--,f||(r[d]=Xe(a));else if(!f)r[d]=Un(e,a);else if(b&&
xe(e)===3){e.at++,i+=` ${d} `;let y=U(e),v=f.find(E=>E.number===y);v?r[d]={case:v.case,value:vt(e,v.of)}:y&&F(`${t.name}.${d} has no member ${y}`)}else if(!i.includes(
` ${d} `)){let y=nt(e,m);(y instanceof Uint8Array?y.length:!Object.is(y,m.zero()))&&(r[d]={case:a.case,value:y})}}return e.depth++,r}function Un(e,t){let{head:n,
key:o,of:r}=t;if((o||t.isOptional)&&xe(e)===0)return e.at++,Xe(t);if(!n)return nt(e,r);for(let d of n)fe(e,d);let i=U(e),a=Xe(t);for(;i-- >0;)At(e,o?wt:St),o?a.
set(nt(e,o),vt(e,r)):a.push(vt(e,r));return a}function nt(e,{wire:t,table:n,take:o}){return n||fe(e,t),o(e)}var vt=(e,t)=>nt(e,t)??Qt(e,t.table);function Qt(e,t){
let n={},o=t.fields();At(e,wt+St*o.length);for(let r of o)n[r.name]=r.all?void 0:Xe(r);return n}function At(e,t){(e.memory-=t)<0&&F("exceeds the memory limit")}
var ge=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Rn=e=>ge(3,()=>{},(t,n)=>n?Yt(t,e,n):O(t,0),t=>Jt(t,e,0),e);function Nn(e){let t=Object.values(e);return ge(
10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;We(r>=0||o===(o|0)&&o<0&&i>=t.length,o),L(n,r<0?i:r)},n=>{let o=U(n)>>>0,r=o-2147483648;return o>=t.length&&
(r>=0||t.includes(r))&&F(`an enum has the index ${o}`),t[o]??r})}var tt=(e,t)=>ge(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?i<0?-2*i-1:2*i:i;if(Number.
isSafeInteger(a)&&a>=0)return L(n,a);We((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let d=e?r<<1n^r>>63n:r;for(;d>>53n;d>>=7n)O(n,Number(d&127n)|128);L(n,Number(
d))},n=>{let{at:o}=n,r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.bytes[o++]&127)<<a;i=BigInt.
asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||F("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Gt=(e,t)=>ge(e,()=>0,(n,o)=>{
jt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)O(n,gt[r])},n=>{for(let o=0;o<t;o++)gt[o]=Y(n);return jt[t>4?"getFloat64":"getFloat32"](0)}),Kt={b:ge(
7,()=>!1,(e,t)=>O(e,+t),e=>{let t=Y(e);return t>1&&F(`a bool is ${t}`),t>0}),i:ge(12,()=>0,(e,t)=>{We(t===(t|0),t),L(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>
1^-(t&1)}),u:ge(10,()=>0,(e,t)=>{We(t===t>>>0,t),L(e,t)},e=>U(e)>>>0),l:tt(!0,!1),w:tt(!1,!1),L:tt(!0,!0),W:tt(!1,!0),f:Gt(14,4),d:Gt(15,8),s:ge(5,()=>"",(e,t)=>{
We(typeof t=="string",t),O(e,10),be(e,t)},e=>(fe(e,10),ee(e))),y:ge(4,()=>new Uint8Array,(e,t)=>{O(e,10),we(e,t)},e=>(fe(e,10),me(e).slice()))},zt=(e,t)=>W(3,`${e}\
 ${t}`);function We(e,t){if(!e)throw new Error(`cannot be ${String(t)}`)}var Tt=16,Zt=65536,en=256,Ln=61440,Pn={metadata:{}},Et=e=>e.endsWith("-bin"),tn=(e,t)=>Et(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${Et(
e)?"":t}`),kt=e=>typeof e=="string"?pe(e):e;function je(e,{isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ue(e,Tt,()=>{t&&ue(e,4,()=>{}),n!==void 0&&
ue(e,1,()=>L(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let d=0;if(Object.entries(o).forEach(([f,m],b)=>{if(!tn(f,m))throw W(3,`invalid\
 metadata entry: ${f}`);if(d+=f.length+m.length+8,b>=en||d>Ln)throw W(8,"too much metadata");ue(e,2,()=>{be(e,f),re(e,kt(m))})}),r){let{code:f,details:m,mayHaveRun:b}=r;
ue(e,3,()=>{L(e,f),e.at-i+m.length+32<=Zt&&re(e,m)}),b||ue(e,5,()=>{})}})||(e.at=i)}function Pe(e){if(xe(e)!==Tt)return Pn;e.at++;let t=V(me(e));q(t)>Zt&&F("a p\
refix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;q(t);){let i=Y(t),a=V(me(t));if(i===1)o.timeout=U(a,10)/1e3;else if(i===2){let d=ee(a),f=Et(
d)?Ae(a):ee(a,q(a));(!tn(d,f)||d in n||++r>en)&&F("invalid metadata"),n[d]=f}else i===3?(o.code=Ze(U(a,10)),o.details=Ae(a)):i===5&&(o.isRefused=!0)}return o}function nn(e){
let t=1;for(;e[t]>127;)t++;return e[0]===Tt&&e[t+1]===4&&e[t+2]===0}function ot(e,{metadata:t,code:n,details:o,isRefused:r}){if(xe(e)===6)return e.at++,fe(e,5),
fe(e,10),new k(n??2,ee(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function it(e,t,n){je(e,{isBackward:n,status:t,metadata:t.metadata}),re(e,[6,5,10]),be(e,
t.message)}var st=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function at(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw W(9,`incompatibl\
e layouts of ${e.name}`);return 1}var lt=({added:e=[0,0]},t,n)=>t*e[n];function Ct(e,t){let n=r=>r.match(/../g)?.forEach(i=>O(e,parseInt(i,16)));be(e,t.name),n(
t.fingerprint),L(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))L(e,r-o),o=r}function rn(e){let t=()=>{let o="";
for(;o.length<16;)o+=Y(e).toString(16).padStart(2,"0");return o},n={service:ee(e),fingerprint:t(),compatible:[],operations:[]};for(let o=U(e);o>0;o--)n.compatible.
push(t());for(let o=0;q(e);)n.operations.push(o+=U(e));return n}var Mt=5<<20,Dn=1024,Bn=65536,De=10,ke=16384,$n=ke/2,It=256,dt=262144,_n=1e5,Fn=64<<20,Hn=65536,Vn=2e3,qn=5,Wn=1e4,on="the server is going away",Xn=2147483647,Be=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Xn));function an(e,t,n,o,r){let i=ze(16384),a=new Map,d=new Map,f=new Map,m=[],b=0,y=0,v=0,E=0,S=0,P=32767,D=[0,Mt,1/0,ke,0],R=!1,X=!1,
K,z=De,j=0,G=!1,H=0,B=!1,N=!1,Q=0,ce,te=l=>{if(!(R||!Ie))try{l(Ie)}catch(p){_(Re(p));try{Ie.close()}catch{}}},J=()=>{i.at&&(B=!1,N=!0,te(l=>l.send(Je(i))),i.at=
H=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),te(l=>{l.buffered()>Fn&&M("too many unsent bytes")}))},s=()=>{i.at!==H?(H=i.at,queueMicrotask(s)):(G=!1,
J())},c=(l,p,g,$)=>{let{at:Oe}=i;try{Ye(i,De),i.at+=De,g?.(i,$);let le=i.at,Ue=le-Oe-De,qt=Math.max(D[1],Dn);if(Ue>qt)throw W(8,`the message has ${Ue} bytes of \
at most ${qt}`);i.at=Oe;for(let En of[15,l,p,Ue>>>16,Ue])Xt(i,En);i.at=le}catch(le){throw i.at=Oe,le}i.at>Hn?J():G||(G=!0,H=0,queueMicrotask(s))},u=(l,{code:p,message:g})=>c(
l,7,$=>{L($,p),re($,pe(g.slice(0,256)))}),h=(l,p)=>{c(l,5,L,0),u(l,p)},x=l=>{if(!R){if(Q=0,K){if(re(K,l),K.at<z)return;l=Je(K),K=void 0}try{let p=0,g=$=>l[p+$]<<
8|l[p+$+1];for(;!R&&!(l.length<(z=p+De));p=z){g(0)!==15&&F("a header without its magic");let $=g(6)*65536+g(8);if($>Mt&&F(`a packet of ${$} bytes`),l.length<(z+=
$))break;C(g(2),g(4),l.subarray(p+De,z))}p<l.length&&(z-=p,re(K=ze(),l.subarray(p)))}catch(p){M(`the server broke the protocol: ${p.message}`)}}},C=(l,p,g)=>{let $=V(
g),Oe=a.get(l);if(p>=10)if(I.isUp||F("a packet before HELLO"),nn(g)){if(ne)return ne.packet(l,p,g,!1)}else{let le=m[l%ke];if(le?.id===l&&le.operation===p)return ae(
l),t.answered(),le.isGivenUp?y--:t.replied(le,g),w();if(r.filter(Ue=>Ue.packet(I,l,p,g)).length)return}else if(p<2){g.length&&F("a PING with a body"),p===1?I.isUp||
M("the server is a compat peer"):B||(B=!0,c(0,1));return}else{if(p===3&&!I.isUp)return Z($);if(p===4)return A();if(p===6)return ne?.cancel(l,U($));if(p===8)F("a\
 stray hand-off");else{if(Oe&&p!==3&&p<8)return t.answered(),Oe.packet(p,g);if(p===2){let le=l-P&32767;if(l>=32768&&le&&le<=16384)return P=l,ne?ne.packet(l,2,g,
!0):h(l,W(12,"no service is served"))}}}++j>_n&&M("too many stray packets")},Z=l=>{for((q(l)>Bn||ee(l,4)!=="fris"||!Y(l))&&F("no HELLO");q(l);){let p=Y(l),g=V(me(
l));if(p in D)D[p]=U(g);else if(p===32||p===33)try{let $=rn(g);(p===32?d:f).set($.service,$)}catch{}}D[3]=Math.min(D[3],ke),I.isUp=!0,clearTimeout(Me),t.room(I)},
ae=l=>{m[l%ke]=void 0,b--===D[3]&&t.room(I)},T=(l,p,g)=>{a.set(p,l),l.begin(I,p,D[4],g)},w=()=>{X&&b===y&&!a.size&&!ne?.progress.size&&queueMicrotask(()=>M(on))},
A=()=>{X||(X=!0,t.closing(I,on),w())},M=l=>{R||(J(),te(p=>p.close()),_(l))},_=l=>{if(R)return;R=!0,clearInterval(ce),clearTimeout(Me),t.closing(I,l),I.isUp=!1;let p=new k(
14,`the connection was lost: ${l}`);for(let g of m)g&&!g.isGivenUp&&t.lost(g,p);for(let g of a.values())g.lost(p);ne?.down(p);for(let g of r)g.down(I,p)},I={isUp:!1,
write:c,reset:u,refuse:h,fits(l){let p=d.get(l.name);if(p)return p.fingerprint===l.fingerprint||n.includes(l)?at(l,p):void 0;for(let g of d.values())if(g.operations.
some($=>l.operations.includes($)))throw W(12,`the server has ${g.service} instead of ${l.name}`);return 0},call(l,p){if(b>=D[3])return!1;do v=v+1&65535;while(m[v%
ke]);let g=l.id=v;m[g%ke]=l,b++;try{c(g,l.operation,p,l)}catch($){throw ae(g),$}return!0},cancel(l){R||(l.isGivenUp=!0,c(l.id,6,L,l.operation),++y>=$n&&A(),w())},
open(l,p,g){if(!D[2])throw W(12,"the server does not accept streams");if(E>=Math.min(D[2],28672))return!1;do S=S%32767+1;while(a.has(S));return E++,T(l,S,p),c(S,
2,g),!0},accept:T,over(l){a.delete(l),l<32768&&(E--,t.room(I)),w()},drain:A,closeIfIdle:w},ne=o?.on(I,f),Me=Be(Wn,()=>M("handshake timeout")),He=()=>{i.isFlat=Ie?.
isFlat,c(0,3,l=>{re(l,pe("fris"));let p=ne?It:0;[Mt,p,p,dt].forEach((g,$)=>ue(l,$+1,()=>L(l,g)));for(let g of o?.services??[])ue(l,32,()=>Ct(l,g));for(let g of n)
ue(l,33,()=>Ct(l,g))}),c(1,0),J(),!R&&(ce=setInterval(()=>{if(++Q>qn)return M("keepalive timeout");(Q>1||!N)&&c(0,0),N=!1;let l=performance.now();for(let p of m)
p&&p.until<=l&&!p.isGivenUp&&t.expired(p)},Vn))},Ie,Ht=l=>Ie?l():queueMicrotask(l),Vt=l=>Ht(()=>_(l));try{Ie=e({open:()=>Ht(He),data:x,close:Vt})}catch(l){Vt(Re(
l))}return I}function ct(e,t){let n=[],o=!1,r=()=>{},i=f=>{o||=f,r()},a=(async function*(){try{for(;;){let f=n.shift();if(f!==void 0){let m=e(f);m!==void 0&&(yield m)}else if(o){
if(o!==!0)throw o;return}else await new Promise(m=>r=m)}}finally{t()}})(),{return:d}=a;return a.return=()=>(t(),n.length=0,i(!0),d.call(a,void 0)),{messages:a,items:n,
put:f=>{n.push(f),r()},end:i}}var Ot=64,jn=4,Gn=4096,Ut=(e,t)=>e instanceof Se?new k(13,`not a valid ${t.name}: ${e.message}`):k.from(e);function ut(e,t,n,o,r){let i,a=0,d=0,f=0,m=0,b=0,y=!0,
v=!0,E=!1,S=!1,P=()=>{},D,R=()=>!y&&!v,{messages:X,items:K,put:z,end:j}=ct(s=>{let c=s.length+Ot;m-=c,b+=c,v&&b*jn>=dt&&(i?.write(a,5,L,b),b=0);try{let u=V(s),h=Pe(
u);if(u.at&&(r?.(G.metadata=h.metadata),!q(u)))return;let x=ot(u,h);if(x)throw x;return Te(u,t,d)}catch(u){throw Ut(u,t)}},()=>n?Q(!0):te()),G=Object.assign(X,{
metadata:{}}),H=()=>{R()&&(P(),D?.(),i?.over(a),i=D=void 0,o())},B=()=>{y&&(y=!1,i?.write(a,7),H())},N=s=>{y=v=!1,j(s),H()},Q=(s,c=Ne(!0))=>{R()||i?.reset(a,c),
K.length=0,N(s)},ce=s=>Q(s,s),te=()=>{K.length=0,E=!0},J=s=>{if(!i||!y)return;let c=s instanceof k;i.write(a,2,u=>{let{at:h}=u;c?it(u,s,!1):Le(u,e,s),f-=u.at-h+
Ot}),c&&B()};return{messages:G,begin(s,c,u,h){i=s,a=c,f=u,d=h},packet(s,c){if(s===2)return!v||E?void 0:m+b>=dt?ce(new k(8,"the peer exceeded its credit")):(m+=c.
length+Ot,z(new Uint8Array(c)));let u=V(c);if(s===5){let h=U(u,10);S||=!h,(f+=h)>0&&P()}else if(c.length){let h=Ze(U(u));N(new k(h,new TextDecoder().decode(Ae(u).
subarray(0,Gn)),{mayHaveRun:!S}))}else v=!1,j(!0),H()},send:J,async pump(s,c){try{let u=Symbol.asyncIterator in s?s[Symbol.asyncIterator]():s[Symbol.iterator]();
for(D=async()=>{try{await u.return?.()}catch{}};;){for(;f<=0&&!R();)await new Promise(C=>P=C);if(R())return;let{done:h,value:x}=await u.next();if(R())return;if(h)
break;J(x)}D=void 0,B()}catch(u){if(!n)throw u;Q(c?Qe(u):k.from(u))}},finish:B,discard:te,fail:ce,lost:N}}var Kn=3e4,zn=5e3,Yn=20,ln=2e3,dn=10,ft=class{constructor(t,{timeout:n,patience:o=zn,metadata:r,serve:i,stayConnected:a}={}){let d,f=0,m=dn,b=0,y,v=!1,E="",S=[new Set,
new Set],P=({method:{sends:s,receives:c}})=>S[s||c?1:0],D=new Set,R=[],X=()=>{d||y||v||!(S[0].size||S[1].size||a)||(b=performance.now(),d=an(t,K,[...D],i,R))},K={
room:s=>queueMicrotask(()=>{for(let c of S)for(let u of c){if(d!==s||!z(u,s))break;c.delete(u)}}),closing(s,c){d===s&&(d=void 0,s.isUp&&performance.now()-b>=ln?
f=0:(E=c,clearTimeout(y),y=Be(Math.random()*Math.min(Yn*2**Math.min(f++,16),ln),()=>{y=void 0,X()})),X())},answered:()=>void(f=0),replied(s,c){let u=s,{method:{
reply:h},options:{onMetadata:x}}=u;H(u);try{let C=V(c),Z=Pe(C),ae=ot(C,Z);if(ae)throw ae;C.at&&x?.(Z.metadata),u.resolve(Te(C,h,u.missing)),m<dn&&(m+=.1)}catch(C){
u.reject(Ut(C,h))}},expired:s=>G(s),lost(s,c){let u=s;if(u.link=void 0,!u.method.idempotent||m<1)return B(u,c);m--,j(u)}},z=(s,c)=>{let{service:u,method:h}=s;try{
let x=u?c.fits(u):0;return x!==void 0?(s.missing=lt(h,x,1),s.start(s,c)&&(s.isSent=!0)):(D.add(u),f=0,c.drain(),!1)}catch(x){return B(s,k.from(x)),!0}},j=s=>{if(!(d?.
isUp&&z(s,d))){if(v)return B(s,cn());s.patientUntil=performance.now()+o,P(s).add(s),G(s),X()}},G=s=>{let{until:c,isSent:u,patientUntil:h}=s,x=performance.now(),
C=P(s).has(s)&&!d?.isUp&&`no connection to the server${E&&`: ${E}`}`;clearTimeout(s.timer),x>=c?B(s,et(u,C?`; ${C}`:"")):x>=h&&C?B(s,Ve(14,C,u)):s.timer=Be((x<h?
Math.min(c,h):c)-x,()=>G(s))},H=s=>{P(s).delete(s),clearTimeout(s.timer),s.options.signal?.removeEventListener("abort",s.abort)},B=(s,c)=>{H(s),s.link?.cancel(s),
s.reject(c)},N=(s,{sentTimeout:c,until:u,options:{metadata:h}})=>{(c!==void 0||r||h)&&je(s,{timeout:c&&u-performance.now(),metadata:{...r,...h}})},Q=(s,c)=>{N(s,
c),Le(s,c.method.request,c.request)},ce=(s,c)=>{let u=c.call(s,Q);return u&&(s.link=c),u},te=(s,c,u,h,x,C,Z,ae,T=1/0)=>{let{signal:w}=h,A={id:0,operation:c.operation,
until:performance.now()+(x??T),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:s,method:c,request:u,options:h,sentTimeout:x,start:C,
resolve:Z,reject:ae,abort:w&&(()=>B(A,Ne(A.isSent)))};return w?.aborted?A.abort?.():(w?.addEventListener("abort",A.abort),x!==void 0&&G(A),(x===void 0||x>0)&&j(
A)),A},J=(s,c,u,h={})=>{let x,C=ut(c.request,c.reply,!0,()=>x&&H(x),h.onMetadata);return x=te(s,c,u,h,h.timeout,(Z,ae)=>{let T=ae.open(C,Z.missing,w=>{N(w,Z),O(
w,9),L(w,Z.operation)});return T&&C.pump(u,c.sends),T},()=>{},C.fail),C};this.unary=(s,c,u,h={})=>new Promise((x,C)=>void te(s,c,u,h,h.timeout??n,ce,x,C,Kn)),this.
serverStreaming=(s,c,u,h)=>J(s,c,[u],h).messages,this.twoWay=(s,c,u,h)=>J(s,c,u,h).messages,this.clientStreaming=async(s,c,u,h)=>{let{messages:x}=J(s,c,u,h),{done:C,
value:Z}=await x.next();if(C)throw new k(13,"there is no reply");return x.return?.(),Z},this.name=s=>void D.add(s),this.mount=s=>void R.push(s),this.connected=()=>new Promise(
(s,c)=>{te(void 0,{},void 0,{},void 0,(u,h)=>(H(u),s(h),!0),s,c)}),this.close=()=>{v=!0,clearTimeout(y);for(let s of S)for(let c of s)B(c,cn());d?.drain()},a&&queueMicrotask(
X)}},cn=()=>Ve(9,"the channel is closed",!1);async function pt(e){let t;do t=await e.connected();while(!t.isUp);return t}function Rt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,d)=>t[r]?.(a,d)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,d=(f,m)=>{let b=o.get(f);if(!b||!(b.method.sends||b.method.receives)===m)throw W(12,`unknown ope\
ration ${f}`);if(a.size>=It)throw W(8,"too many calls are in progress");let{service:y,method:v}=b,E=i.get(y.name);return{...b,left:lt(v,E?at(y,E):0,0)}};return{
progress:a,packet(f,m,b,y){let v,E=S=>r.write(f,m,P=>{S instanceof k?it(P,S,!0):(je(P,{isBackward:!0}),Le(P,v.reply,S))});try{let S=V(b),{timeout:P,metadata:D}=Pe(
S);y&&(fe(S,9),m=U(S,3));let R=d(m,y);({method:v}=R);let X=y||Te(S,v.request,R.left),K=y?f+65536:f,z=new AbortController,j=N=>{clearTimeout(B),N||z.abort(),a.delete(
K),r.closeIfIdle()},G=y?ut(v.reply,v.request,!1,()=>j(!1)):{send(N){a.has(K)&&(E(N),j(!0))},fail:E,finish(){},discard(){}},H=N=>{G.fail(N),j(!1)},B=P===void 0?void 0:
Be(P,()=>H(et(!0)));a.set(K,{operation:m,stop:H}),y&&r.accept(G,f,R.left),Jn(R,y,X,G,{signal:z.signal,metadata:D})}catch(S){let P=S instanceof Se?W(3,`malformed\
 request: ${S.message}`):k.from(S);y?r.refuse(f,P):E(P)}},cancel(f,m){let b=a.get(f);b?.operation===m&&b.stop(Ne(!0))},down(f){for(let m of a.values())m.stop(f)}}}}}
async function Jn({method:e,handler:t},n,o,r,i){let a=!1;try{if(e.sends)o=r.messages;else if(n){let f=await r.messages.next();if(f.done)throw W(3,"no request");
o=f.value}a=!0;let d=t(o,i);e.receives?await r.pump?.(d):(r.send(await d),r.finish())}catch(d){try{r.send(a?Qe(d):k.from(d))}catch(f){r.send(new k(13,Re(f)))}}r.
discard()}var $e=65280,Qn=16<<20,Nt=64,Zn=65536,er=4,mt={now:0,last:1,oldest:2},un=e=>W([8,12,7][Y(e)-3]??3,ee(e,q(e))),Ge=class{constructor(t){this.channel=t;this.requests=
new Map;this.last=0;let{requests:n}=this;t.mount({packet:(o,r,i,a)=>{if(i<$e)return!1;!r&&i===$e+5&&(this.refused??=un(V(a)));for(let[d,f]of n)(!r||r===d)&&f.packet(
o,r,i-$e,V(a));return!0},down(o,r){for(let i of[...n.values()])i.down(o,r)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){
(await pt(this.channel)).write(0,$e+2,o=>{we(o,pe(t)),re(o,kt(n))})}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,
t)throw t}async request(t,n,o="",r){let{requests:i}=this,a=await pt(this.channel);do this.last=this.last%65535+1;while(i.has(this.last));let d=this.last;return new Promise(
(f,m)=>{let b=0,y=0,v=!1,{items:E,messages:S,put:P,end:D}=ct(T=>(b-=T.payload.length+Nt,T),()=>{i.delete(d)&&n!==void 0&&a.isUp&&a.write(d,$e+1)}),R=T=>{i.delete(
d),m(T),D(T)},X=o?[]:n?.split(".")??[],K=X[X.length-1]===">",z=T=>{let w=T.split(".");return(K?w.length>=X.length:w.length===X.length)&&X.every((A,M)=>A===">"||
A==="*"||A===w[M])},j=t===0&&!o&&r!==void 0,G=typeof r=="object",H=G||r===void 0?mt.oldest:mt[r],B=new Map(G?[[n,{...r,offset:r.offset+1}]]:[]),N=new Map,Q=0,ce="",
te=!1,J=!1,s=!1,c=!1,u=!1,h=T=>{a.write(d,$e+T,w=>{if(n!==void 0&&we(w,pe(n)),T===6){O(w,H);for(let[A,M]of B){be(w,A);for(let _=0;_<16;_+=2)O(w,parseInt(M.epoch.
slice(_,_+2),16));L(w,M.offset)}}else re(w,pe(o))})},x=()=>{u=!0,J&&(s||!(j&&c))&&(v=!0),f(S)},C=T=>Array.from(me(T,8),w=>w.toString(16).padStart(2,"0")).join(""),
Z=(T,w,A)=>{if(w===5&&T&&!u&&j&&A.bytes[A.at]===er)s=!0,h(0);else if(w===6&&T&&A.bytes[A.at]===0){Y(A),c=Y(A)===1;let M=C(A);Q=U(A,10);let _=ce!==""&&ce!==M,I=!n?.
match(/[*>]/)&&B.size>0;ce=M,x(),s=!1,v||=I?!Q:_}else if(w===7)for(;q(A);){let M=ee(A),_={epoch:C(A),offset:U(A,10)};if(!u||!T&&!z(M))continue;let I=N.get(M);T&&
!I?(Q--,I=B.get(M)??(te?{..._,offset:1}:void 0)):!T&&I?.epoch!==_.epoch&&(I=void 0),I&&c&&(I.epoch===_.epoch&&I.offset<=_.offset?y+=_.offset-I.offset:v=!0),N.size>=
Zn&&(N.clear(),s=!0),N.set(M,_)}else return!1;return!0},ae=async()=>{try{let T=await pt(this.channel);if(!i.has(d))return;a=T,h(j?6:0)}catch(T){let w=k.from(T);
if(w.code===14&&i.has(d))return ae();R(w)}};i.set(d,{packet(T,w,A,M){if(!(T!==a||j&&Z(w,A,M)))if(A===2){let _=ee(M);if(!w&&(!u||!z(_)))return;let I=Ae(M),ne=N.get(
_);for(ne&&N.set(_,{...ne,offset:ne.offset+1}),b+=I.length+Nt;b>Qn&&E.length;){let Me=E.shift();b-=Me.payload.length+Nt;let He=E[0];y+=Me.lagged+1,v||=Me.reconnected,
He&&(He.lagged+=y,He.reconnected||=v,y=0,v=!1)}P({topic:_,payload:I,position:ne,lagged:y,reconnected:v}),y=0,v=!1}else A===4?j&&c&&u||(y+=U(M,10)):w&&(q(M)?R(un(
M)):x())},down(T,w){if(T===a){if(n===void 0||!u&&!J)return R(w);if(u)if(Q>0)for(let[A,M]of N)B.set(A,M);else B=s?new Map:N,H=s?mt.now:mt.oldest,te=!s;N=new Map,
u=!1,J=!0,ae()}}}),h(j?6:t)})}};var Lt="frisbee.1";function fn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[Lt,...t]);return r.binaryType="arraybuffer",r.onopen=()=>{r.protocol===Lt?o.open():r.close()},
r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.onclose=({code:i,reason:a})=>{o.close(`the WebSocket w\
as closed (${i}${a&&`, ${a}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Pt=(e,t={})=>new ft(fn(e,t),t);var de={BUY:0,SELL:1},Dt=ye("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[pn,pn,nr]),nr=ye("exchange.Deal","number:u side:e price:u amount:\
u",()=>[de]),mn=ye("exchange.Inquiry","side:e amount:u",()=>[de]),pn=ye("exchange.Level","price:u amount:u"),rr=ye("exchange.Nothing",""),yn=ye("exchange.Offer",
"price:u called:u answered:u"),or=ye("exchange.Order","number:u side:e price:u amount:u",()=>[de]),ir=ye("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[de]),Ce=st("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:rr,reply:Dt},trade:{operation:11,request:or,reply:ir,sends:!0,receives:!0},
inquire:{operation:12,request:mn,reply:yn}}),yt=class{constructor(t){this.channel=t,t.name(Ce)}look(t,n){return this.channel.unary(Ce,Ce.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Ce,Ce.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Ce,Ce.methods.inquire,t,n)}},hn=st("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:mn,reply:yn}});var $t=240,wn=8,se=e=>document.getElementById(e),ie=(e,t)=>void(se(e).textContent=t),he=e=>(e/100).toFixed(2),ht=e=>e===de.BUY?"buy":"sell";function oe(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function sr(e,t){let n=se(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>wn;)n.lastElementChild?.remove()}var Ke=new Map,bn=0,gn=0,xn=()=>{},_t=[];async function*ar(){for(;;){let e=_t.shift();
e?yield e:await new Promise(t=>xn=t)}}function lr({number:e,amount:t,price:n,left:o}){let r=Ke.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===de.BUY?
1:-1;bn+=i*t,gn-=i*t*n,ie("held",String(bn)),ie("cash",he(gn));let a=[...Ke.values()].reverse().slice(0,wn).map(({order:d,done:f,left:m})=>oe("tr",[oe("td",`${ht(
d.side)} ${d.amount}`,ht(d.side)),oe("td",he(d.price)),oe("td",String(f)),oe("td",String(m))]));se("orders").replaceChildren(...a)}se("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?de.SELL:de.BUY,o={number:Ke.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ke.set(o.number,{order:o,done:0,left:o.amount}),_t.push(o),xn()});var Fe=0,Bt=0,_e,ve=[];function vn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));se(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,oe("li",[i,oe("span",he(o)),oe("span",String(r))])}))}function dr(e){for(let{number:o,price:r}of[...e].reverse())o>Bt&&ve.push(r);ve.splice(0,ve.length-$t);let[
t]=e;if(!t||t.number===Bt)return;Bt=t.number;let n=t.price-Fe;Fe&&n&&(ie("change",`${n>0?"▲":"▼"} ${he(Math.abs(n))}`),se("change").dataset.side=n>0?"buy":"\
sell"),Fe=t.price,ie("last",he(Fe)),se("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>oe("li",[oe("span",o===de.BUY?"bought":"sold",ht(o)),oe("s\
pan",he(r)),oe("span",String(i))]))),Ft()}function Sn({bids:e,asks:t,deals:n,traders:o,orders:r}){vn("asks",t),vn("bids",e),t[0]&&e[0]&&ie("spread",`${he(t[0].price-
e[0].price)} apart`),ie("traders",String(o));let i=performance.now();(!_e||i-_e.at>1e3)&&(_e&&ie("rate",((r-_e.orders)/((i-_e.at)/1e3)).toFixed(0)),_e={orders:r,
at:i}),dr(n)}function Ft(){let e=se("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||ve.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=se("state"),d=Math.min(...ve)-2,f=Math.max(...ve)+2,m=n-56,b=E=>E/($t-1)*m,y=E=>(f-E)/(f-d)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let E=0;E<5;E++){let S=d+(f-d)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,y(S)),t.lineTo(m,y(S)),t.stroke(),t.globalAlpha=1,t.fillText(he(S),m+8,y(S)+4)}let v=$t-ve.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ve.
forEach((E,S)=>t.lineTo(b(v+S),y(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(b(v),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Ft);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Ft);var cr=Rt(hn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(se("margin").value)*100),o=Fe&&Fe+
(e===de.BUY?n:-n);return sr("asked",oe("li",`${ht(e)} ${t}? You said ${he(o)}.`)),{price:o}}}),{hostname:ur}=location,An=Pt(`ws://${ur}:${document.documentElement.
dataset.port}/`,{serve:cr,stayConnected:!0}),bt=new yt(An),fr=new Ge(An);se("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await bt.inquire({side:de.BUY,amount:10}),a=(performance.now()-n).toFixed(0);ie(
"offer",o?`${he(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){ie("offer",k.from(n).message)}t.disabled=!1});async function pr(){
for(;;){try{let e=await fr.subscribe("exchange.book"),t=bt.trade(ar()),n=(async()=>{for await(let r of t)lr(r)})();se("state").dataset.is="open",ie("state","con\
nected"),Sn(await bt.look({}));let o=(async()=>{for await(let{payload:r}of e)Sn(xt(Dt,r))})();await Promise.race([n,o])}catch(e){se("state").dataset.is="failed",
ie("state",k.from(e).message)}_t.length=0;for(let e of Ke.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}pr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await bt.look({},{timeout:5e3}),ie("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ie("ping","–")}},2e3);
