var hn=new TextEncoder,gn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Bt=40,ge=class extends Error{},R=e=>{throw new ge(e)},_=e=>({bytes:e,at:0,depth:0,memory:0}),
He=(e=64)=>_(new Uint8Array(e)),se=e=>hn.encode(e);function qe(e,t){let{bytes:n,at:r}=e;r+t>n.length&&(e.bytes=new Uint8Array(Math.max(r+t,n.length*2)),e.bytes.
set(n.subarray(0,r)))}function I(e,t){e.at===e.bytes.length&&qe(e,1),e.bytes[e.at++]=t}function $t(e,t){I(e,t>>8),I(e,t)}function U(e,t){for(;t>127;t=Math.floor(
t/128))I(e,t|128);I(e,t)}function j(e,t){qe(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function be(e,t){U(e,t.length),j(e,t)}function ve(e,t){let{at:n}=e,{length:r}=t,
o=r>Bt?128:0;I(e,r);for(let i=0;i<r&&o<128;i++)I(e,o=t.charCodeAt(i));o>127&&(e.at=n,be(e,se(t)))}function ie(e,t,n){I(e,t);let{at:r}=e;n();let o=e.bytes.slice(
r,e.at);return e.at=r,be(e,o),o.length>0}var We=({bytes:e,at:t})=>e.subarray(0,t),F=({bytes:e,at:t})=>e.length-t,Se=({bytes:e,at:t})=>e[t],W=e=>e.bytes[e.at++]??
R("it is cut off");function ae(e,t){let n=W(e);n!==t&&R(`${n} stands in the place of ${t}`)}function C(e,t=5){let n=0;for(let r=1;t-- >0;r*=128){let o=W(e);if(o<
128)return n+o*r;n+=(o-128)*r}return R("a number is too long")}function pe(e,t=C(e)){return t>F(e)&&R("it is cut off"),e.bytes.subarray(e.at,e.at+=t)}var we=({bytes:e,
at:t})=>e.slice(t);function z(e,t=C(e)){let{bytes:n,at:r}=e,o="",i=0;if(t<=Bt)for(let a;i<t&&(a=n[r+i])<128;i++)o+=String.fromCharCode(a);if(i<t){let a=pe(e,t);
try{return gn.decode(a)}catch{R("a text is not UTF-8")}}return e.at+=t,o}var E=class e extends Error{constructor(n,r,o){super(r,o);this.name="Status";Object.assign(this,{details:new Uint8Array,metadata:{},mayHaveRun:!0,...o,code:n})}static from(n){
return n instanceof e?n:new e(2,n instanceof Error?n.message:String(n),{cause:n})}};var $=(e,t)=>new E(e,t,{mayHaveRun:!1}),Xe=e=>e>0&&e<=16?e:2,De=(e,t,n)=>new E(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Me=e=>De(1,"the caller gave the call up",e),
Ge=e=>De(4,"no answer before the deadline",e);var ze=100,bn=64<<20,vn=12,ft=8,pt=56,ct=new Uint8Array(8),Pt=new DataView(ct.buffer);function le(e,t,n){let r;return{name:e,fields:()=>r??=Sn(t,n?.()??[])}}var mt=(e,t)=>Ae(_(t),e,0);function Ie(e,t,n){e.depth=ze,Ht(e,t,n)}function Ae(e,t,n){return e.depth=ze,e.memory=Math.max(bn,F(e)*vn),qt(e,t,n)??Wt(e,t)}function Sn(e,t){
let n={},r=0;return[...e.matchAll(/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)\b/g)].map(o=>{let[,i,a,u,c,f,b]=o,h=b==="m"?An(t[r++]):b==="e"?En(t[r++]):Ft[b],w=Ft[f],
A=w?[2,w.wire,h.wire,10]:c==="*"?[1,h.wire,10]:void 0,S=a?n[a]??=[]:void 0,T={name:a??i,of:h,isOptional:c==="?",key:w,head:A,case:i,number:+u,all:S};return S?.push(
T),T})}var Pe=({head:e,key:t,isOptional:n,of:r})=>t?new Map:e?[]:n?void 0:r.zero();function Ht(e,t,n){if(!e.depth--)throw Vt(t.name,`nests deeper than ${ze}`);I(
e,8),I(e,0);let r="";try{for(let o of t.fields()){let{all:i,name:a}=o,u=n[r=a];if(!i)wn(e,o,u);else if(o===i[0]){I(e,3);let c=u,f=i.find(b=>b.case===c?.case);if(c&&
!f)throw new Error(`has no member ${c.case}`);U(e,f?f.number:0),f&&Be(e,f.of,c?.value)}}}catch(o){throw o instanceof E?o:Vt(`${t.name}.${r}`,o.message)}e.depth++}
function wn(e,t,n){let{head:r,key:o,of:i}=t;if(n===void 0&&(r||t.isOptional)&&(n=Pe(t)),r){let a=n,u=n;for(let c of r)I(e,c);if(U(e,o?a.size:u.length),o)for(let[
c,f]of a)Be(e,o,c),Be(e,i,f);else for(let c of u)Be(e,i,c)}else n===void 0&&t.isOptional?I(e,0):Be(e,i,n)}function Be(e,t,n){t.table||I(e,t.wire),t.put(e,n===void 0?
t.zero():n)}function qt(e,t,n){if(Se(e)===0)return void e.at++;ae(e,8),W(e),e.depth--||R(`${t.name} nests deeper than ${ze}`);let r=t.fields();yt(e,pt+ft*r.length);
let o={},i="";for(let a of r){let{name:u,all:c,of:f}=a,b=c&&c[0]===a;if(b&&(o[u]=void 0),n>0&&!F(e))n--,c||(o[u]=Pe(a));else if(!c)o[u]=xn(e,a);else if(b&&Se(e)===
3){e.at++,i+=` ${u} `;let h=C(e),w=c.find(A=>A.number===h);w?o[u]={case:w.case,value:ut(e,w.of)}:h&&R(`${t.name}.${u} has no member ${h}`)}else if(!i.includes(`\
 ${u} `)){let h=je(e,f);(h instanceof Uint8Array?h.length:!Object.is(h,f.zero()))&&(o[u]={case:a.case,value:h})}}return e.depth++,o}function xn(e,t){let{head:n,
key:r,of:o}=t;if((r||t.isOptional)&&Se(e)===0)return e.at++,Pe(t);if(!n)return je(e,o);for(let u of n)ae(e,u);let i=C(e),a=Pe(t);for(;i-- >0;)yt(e,r?pt:ft),r?a.
set(je(e,r),ut(e,o)):a.push(ut(e,o));return a}function je(e,{wire:t,table:n,take:r}){return n||ae(e,t),r(e)}var ut=(e,t)=>je(e,t)??Wt(e,t.table);function Wt(e,t){
let n={},r=t.fields();yt(e,pt+ft*r.length);for(let o of r)n[o.name]=o.all?void 0:Pe(o);return n}function yt(e,t){(e.memory-=t)<0&&R("it takes too much memory")}
var ue=(e,t,n,r,o)=>({wire:e,zero:t,put:n,take:r,table:o}),An=e=>ue(3,()=>{},(t,n)=>n?Ht(t,e,n):I(t,0),t=>qt(t,e,0),e);function En(e){let t=Object.values(e);return ue(
10,()=>t[0],(n,r)=>{let o=t.indexOf(r),i=r+2147483648;$e(o>=0||r===(r|0)&&r<0&&i>=t.length,r),U(n,o<0?i:o)},n=>{let r=C(n)>>>0,o=r-2147483648;return r>=t.length&&
(o>=0||t.includes(o))&&R(`an enum has the index ${r}`),t[r]??o})}var Ke=(e,t)=>ue(e?13:11,()=>t?0:0n,(n,r)=>{let o=BigInt(r),i=Number(o),a=e?i<0?-2*i-1:2*i:i;if(Number.
isSafeInteger(a)&&a>=0)return U(n,a);$e((e?BigInt.asIntN:BigInt.asUintN)(64,o)===o,r);let u=e?o<<1n^o>>63n:o;for(;u>>53n;u>>=7n)I(n,Number(u&127n)|128);U(n,Number(
u))},n=>{let{at:r}=n,o=C(n,10);if(o<=Number.MAX_SAFE_INTEGER)e&&(o=o%2?(o+1)/-2:o/2);else{let i=0n;for(let a=0n;r<n.at;a+=7n)i|=BigInt(n.bytes[r++]&127)<<a;i=BigInt.
asUintN(64,i),o=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(o))||R("an integer is beyond 2^53"),Number(o)):BigInt(o)}),_t=(e,t)=>ue(e,()=>0,(n,r)=>{
Pt[t>4?"setFloat64":"setFloat32"](0,r);for(let o=0;o<t;o++)I(n,ct[o])},n=>{for(let r=0;r<t;r++)ct[r]=W(n);return Pt[t>4?"getFloat64":"getFloat32"](0)}),Ft={b:ue(
7,()=>!1,(e,t)=>I(e,+t),e=>{let t=W(e);return t>1&&R(`a bool is ${t}`),t>0}),i:ue(12,()=>0,(e,t)=>{$e(t===(t|0),t),U(e,(t<<1^t>>31)>>>0)},e=>{let t=C(e);return t>>>
1^-(t&1)}),u:ue(10,()=>0,(e,t)=>{$e(t===t>>>0,t),U(e,t)},e=>C(e)>>>0),l:Ke(!0,!1),w:Ke(!1,!1),L:Ke(!0,!0),W:Ke(!1,!0),f:_t(14,4),d:_t(15,8),s:ue(5,()=>"",(e,t)=>{
$e(typeof t=="string",t),I(e,10),ve(e,t)},e=>(ae(e,10),z(e))),y:ue(4,()=>new Uint8Array,(e,t)=>{I(e,10),be(e,t)},e=>(ae(e,10),pe(e).slice()))},Vt=(e,t)=>$(3,`${e}\
 ${t}`);function $e(e,t){if(!e)throw new Error(`cannot be ${String(t)}`)}var gt=16,Xt=65536,Gt=256,Tn=61440,kn={metadata:{}},ht=e=>e.endsWith("-bin"),Kt=(e,t)=>ht(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${ht(
e)?"":t}`),bt=e=>typeof e=="string"?se(e):e;function _e(e,{isBackward:t,timeout:n,metadata:r={},status:o}){let{at:i}=e;ie(e,gt,()=>{t&&ie(e,4,()=>{}),n!==void 0&&
ie(e,1,()=>U(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let u=0;if(Object.entries(r).forEach(([c,f],b)=>{if(!Kt(c,f))throw $(3,`metadat\
a breaks the rules: ${c}`);if(u+=c.length+f.length+8,b>=Gt||u>Tn)throw $(8,"too much metadata");ie(e,2,()=>{ve(e,c),j(e,bt(f))})}),o){let{code:c,details:f,mayHaveRun:b}=o;
ie(e,3,()=>{U(e,c),e.at-i+f.length+32<=Xt&&j(e,f)}),b||ie(e,5,()=>{})}})||(e.at=i)}function Ue(e){if(Se(e)!==gt)return kn;e.at++;let t=_(pe(e));F(t)>Xt&&R("a pr\
efix is too long");let n=Object.create(null),r={metadata:n},o=0;for(;F(t);){let i=W(t),a=_(pe(t));if(i===1)r.timeout=C(a,10)/1e3;else if(i===2){let u=z(a),c=ht(
u)?we(a):z(a,F(a));(!Kt(u,c)||++o>Gt)&&R("metadata breaks the rules"),n[u]=c}else i===3?(r.code=Xe(C(a,10)),r.details=we(a)):i===5&&(r.isRefused=!0)}return r}function jt(e){
let t=1;for(;e[t]>127;)t++;return e[0]===gt&&e[t+1]===4&&e[t+2]===0}function Ye(e,{metadata:t,code:n,details:r,isRefused:o}){if(Se(e)===6)return e.at++,ae(e,5),
ae(e,10),new E(n??2,z(e),{metadata:t,mayHaveRun:!o,...r&&{details:r}})}function Je(e,t,n){_e(e,{isBackward:n,status:t,metadata:t.metadata}),j(e,[6,5,10]),ve(e,t.
message)}var Qe=(e,t,n,r)=>({name:e,fingerprint:t,compatible:n,methods:r,operations:Object.values(r).map(({operation:o})=>o)});function Ze(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw $(9,`incompatibl\
e layouts of ${e.name}`);return 1}var et=({added:e=[0,0]},t,n)=>t*e[n];function vt(e,t){let n=o=>o.match(/../g)?.forEach(i=>I(e,parseInt(i,16)));ve(e,t.name),n(
t.fingerprint),U(e,t.compatible.length),t.compatible.forEach(n);let r=0;for(let o of[...t.operations].sort((i,a)=>i-a))U(e,o-r),r=o}function zt(e){let t=()=>{let r="";
for(;r.length<16;)r+=W(e).toString(16).padStart(2,"0");return r},n={service:z(e),fingerprint:t(),compatible:[],operations:[]};for(let r=C(e);r>0;r--)n.compatible.
push(t());for(let r=0;F(e);)n.operations.push(r+=C(e));return n}var St=5<<20,Cn=1024,Mn=65536,Oe=10,Ee=16384,In=Ee/2,wt=256,tt=262144,Un=1e5,On=64<<20,Nn=65536,Rn=2e3,Ln=5,Dn=1e4,Yt="the server is going away",Bn=2147483647,Ne=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Bn));function Qt(e,t,n,r,o){let i=He(16384),a=new Map,u=new Map,c=new Map,f=[],b=0,h=0,w=0,A=0,S=0,T=32767,k=[0,St,1/0,Ee,0],x=!1,V=!1,
L,N=Oe,H=0,B=!1,D=0,X=!1,P=!1,G=0,ne,re=()=>{i.at&&(X=!1,P=!0,x||dt.send(We(i)),i.at=D=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),dt.buffered()>On&&
he("the server does not take what is sent"))},l=()=>{i.at!==D?(D=i.at,queueMicrotask(l)):(B=!1,re())},s=(d,p,g,O)=>{let{at:ke}=i;try{qe(i,Oe),i.at+=Oe,g?.(i,O);
let ee=i.at,Ce=ee-ke-Oe,Dt=Math.max(k[1],Cn);if(Ce>Dt)throw $(8,`the message has ${Ce} bytes, and the server accepts ${Dt}`);i.at=ke;for(let yn of[15,d,p,Ce>>>16,
Ce])$t(i,yn);i.at=ee}catch(ee){throw i.at=ke,ee}i.at>Nn?re():B||(B=!0,D=0,queueMicrotask(l))},m=(d,{code:p,message:g})=>s(d,7,O=>{U(O,p),j(O,se(g.slice(0,256)))}),
y=(d,p)=>{s(d,5,U,0),m(d,p)},v=d=>{if(!x){if(G=0,L){if(j(L,d),L.at<N)return;d=We(L),L=void 0}try{let p=0,g=O=>d[p+O]<<8|d[p+O+1];for(;!x&&!(d.length<(N=p+Oe));p=
N){g(0)!==15&&R("a header without its magic");let O=g(6)*65536+g(8);if(O>St&&R(`a packet of ${O} bytes`),d.length<(N+=O))break;M(g(2),g(4),d.subarray(p+Oe,N))}p<
d.length&&(N-=p,j(L=He(),d.subarray(p)))}catch(p){he(`the server broke the protocol: ${p.message}`)}}},M=(d,p,g)=>{let O=_(g),ke=a.get(d);if(p>=10)if(q.isUp||R(
"a packet before HELLO"),jt(g)){if(fe)return fe.packet(d,p,g,!1)}else{let ee=f[d%Ee];if(ee?.id===d&&ee.operation===p)return ce(d),ee.isGivenUp?h--:t.replied(ee,
g),K();if(p>=65280&&o.length)return o.forEach(Ce=>Ce.packet(q,d,p,g))}else if(p<2){g.length&&R("a PING or PONG with a body"),p===1?q.isUp||he("the server is a p\
lain peer"):X||(X=!0,s(0,1));return}else{if(p===3&&!q.isUp)return Z(O);if(p===4)return oe();if(p===6)return fe?.cancel(d,C(O));if(p===8)R("an answer to no hand-\
off");else{if(ke&&p!==3&&p<8)return ke.packet(p,g);if(p===2){let ee=d-T&32767;if(d>=32768&&ee&&ee<=16384)return T=d,fe?fe.packet(d,2,g,!0):y(d,$(12,"this end se\
rves nothing"))}}}++H>Un&&he("too many packets that belong to nothing")},Z=d=>{for((F(d)>Mn||z(d,4)!=="fris"||!W(d))&&R("it sent no HELLO");F(d);){let p=W(d),g=_(
pe(d));if(p in k)k[p]=C(g);else if(p===32||p===33)try{let O=zt(g);(p===32?u:c).set(O.service,O)}catch{}}k[3]=Math.min(k[3],Ee),q.isUp=!0,clearTimeout(Lt),t.room(
q)},ce=d=>{f[d%Ee]=void 0,b--===k[3]&&t.room(q)},ye=(d,p,g)=>{a.set(p,d),d.begin(q,p,k[4],g)},K=()=>{V&&b===h&&!a.size&&!fe?.progress.size&&queueMicrotask(()=>he(
Yt))},oe=()=>{V||(V=!0,t.left(q,Yt),K())},he=d=>{x||(re(),dt.close(),Rt(d))},Rt=d=>{if(x)return;x=!0,clearInterval(ne),clearTimeout(Lt),t.left(q,d),q.isUp=!1;let p=new E(
14,`the connection was lost: ${d}`);for(let g of f)g&&!g.isGivenUp&&t.lost(g,p);for(let g of a.values())g.lost(p);fe?.down(p);for(let g of o)g.down(q,p)},q={isUp:!1,
write:s,reset:m,refuse:y,fits(d){let p=u.get(d.name);if(p)return p.fingerprint===d.fingerprint||n.includes(d)?Ze(d,p):void 0;for(let g of u.values())if(g.operations.
some(O=>d.operations.includes(O)))throw $(12,`the server has ${g.service} in the place of ${d.name}`);return 0},call(d,p){if(b>=k[3])return!1;do w=w+1&65535;while(f[w%
Ee]);let g=d.id=w;f[g%Ee]=d,b++;try{s(g,d.operation,p,d)}catch(O){throw ce(g),O}return!0},cancel(d){x||(d.isGivenUp=!0,s(d.id,6,U,d.operation),++h>=In&&oe(),K())},
open(d,p,g){if(!k[2])throw $(12,"the server does not accept streams");if(A>=Math.min(k[2],28672))return!1;do S=S%32767+1;while(a.has(S));return A++,ye(d,S,p),s(
S,2,g),!0},accept:ye,over(d){a.delete(d),d<32768&&(A--,t.room(q)),K()},leave:oe,closeIfIdle:K},fe=r?.on(q,c),Lt=Ne(Dn,()=>he("no HELLO in time")),dt=e({open(){s(
0,3,d=>{j(d,se("fris"));let p=fe?wt:0;[St,p,p,tt].forEach((g,O)=>ie(d,O+1,()=>U(d,g)));for(let g of r?.services??[])ie(d,32,()=>vt(d,g));for(let g of n)ie(d,33,
()=>vt(d,g))}),s(1,0),re(),ne=setInterval(()=>{if(++G>Ln)return he("the server is silent");(G>1||!P)&&s(0,0),P=!1;let d=performance.now();for(let p of f)p&&p.until<=
d&&!p.isGivenUp&&t.look(p)},Rn)},data:v,close:Rt});return q}function nt(e,t){let n=[],r=!1,o=()=>{},i=c=>{r||=c,o()},a=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let f=e(c);f!==void 0&&(yield f)}else if(r){
if(r!==!0)throw r;return}else await new Promise(f=>o=f)}}finally{t()}})(),{return:u}=a;return a.return=()=>(t(),n.length=0,i(!0),u.call(a,void 0)),{messages:a,items:n,
put:c=>{n.push(c),o()},end:i}}var xt=64,$n=4,Pn=4096,At=(e,t)=>e instanceof ge?new E(13,`not a valid ${t.name}: ${e.message}`):E.from(e);function rt(e,t,n,r,o){let i,a=0,u=0,c=0,f=0,b=0,h=!0,
w=!0,A=!1,S=!1,T=()=>{},k,x=()=>!h&&!w,{messages:V,items:L,put:N,end:H}=nt(s=>{let m=s.length+xt;f-=m,b+=m,w&&b*$n>=tt&&(i?.write(a,5,U,b),b=0);try{let y=_(s),v=Ue(
y);if(y.at&&(o?.(B.metadata=v.metadata),!F(y)))return;let M=Ye(y,v);if(M)throw M;return Ae(y,t,u)}catch(y){throw At(y,t)}},()=>n?G(!0):re()),B=Object.assign(V,{
metadata:{}}),D=()=>{x()&&(T(),k?.(),i?.over(a),i=k=void 0,r())},X=()=>{h&&(h=!1,i?.write(a,7),D())},P=s=>{h=w=!1,H(s),D()},G=(s,m=Me(!0))=>{x()||i?.reset(a,m),
L.length=0,P(s)},ne=s=>G(s,s),re=()=>{L.length=0,A=!0},l=s=>{if(!i||!h)return;let m=s instanceof E;i.write(a,2,y=>{let{at:v}=y;m?Je(y,s,!1):Ie(y,e,s),c-=y.at-v+
xt}),m&&X()};return{messages:B,begin(s,m,y,v){i=s,a=m,c=y,u=v},packet(s,m){if(s===2)return!w||A?void 0:f+b>=tt?ne(new E(8,"the peer sent more than it had credit\
 for")):(f+=m.length+xt,N(new Uint8Array(m)));let y=_(m);if(s===5){let v=C(y,10);S||=!v,(c+=v)>0&&T()}else if(m.length){let v=Xe(C(y));P(new E(v,new TextDecoder().
decode(we(y).subarray(0,Pn)),{mayHaveRun:!S}))}else w=!1,H(!0),D()},send:l,async pump(s){try{let m=Symbol.asyncIterator in s?s[Symbol.asyncIterator]():s[Symbol.
iterator]();for(k=()=>m.return?.();;){for(;c<=0&&!x();)await new Promise(M=>T=M);if(x())return;let{done:y,value:v}=await m.next();if(x())return;if(y)break;l(v)}
k=void 0,X()}catch(m){let y=E.from(m);n?G(y):l(y)}},finish:X,discard:re,fail:ne,lost:P}}var _n=3e4,Fn=5e3,Vn=20,Zt=2e3,en=10,ot=class{constructor(t,{timeout:n,patience:r=Fn,metadata:o,serve:i,stayConnected:a}={}){let u,c=0,f=en,b=0,h,w=!1,A="",S=new Set,
T=new Set,k=[],x=()=>{u||h||w||!(S.size||a)||(b=performance.now(),u=Qt(t,V,[...T],i,k))},V={room:l=>queueMicrotask(()=>{for(let s of S){if(u!==l||!L(s,l))return;
S.delete(s)}}),left(l,s){u===l&&(u=void 0,l.isUp&&performance.now()-b>=Zt?c=0:(A=s,clearTimeout(h),h=Ne(Math.random()*Math.min(Vn*2**Math.min(c++,16),Zt),()=>{h=
void 0,x()})),x())},replied(l,s){let m=l,{method:{reply:y},options:{onMetadata:v}}=m;B(m);try{let M=_(s),Z=Ue(M),ce=Ye(M,Z);if(ce)throw ce;M.at&&v?.(Z.metadata),
m.resolve(Ae(M,y,m.missing)),f<en&&(f+=.1)}catch(M){m.reject(At(M,y))}},look:l=>H(l),lost(l,s){let m=l;if(m.link=void 0,!m.method.idempotent||f<1)return D(m,s);
f--,N(m)}},L=(l,s)=>{let{service:m,method:y}=l;try{let v=m?s.fits(m):0;return v!==void 0?(l.missing=et(y,v,1),l.start(l,s)&&(l.isSent=!0)):(T.add(m),c=0,s.leave(),
!1)}catch(v){return D(l,E.from(v)),!0}},N=l=>{if(!(u?.isUp&&L(l,u))){if(w)return D(l,tn());l.patient=performance.now()+r,S.add(l),H(l),x()}},H=l=>{let{until:s,isSent:m,
patient:y}=l,v=performance.now();clearTimeout(l.timer),v>=s?D(l,Ge(m)):v>=y&&S.has(l)&&!u?.isUp?D(l,De(14,`there is no connection to the server${A&&`; ${A}`}`,m)):
l.timer=Ne((v<y?Math.min(s,y):s)-v,()=>H(l))},B=l=>{S.delete(l),clearTimeout(l.timer),l.options.signal?.removeEventListener("abort",l.abort)},D=(l,s)=>{B(l),l.link?.
cancel(l),l.reject(s)},X=(l,{told:s,until:m,options:{metadata:y}})=>{(s!==void 0||o||y)&&_e(l,{timeout:s&&m-performance.now(),metadata:{...o,...y}})},P=(l,s)=>{
X(l,s),Ie(l,s.method.request,s.request)},G=(l,s)=>{let m=s.call(l,P);return m&&(l.link=s),m},ne=(l,s,m,y,v,M,Z,ce,ye=1/0)=>{let{signal:K}=y,oe={id:0,operation:s.
operation,until:performance.now()+(v??ye),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:l,method:s,request:m,options:y,told:v,start:M,
resolve:Z,reject:ce,abort:K&&(()=>D(oe,Me(oe.isSent)))};return K?.aborted?oe.abort?.():(K?.addEventListener("abort",oe.abort),v!==void 0&&H(oe),(v===void 0||v>0)&&
N(oe)),oe},re=(l,s,m,y={})=>{let v,M=rt(s.request,s.reply,!0,()=>v&&B(v),y.onMetadata);return v=ne(l,s,m,y,y.timeout,(Z,ce)=>{let ye=ce.open(M,Z.missing,K=>{X(K,
Z),I(K,9),U(K,Z.operation)});return ye&&M.pump(m),ye},()=>{},M.fail),M};this.unary=(l,s,m,y={})=>new Promise((v,M)=>void ne(l,s,m,y,y.timeout??n,G,v,M,_n)),this.
serverStreaming=(l,s,m,y)=>re(l,s,[m],y).messages,this.twoWay=(l,s,m,y)=>re(l,s,m,y).messages,this.clientStreaming=async(l,s,m,y)=>{let{messages:v}=re(l,s,m,y),
{done:M,value:Z}=await v.next();if(M)throw new E(13,"there is no reply");return v.return?.(),Z},this.name=l=>void T.add(l),this.mount=l=>void k.push(l),this.connected=
()=>new Promise((l,s)=>{ne(void 0,{},void 0,{},void 0,(m,y)=>(B(m),l(y),!0),l,s)}),this.close=()=>{w=!0,clearTimeout(h);for(let l of S)D(l,tn());u?.leave()},a&&
queueMicrotask(x)}},tn=()=>De(9,"the channel is closed",!1);function Et(e,t,n){let r=new Map(n?.methods);for(let[o,i]of Object.entries(e.methods))r.set(i.operation,{service:e,method:i,handler:(a,u)=>t[o]?.(a,u)});return{
services:[...n?.services??[],e],methods:r,on(o,i){let a=new Map,u=(c,f)=>{let b=r.get(c);if(!b||!(b.method.sends||b.method.receives)===f)throw $(12,`there is no\
 operation ${c} here`);if(a.size>=wt)throw $(8,"too many calls are in progress");let{service:h,method:w}=b,A=i.get(h.name);return{...b,left:et(w,A?Ze(h,A):0,0)}};
return{progress:a,packet(c,f,b,h){let w,A=S=>o.write(c,f,T=>{S instanceof E?Je(T,S,!0):(_e(T,{isBackward:!0}),Ie(T,w.reply,S))});try{let S=_(b),{timeout:T,metadata:k}=Ue(
S);h&&(ae(S,9),f=C(S,3));let x=u(f,h);({method:w}=x);let V=h||Ae(S,w.request,x.left),L=h?c+65536:c,N=new AbortController,H=P=>{clearTimeout(X),P||N.abort(),a.delete(
L),o.closeIfIdle()},B=h?rt(w.reply,w.request,!1,()=>H(!1)):{send(P){a.has(L)&&(A(P),H(!0))},fail:A,finish(){},discard(){}},D=P=>{B.fail(P),H(!1)},X=T===void 0?void 0:
Ne(T,()=>D(Ge(!0)));a.set(L,{operation:f,stop:D}),h&&o.accept(B,c,x.left),Hn(x,h,V,B,{signal:N.signal,metadata:k})}catch(S){let T=S instanceof ge?$(3,`the reque\
st cannot be read: ${S.message}`):E.from(S);h?o.refuse(c,T):A(T)}},cancel(c,f){let b=a.get(c);b?.operation===f&&b.stop(Me(!0))},down(c){for(let f of a.values())
f.stop(c)}}}}}async function Hn({method:e,handler:t},n,r,o,i){try{if(e.sends)r=o.messages;else if(n){let u=await o.messages.next();if(u.done)throw $(3,"there wa\
s no request");r=u.value}let a=t(r,i);e.receives?await o.pump?.(a):(o.send(await a),o.finish())}catch(a){o.send(E.from(a))}o.discard()}var it=65280,qn=16<<20,Tt=64,Fe=class{constructor(t){this.channel=t;this.asked=new Map;this.last=0;let{asked:n}=this;t.mount({packet(r,o,i,a){for(let[u,c]of n)(!o||
o===u)&&c.packet(r,o,i-it,_(a))},down(r,o){for(let i of n.values())i.down(r,o)}})}subscribe(t,{group:n=""}={}){return this.ask(0,t,n)}async publish(t,n){(await this.
connected()).write(0,it+2,r=>{be(r,se(t)),j(r,bt(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){let t;do t=await this.channel.connected();while(!t.
isUp);return t}async ask(t,n,r=""){let{asked:o}=this,i=await this.connected(),a=this.last=this.last%65535+1;return new Promise((u,c)=>{let f=0,b=0,{items:h,messages:w,
put:A,end:S}=nt(({topic:x,payload:V})=>{let L=b;return f-=V.length+Tt,b=0,{topic:x,payload:V,lagged:L}},()=>{o.delete(a)&&n!==void 0&&i.write(a,it+1)}),T=x=>{o.
delete(a),c(x),S(x)},k=r?[]:n?.split(".")??[];o.set(a,{packet(x,V,L,N){if(x===i)if(L===2){let H=z(N),B=H.split("."),X=(k[k.length-1]===">"?B.length>=k.length:B.
length===k.length)&&k.every((G,ne)=>G===">"||G==="*"||G===B[ne]);if(!V&&!X)return;let P=we(N);for(f+=P.length+Tt;f>qn&&h.length;)f-=h.shift().payload.length+Tt,
b++;A({topic:H,payload:P})}else L===4?b+=C(N,10):V&&(F(N)?T($([8,12,7][W(N)-3]??3,z(N,F(N)))):u(w))},down(x,V){x===i&&T(V)}}),i.write(a,it+t,x=>{n!==void 0&&be(
x,se(n)),j(x,se(r))})})}};var kt="frisbee.1";function nn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{let o=new n(String(e),[kt,...t]);return o.binaryType="arraybuf\
fer",o.onopen=()=>{o.protocol===kt?r.open():o.close()},o.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):o.close()},o.onerror=()=>{},o.
onclose=({code:i,reason:a})=>{r.close(`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>o.send(i),close:()=>o.close(),buffered:()=>o.bufferedAmount}}}var Ct=(e,t={})=>new ot(
nn(e,t),t);var te={BUY:0,SELL:1},Mt=le("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[rn,rn,Xn]),Xn=le("exchange.Deal","number:u side:e price:u amount:\
u",()=>[te]),on=le("exchange.Inquiry","side:e amount:u",()=>[te]),rn=le("exchange.Level","price:u amount:u"),Gn=le("exchange.Nothing",""),an=le("exchange.Offer",
"price:u called:u answered:u"),Kn=le("exchange.Order","number:u side:e price:u amount:u",()=>[te]),jn=le("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[te]),Te=Qe("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:Gn,reply:Mt},trade:{operation:11,request:Kn,reply:jn,sends:!0,receives:!0},
inquire:{operation:12,request:on,reply:an}}),at=class{constructor(t){this.channel=t;t.name(Te)}look(t,n){return this.channel.unary(Te,Te.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Te,Te.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Te,Te.methods.inquire,t,n)}},sn=Qe("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:on,reply:an}});var Ut=240,fn=8,Q=e=>document.getElementById(e),J=(e,t)=>void(Q(e).textContent=t),de=e=>(e/100).toFixed(2),st=e=>e===te.BUY?"buy":"sell";function Y(e,t,n=""){let r=document.
createElement(e);return r.className=n,typeof t=="string"?r.textContent=t:r.append(...t),r}function zn(e,t){let n=Q(e);for(n.querySelector(".empty")?.remove(),n.
prepend(t);n.children.length>fn;)n.lastElementChild?.remove()}var Ve=new Map,ln=0,dn=0,pn=()=>{},Ot=[];async function*Yn(){for(;;){let e=Ot.shift();e?yield e:await new Promise(
t=>pn=t)}}function Jn({number:e,amount:t,price:n,left:r}){let o=Ve.get(e);if(!o)return;o.done+=t,o.left=r;let i=o.order.side===te.BUY?1:-1;ln+=i*t,dn-=i*t*n,J("\
held",String(ln)),J("cash",de(dn));let a=[...Ve.values()].reverse().slice(0,fn).map(({order:u,done:c,left:f})=>Y("tr",[Y("td",`${st(u.side)} ${u.amount}`,st(u.side)),
Y("td",de(u.price)),Y("td",String(c)),Y("td",String(f))]));Q("orders").replaceChildren(...a)}Q("ticket").addEventListener("submit",e=>{e.preventDefault();let t=new FormData(
e.target),n=e.submitter.value==="sell"?te.SELL:te.BUY,r={number:Ve.size+1,side:n,price:Math.round(Number(t.get("price"))*100),amount:Number(t.get("amount"))};Ve.
set(r.number,{order:r,done:0,left:r.amount}),Ot.push(r),pn()});var Le=0,It=0,Re,me=[];function cn(e,t){let n=Math.max(1,...t.map(({amount:r})=>r));Q(e).replaceChildren(
...t.slice(0,10).map(({price:r,amount:o})=>{let i=document.createElement("meter");return i.max=n,i.value=o,Y("li",[i,Y("span",de(r)),Y("span",String(o))])}))}function Qn(e){
for(let{number:r,price:o}of[...e].reverse())r>It&&me.push(o);me.splice(0,me.length-Ut);let[t]=e;if(!t||t.number===It)return;It=t.number;let n=t.price-Le;Le&&n&&
(J("change",`${n>0?"▲":"▼"} ${de(Math.abs(n))}`),Q("change").dataset.side=n>0?"buy":"sell"),Le=t.price,J("last",de(Le)),Q("deals").replaceChildren(...e.map(
({side:r,price:o,amount:i})=>Y("li",[Y("span",r===te.BUY?"bought":"sold",st(r)),Y("span",de(o)),Y("span",String(i))]))),Nt()}function un({bids:e,asks:t,deals:n,
traders:r,orders:o}){cn("asks",t),cn("bids",e),t[0]&&e[0]&&J("spread",`${de(t[0].price-e[0].price)} apart`),J("traders",String(r));let i=performance.now();(!Re||
i-Re.at>1e3)&&(Re&&J("rate",((o-Re.orders)/((i-Re.at)/1e3)).toFixed(0)),Re={orders:o,at:i}),Qn(n)}function Nt(){let e=Q("chart"),t=e.getContext("2d"),{clientWidth:n,
clientHeight:r}=e;if(!t||me.length<2||n===0)return;let o=devicePixelRatio;e.width=n*o,e.height=r*o,t.scale(o,o);let i=getComputedStyle(e),a=Q("state"),u=Math.min(
...me)-2,c=Math.max(...me)+2,f=n-56,b=A=>A/(Ut-1)*f,h=A=>(c-A)/(c-u)*(r-12)+6;t.font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,
t.lineWidth=.5;for(let A=0;A<5;A++){let S=u+(c-u)*A/4;t.globalAlpha=.35,t.beginPath(),t.moveTo(0,h(S)),t.lineTo(f,h(S)),t.stroke(),t.globalAlpha=1,t.fillText(de(
S),f+8,h(S)+4)}let w=Ut-me.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),me.forEach((A,S)=>t.lineTo(b(w+S),h(A))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,
r),t.lineTo(b(w),r),t.globalAlpha=.1,t.fill()}addEventListener("resize",Nt);matchMedia("(prefers-color-scheme: dark)").addEventListener("change",Nt);var Zn=Et(sn,
{quote:({side:e,amount:t})=>{let n=Math.round(Number(Q("margin").value)*100),r=Le&&Le+(e===te.BUY?n:-n);return zn("asked",Y("li",`${st(e)} ${t}? You said ${de(r)}\
.`)),{price:r}}}),{hostname:er}=location,mn=Ct(`ws://${er}:${document.documentElement.dataset.port}/`,{serve:Zn,stayConnected:!0}),lt=new at(mn),tr=new Fe(mn);Q(
"inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector("button");t.disabled=!0;try{let n=performance.now(),{price:r,called:o,
answered:i}=await lt.inquire({side:te.BUY,amount:10}),a=(performance.now()-n).toFixed(0);J("offer",r?`${de(r)} is the best of ${i} of ${o}, after ${a} ms.`:`Non\
e of ${o} had a price.`)}catch(n){J("offer",E.from(n).message)}t.disabled=!1});async function nr(){for(;;){try{let e=await tr.subscribe("exchange.book"),t=lt.trade(
Yn()),n=(async()=>{for await(let o of t)Jn(o)})();Q("state").dataset.is="open",J("state","connected"),un(await lt.look({}));let r=(async()=>{for await(let{payload:o}of e)
un(mt(Mt,o))})();await Promise.race([n,r])}catch(e){Q("state").dataset.is="failed",J("state",E.from(e).message)}Ot.length=0;for(let e of Ve.values())e.left=0;await new Promise(
e=>setTimeout(e,1e3))}}nr();setInterval(async()=>{if(document.hidden)return;let e=performance.now();try{await lt.look({},{timeout:5e3}),J("ping",`${(performance.
now()-e).toFixed(1)} ms`)}catch{J("ping","–")}},2e3);
