var Sn=new TextEncoder,wn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),_t=40,ge=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
R=e=>{throw new ge(e)},_=e=>({bytes:e,at:0,depth:0,memory:0}),qe=(e=64)=>_(new Uint8Array(e)),se=e=>Sn.encode(e);function We(e,t){let{bytes:n,at:o}=e;o+t>n.length&&
(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function I(e,t){e.at===e.bytes.length&&We(e,1),e.bytes[e.at++]=t}function Ft(e,t){
I(e,t>>8),I(e,t)}function U(e,t){for(;t>127;t=Math.floor(t/128))I(e,t|128);I(e,t)}function j(e,t){We(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function be(e,t){
U(e,t.length),j(e,t)}function ve(e,t){let{at:n}=e,{length:o}=t,r=o>_t?128:0;I(e,o);for(let i=0;i<o&&r<128;i++)I(e,r=t.charCodeAt(i));r>127&&(e.at=n,be(e,se(t)))}
function ie(e,t,n){I(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,be(e,r),r.length>0}var Xe=({bytes:e,at:t})=>e.subarray(0,t),F=({bytes:e,at:t})=>e.
length-t,Se=({bytes:e,at:t})=>e[t],W=e=>e.bytes[e.at++]??R("it is cut off");function ae(e,t){let n=W(e);n!==t&&R(`${n} stands in the place of ${t}`)}function M(e,t=5){
let n=0;for(let o=1;t-- >0;o*=128){let r=W(e);if(r<128)return n+r*o;n+=(r-128)*o}return R("a number is too long")}function pe(e,t=M(e)){return t>F(e)&&R("it is \
cut off"),e.bytes.subarray(e.at,e.at+=t)}var we=({bytes:e,at:t})=>e.slice(t);function z(e,t=M(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=_t)for(let a;i<t&&(a=n[o+i])<
128;i++)r+=String.fromCharCode(a);if(i<t){let a=pe(e,t);try{return wn.decode(a)}catch{R("a text is not UTF-8")}}return e.at+=t,r}var T=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:c=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:c,code:n})}static from(n){return n instanceof e?n:new e(2,ct(n),{cause:n})}};var ct=e=>e instanceof Error?e.message:String(e),$=(e,t)=>new T(e,t,{mayHaveRun:!1}),Ge=e=>e>0&&e<=16?e:2,Be=(e,t,n)=>new T(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),
Me=e=>Be(1,"the caller gave the call up",e),Ke=(e,t="")=>Be(4,`no answer before the deadline${t}`,e);var Ye=100,xn=64<<20,An=12,pt=8,mt=56,ut=new Uint8Array(8),Vt=new DataView(ut.buffer);function le(e,t,n){let o;return{name:e,fields:()=>o??=En(t,n?.()??[])}}var yt=(e,t)=>Ae(_(t),e,0);function Ie(e,t,n){e.depth=Ye,Xt(e,t,n)}function Ae(e,t,n){return e.depth=Ye,e.memory=Math.max(xn,F(e)*An),Gt(e,t,n)??Kt(e,t)}function En(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,c,u,f,b]=i,h=b==="m"?Cn(t[o++]):b==="e"?Mn(t[o++]):qt[b],w=qt[f[1]??""],A=w?[2,w.wire,h.wire,10]:f==="*"?[1,h.wire,10]:void 0,v=c?n.get(c):void 0;
c&&!v&&n.set(c,v=[]);let k={name:c??a,of:h,isOptional:f==="?",key:w,head:A,case:a,number:+u,all:v};return v?.push(k),k})}var _e=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Xt(e,t,n){if(!e.depth--)throw Wt(t.name,`nests deeper than ${Ye}`);I(e,8),I(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,c=n[o=a];if(!i)Tn(e,r,c);else if(r===i[0]){I(e,3);let u=c,f=i.find(b=>b.case===u?.case);if(u&&!f)throw new Error(`has no member ${u.case}`);U(e,
f?f.number:0),f&&$e(e,f.of,u?.value)}}}catch(r){throw r instanceof T?r:Wt(`${t.name}.${o}`,r.message)}e.depth++}function Tn(e,t,n){let{head:o,key:r,of:i}=t;if(n===
void 0&&(o||t.isOptional)&&(n=_e(t)),o){let a=n,c=n;for(let u of o)I(e,u);if(U(e,r?a.size:c.length),r)for(let[u,f]of a)$e(e,r,u),$e(e,i,f);else for(let u of c)$e(
e,i,u)}else n===void 0&&t.isOptional?I(e,0):$e(e,i,n)}function $e(e,t,n){t.table||I(e,t.wire),t.put(e,n===void 0?t.zero():n)}function Gt(e,t,n){if(Se(e)===0)return void e.
at++;ae(e,8),W(e),e.depth--||R(`${t.name} nests deeper than ${Ye}`);let o=t.fields();ht(e,mt+pt*o.length);let r={},i="";for(let a of o){let{name:c,all:u,of:f}=a,
b=u&&u[0]===a;if(b&&(r[c]=void 0),n>0&&!F(e))n--,u||(r[c]=_e(a));else if(!u)r[c]=kn(e,a);else if(b&&Se(e)===3){e.at++,i+=` ${c} `;let h=M(e),w=u.find(A=>A.number===
h);w?r[c]={case:w.case,value:ft(e,w.of)}:h&&R(`${t.name}.${c} has no member ${h}`)}else if(!i.includes(` ${c} `)){let h=ze(e,f);(h instanceof Uint8Array?h.length:
!Object.is(h,f.zero()))&&(r[c]={case:a.case,value:h})}}return e.depth++,r}function kn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Se(e)===0)return e.at++,
_e(t);if(!n)return ze(e,r);for(let c of n)ae(e,c);let i=M(e),a=_e(t);for(;i-- >0;)ht(e,o?mt:pt),o?a.set(ze(e,o),ft(e,r)):a.push(ft(e,r));return a}function ze(e,{
wire:t,table:n,take:o}){return n||ae(e,t),o(e)}var ft=(e,t)=>ze(e,t)??Kt(e,t.table);function Kt(e,t){let n={},o=t.fields();ht(e,mt+pt*o.length);for(let r of o)n[r.
name]=r.all?void 0:_e(r);return n}function ht(e,t){(e.memory-=t)<0&&R("it takes too much memory")}var ue=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Cn=e=>ue(
3,()=>{},(t,n)=>n?Xt(t,e,n):I(t,0),t=>Gt(t,e,0),e);function Mn(e){let t=Object.values(e);return ue(10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;Pe(r>=0||
o===(o|0)&&o<0&&i>=t.length,o),U(n,r<0?i:r)},n=>{let o=M(n)>>>0,r=o-2147483648;return o>=t.length&&(r>=0||t.includes(r))&&R(`an enum has the index ${o}`),t[o]??
r})}var je=(e,t)=>ue(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(a)&&a>=0)return U(n,a);Pe((e?BigInt.asIntN:
BigInt.asUintN)(64,r)===r,o);let c=e?r<<1n^r>>63n:r;for(;c>>53n;c>>=7n)I(n,Number(c&127n)|128);U(n,Number(c))},n=>{let{at:o}=n,r=M(n,10);if(r<=Number.MAX_SAFE_INTEGER)
e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.bytes[o++]&127)<<a;i=BigInt.asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(
Number(r))||R("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Ht=(e,t)=>ue(e,()=>0,(n,o)=>{Vt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)I(n,ut[r])},
n=>{for(let o=0;o<t;o++)ut[o]=W(n);return Vt[t>4?"getFloat64":"getFloat32"](0)}),qt={b:ue(7,()=>!1,(e,t)=>I(e,+t),e=>{let t=W(e);return t>1&&R(`a bool is ${t}`),
t>0}),i:ue(12,()=>0,(e,t)=>{Pe(t===(t|0),t),U(e,(t<<1^t>>31)>>>0)},e=>{let t=M(e);return t>>>1^-(t&1)}),u:ue(10,()=>0,(e,t)=>{Pe(t===t>>>0,t),U(e,t)},e=>M(e)>>>
0),l:je(!0,!1),w:je(!1,!1),L:je(!0,!0),W:je(!1,!0),f:Ht(14,4),d:Ht(15,8),s:ue(5,()=>"",(e,t)=>{Pe(typeof t=="string",t),I(e,10),ve(e,t)},e=>(ae(e,10),z(e))),y:ue(
4,()=>new Uint8Array,(e,t)=>{I(e,10),be(e,t)},e=>(ae(e,10),pe(e).slice()))},Wt=(e,t)=>$(3,`${e} ${t}`);function Pe(e,t){if(!e)throw new Error(`cannot be ${String(
t)}`)}var bt=16,jt=65536,zt=256,In=61440,Un={metadata:{}},gt=e=>e.endsWith("-bin"),Yt=(e,t)=>gt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${gt(
e)?"":t}`),vt=e=>typeof e=="string"?se(e):e;function Fe(e,{isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ie(e,bt,()=>{t&&ie(e,4,()=>{}),n!==void 0&&
ie(e,1,()=>U(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let c=0;if(Object.entries(o).forEach(([u,f],b)=>{if(!Yt(u,f))throw $(3,`metadat\
a breaks the rules: ${u}`);if(c+=u.length+f.length+8,b>=zt||c>In)throw $(8,"too much metadata");ie(e,2,()=>{ve(e,u),j(e,vt(f))})}),r){let{code:u,details:f,mayHaveRun:b}=r;
ie(e,3,()=>{U(e,u),e.at-i+f.length+32<=jt&&j(e,f)}),b||ie(e,5,()=>{})}})||(e.at=i)}function Ue(e){if(Se(e)!==bt)return Un;e.at++;let t=_(pe(e));F(t)>jt&&R("a pr\
efix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;F(t);){let i=W(t),a=_(pe(t));if(i===1)o.timeout=M(a,10)/1e3;else if(i===2){let c=z(a),u=gt(
c)?we(a):z(a,F(a));(!Yt(c,u)||++r>zt)&&R("metadata breaks the rules"),n[c]=u}else i===3?(o.code=Ge(M(a,10)),o.details=we(a)):i===5&&(o.isRefused=!0)}return o}function Jt(e){
let t=1;for(;e[t]>127;)t++;return e[0]===bt&&e[t+1]===4&&e[t+2]===0}function Je(e,{metadata:t,code:n,details:o,isRefused:r}){if(Se(e)===6)return e.at++,ae(e,5),
ae(e,10),new T(n??2,z(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function Qe(e,t,n){Fe(e,{isBackward:n,status:t,metadata:t.metadata}),j(e,[6,5,10]),ve(e,t.
message)}var Ze=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function et(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw $(9,`incompatibl\
e layouts of ${e.name}`);return 1}var tt=({added:e=[0,0]},t,n)=>t*e[n];function St(e,t){let n=r=>r.match(/../g)?.forEach(i=>I(e,parseInt(i,16)));ve(e,t.name),n(
t.fingerprint),U(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))U(e,r-o),o=r}function Qt(e){let t=()=>{let o="";
for(;o.length<16;)o+=W(e).toString(16).padStart(2,"0");return o},n={service:z(e),fingerprint:t(),compatible:[],operations:[]};for(let o=M(e);o>0;o--)n.compatible.
push(t());for(let o=0;F(e);)n.operations.push(o+=M(e));return n}var wt=5<<20,On=1024,Nn=65536,Oe=10,Ee=16384,Rn=Ee/2,xt=256,nt=262144,Ln=1e5,Dn=64<<20,Bn=65536,$n=2e3,Pn=5,_n=1e4,Zt="the server is going away",Fn=2147483647,Ne=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Fn));function tn(e,t,n,o,r){let i=qe(16384),a=new Map,c=new Map,u=new Map,f=[],b=0,h=0,w=0,A=0,v=0,k=32767,C=[0,wt,1/0,Ee,0],x=!1,V=!1,
L,N=Oe,H=0,B=!1,D=0,X=!1,P=!1,G=0,ne,re=()=>{i.at&&(X=!1,P=!0,x||De?.send(Xe(i)),i.at=D=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),(De?.buffered()??
0)>Dn&&he("the server does not take what is sent"))},d=()=>{i.at!==D?(D=i.at,queueMicrotask(d)):(B=!1,re())},l=(s,p,g,O)=>{let{at:ke}=i;try{We(i,Oe),i.at+=Oe,g?.(
i,O);let ee=i.at,Ce=ee-ke-Oe,Pt=Math.max(C[1],On);if(Ce>Pt)throw $(8,`the message has ${Ce} bytes, and the server accepts ${Pt}`);i.at=ke;for(let vn of[15,s,p,Ce>>>
16,Ce])Ft(i,vn);i.at=ee}catch(ee){throw i.at=ke,ee}i.at>Bn?re():B||(B=!0,D=0,queueMicrotask(d))},m=(s,{code:p,message:g})=>l(s,7,O=>{U(O,p),j(O,se(g.slice(0,256)))}),
y=(s,p)=>{l(s,5,U,0),m(s,p)},S=s=>{if(!x){if(G=0,L){if(j(L,s),L.at<N)return;s=Xe(L),L=void 0}try{let p=0,g=O=>s[p+O]<<8|s[p+O+1];for(;!x&&!(s.length<(N=p+Oe));p=
N){g(0)!==15&&R("a header without its magic");let O=g(6)*65536+g(8);if(O>wt&&R(`a packet of ${O} bytes`),s.length<(N+=O))break;E(g(2),g(4),s.subarray(p+Oe,N))}p<
s.length&&(N-=p,j(L=qe(),s.subarray(p)))}catch(p){he(`the server broke the protocol: ${p.message}`)}}},E=(s,p,g)=>{let O=_(g),ke=a.get(s);if(p>=10)if(q.isUp||R(
"a packet before HELLO"),Jt(g)){if(fe)return fe.packet(s,p,g,!1)}else{let ee=f[s%Ee];if(ee?.id===s&&ee.operation===p)return ce(s),ee.isGivenUp?h--:t.replied(ee,
g),K();if(p>=65280&&r.length)return r.forEach(Ce=>Ce.packet(q,s,p,g))}else if(p<2){g.length&&R("a PING or PONG with a body"),p===1?q.isUp||he("the server is a p\
lain peer"):X||(X=!0,l(0,1));return}else{if(p===3&&!q.isUp)return Z(O);if(p===4)return oe();if(p===6)return fe?.cancel(s,M(O));if(p===8)R("an answer to no hand-\
off");else{if(ke&&p!==3&&p<8)return ke.packet(p,g);if(p===2){let ee=s-k&32767;if(s>=32768&&ee&&ee<=16384)return k=s,fe?fe.packet(s,2,g,!0):y(s,$(12,"this end se\
rves nothing"))}}}++H>Ln&&he("too many packets that belong to nothing")},Z=s=>{for((F(s)>Nn||z(s,4)!=="fris"||!W(s))&&R("it sent no HELLO");F(s);){let p=W(s),g=_(
pe(s));if(p in C)C[p]=M(g);else if(p===32||p===33)try{let O=Qt(g);(p===32?c:u).set(O.service,O)}catch{}}C[3]=Math.min(C[3],Ee),q.isUp=!0,clearTimeout(Dt),t.room(
q)},ce=s=>{f[s%Ee]=void 0,b--===C[3]&&t.room(q)},ye=(s,p,g)=>{a.set(p,s),s.begin(q,p,C[4],g)},K=()=>{V&&b===h&&!a.size&&!fe?.progress.size&&queueMicrotask(()=>he(
Zt))},oe=()=>{V||(V=!0,t.left(q,Zt),K())},he=s=>{x||(re(),De?.close(),Lt(s))},Lt=s=>{if(x)return;x=!0,clearInterval(ne),clearTimeout(Dt),t.left(q,s),q.isUp=!1;let p=new T(
14,`the connection was lost: ${s}`);for(let g of f)g&&!g.isGivenUp&&t.lost(g,p);for(let g of a.values())g.lost(p);fe?.down(p);for(let g of r)g.down(q,p)},q={isUp:!1,
write:l,reset:m,refuse:y,fits(s){let p=c.get(s.name);if(p)return p.fingerprint===s.fingerprint||n.includes(s)?et(s,p):void 0;for(let g of c.values())if(g.operations.
some(O=>s.operations.includes(O)))throw $(12,`the server has ${g.service} in the place of ${s.name}`);return 0},call(s,p){if(b>=C[3])return!1;do w=w+1&65535;while(f[w%
Ee]);let g=s.id=w;f[g%Ee]=s,b++;try{l(g,s.operation,p,s)}catch(O){throw ce(g),O}return!0},cancel(s){x||(s.isGivenUp=!0,l(s.id,6,U,s.operation),++h>=Rn&&oe(),K())},
open(s,p,g){if(!C[2])throw $(12,"the server does not accept streams");if(A>=Math.min(C[2],28672))return!1;do v=v%32767+1;while(a.has(v));return A++,ye(s,v,p),l(
v,2,g),!0},accept:ye,over(s){a.delete(s),s<32768&&(A--,t.room(q)),K()},leave:oe,closeIfIdle:K},fe=o?.on(q,u),Dt=Ne(_n,()=>he("no HELLO in time")),bn=()=>{l(0,3,
s=>{j(s,se("fris"));let p=fe?xt:0;[wt,p,p,nt].forEach((g,O)=>ie(s,O+1,()=>U(s,g)));for(let g of o?.services??[])ie(s,32,()=>St(s,g));for(let g of n)ie(s,33,()=>St(
s,g))}),l(1,0),re(),ne=setInterval(()=>{if(++G>Pn)return he("the server is silent");(G>1||!P)&&l(0,0),P=!1;let s=performance.now();for(let p of f)p&&p.until<=s&&
!p.isGivenUp&&t.look(p)},$n)},De,Bt=s=>De?s():queueMicrotask(s),$t=s=>Bt(()=>Lt(s));try{De=e({open:()=>Bt(bn),data:S,close:$t})}catch(s){$t(ct(s))}return q}function rt(e,t){let n=[],o=!1,r=()=>{},i=u=>{o||=u,r()},a=(async function*(){try{for(;;){let u=n.shift();if(u!==void 0){let f=e(u);f!==void 0&&(yield f)}else if(o){
if(o!==!0)throw o;return}else await new Promise(f=>r=f)}}finally{t()}})(),{return:c}=a;return a.return=()=>(t(),n.length=0,i(!0),c.call(a,void 0)),{messages:a,items:n,
put:u=>{n.push(u),r()},end:i}}var At=64,Vn=4,Hn=4096,Et=(e,t)=>e instanceof ge?new T(13,`not a valid ${t.name}: ${e.message}`):T.from(e);function ot(e,t,n,o,r){let i,a=0,c=0,u=0,f=0,b=0,h=!0,
w=!0,A=!1,v=!1,k=()=>{},C,x=()=>!h&&!w,{messages:V,items:L,put:N,end:H}=rt(l=>{let m=l.length+At;f-=m,b+=m,w&&b*Vn>=nt&&(i?.write(a,5,U,b),b=0);try{let y=_(l),S=Ue(
y);if(y.at&&(r?.(B.metadata=S.metadata),!F(y)))return;let E=Je(y,S);if(E)throw E;return Ae(y,t,c)}catch(y){throw Et(y,t)}},()=>n?G(!0):re()),B=Object.assign(V,{
metadata:{}}),D=()=>{x()&&(k(),C?.(),i?.over(a),i=C=void 0,o())},X=()=>{h&&(h=!1,i?.write(a,7),D())},P=l=>{h=w=!1,H(l),D()},G=(l,m=Me(!0))=>{x()||i?.reset(a,m),
L.length=0,P(l)},ne=l=>G(l,l),re=()=>{L.length=0,A=!0},d=l=>{if(!i||!h)return;let m=l instanceof T;i.write(a,2,y=>{let{at:S}=y;m?Qe(y,l,!1):Ie(y,e,l),u-=y.at-S+
At}),m&&X()};return{messages:B,begin(l,m,y,S){i=l,a=m,u=y,c=S},packet(l,m){if(l===2)return!w||A?void 0:f+b>=nt?ne(new T(8,"the peer sent more than it had credit\
 for")):(f+=m.length+At,N(new Uint8Array(m)));let y=_(m);if(l===5){let S=M(y,10);v||=!S,(u+=S)>0&&k()}else if(m.length){let S=Ge(M(y));P(new T(S,new TextDecoder().
decode(we(y).subarray(0,Hn)),{mayHaveRun:!v}))}else w=!1,H(!0),D()},send:d,async pump(l){try{let m=Symbol.asyncIterator in l?l[Symbol.asyncIterator]():l[Symbol.
iterator]();for(C=async()=>{try{await m.return?.()}catch{}};;){for(;u<=0&&!x();)await new Promise(E=>k=E);if(x())return;let{done:y,value:S}=await m.next();if(x())
return;if(y)break;d(S)}C=void 0,X()}catch(m){let y=T.from(m);n?G(y):d(y)}},finish:X,discard:re,fail:ne,lost:P}}var qn=3e4,Wn=5e3,Xn=20,nn=2e3,rn=10,it=class{constructor(t,{timeout:n,patience:o=Wn,metadata:r,serve:i,stayConnected:a}={}){let c,u=0,f=rn,b=0,h,w=!1,A="",v=new Set,
k=new Set,C=[],x=()=>{c||h||w||!(v.size||a)||(b=performance.now(),c=tn(t,V,[...k],i,C))},V={room:d=>queueMicrotask(()=>{for(let l of v){if(c!==d||!L(l,d))return;
v.delete(l)}}),left(d,l){c===d&&(c=void 0,d.isUp&&performance.now()-b>=nn?u=0:(A=l,clearTimeout(h),h=Ne(Math.random()*Math.min(Xn*2**Math.min(u++,16),nn),()=>{h=
void 0,x()})),x())},replied(d,l){let m=d,{method:{reply:y},options:{onMetadata:S}}=m;B(m);try{let E=_(l),Z=Ue(E),ce=Je(E,Z);if(ce)throw ce;E.at&&S?.(Z.metadata),
m.resolve(Ae(E,y,m.missing)),f<rn&&(f+=.1)}catch(E){m.reject(Et(E,y))}},look:d=>H(d),lost(d,l){let m=d;if(m.link=void 0,!m.method.idempotent||f<1)return D(m,l);
f--,N(m)}},L=(d,l)=>{let{service:m,method:y}=d;try{let S=m?l.fits(m):0;return S!==void 0?(d.missing=tt(y,S,1),d.start(d,l)&&(d.isSent=!0)):(k.add(m),u=0,l.leave(),
!1)}catch(S){return D(d,T.from(S)),!0}},N=d=>{if(!(c?.isUp&&L(d,c))){if(w)return D(d,on());d.patient=performance.now()+o,v.add(d),H(d),x()}},H=d=>{let{until:l,isSent:m,
patient:y}=d,S=performance.now(),E=v.has(d)&&!c?.isUp&&`no connection to the server${A&&`: ${A}`}`;clearTimeout(d.timer),S>=l?D(d,Ke(m,E?`; ${E}`:"")):S>=y&&E?D(
d,Be(14,E,m)):d.timer=Ne((S<y?Math.min(l,y):l)-S,()=>H(d))},B=d=>{v.delete(d),clearTimeout(d.timer),d.options.signal?.removeEventListener("abort",d.abort)},D=(d,l)=>{
B(d),d.link?.cancel(d),d.reject(l)},X=(d,{told:l,until:m,options:{metadata:y}})=>{(l!==void 0||r||y)&&Fe(d,{timeout:l&&m-performance.now(),metadata:{...r,...y}})},
P=(d,l)=>{X(d,l),Ie(d,l.method.request,l.request)},G=(d,l)=>{let m=l.call(d,P);return m&&(d.link=l),m},ne=(d,l,m,y,S,E,Z,ce,ye=1/0)=>{let{signal:K}=y,oe={id:0,operation:l.
operation,until:performance.now()+(S??ye),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:d,method:l,request:m,options:y,told:S,start:E,
resolve:Z,reject:ce,abort:K&&(()=>D(oe,Me(oe.isSent)))};return K?.aborted?oe.abort?.():(K?.addEventListener("abort",oe.abort),S!==void 0&&H(oe),(S===void 0||S>0)&&
N(oe)),oe},re=(d,l,m,y={})=>{let S,E=ot(l.request,l.reply,!0,()=>S&&B(S),y.onMetadata);return S=ne(d,l,m,y,y.timeout,(Z,ce)=>{let ye=ce.open(E,Z.missing,K=>{X(K,
Z),I(K,9),U(K,Z.operation)});return ye&&E.pump(m),ye},()=>{},E.fail),E};this.unary=(d,l,m,y={})=>new Promise((S,E)=>void ne(d,l,m,y,y.timeout??n,G,S,E,qn)),this.
serverStreaming=(d,l,m,y)=>re(d,l,[m],y).messages,this.twoWay=(d,l,m,y)=>re(d,l,m,y).messages,this.clientStreaming=async(d,l,m,y)=>{let{messages:S}=re(d,l,m,y),
{done:E,value:Z}=await S.next();if(E)throw new T(13,"there is no reply");return S.return?.(),Z},this.name=d=>void k.add(d),this.mount=d=>void C.push(d),this.connected=
()=>new Promise((d,l)=>{ne(void 0,{},void 0,{},void 0,(m,y)=>(B(m),d(y),!0),d,l)}),this.close=()=>{w=!0,clearTimeout(h);for(let d of v)D(d,on());c?.leave()},a&&
queueMicrotask(x)}},on=()=>Be(9,"the channel is closed",!1);function Tt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,c)=>t[r]?.(a,c)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,c=(u,f)=>{let b=o.get(u);if(!b||!(b.method.sends||b.method.receives)===f)throw $(12,`there is no\
 operation ${u} here`);if(a.size>=xt)throw $(8,"too many calls are in progress");let{service:h,method:w}=b,A=i.get(h.name);return{...b,left:tt(w,A?et(h,A):0,0)}};
return{progress:a,packet(u,f,b,h){let w,A=v=>r.write(u,f,k=>{v instanceof T?Qe(k,v,!0):(Fe(k,{isBackward:!0}),Ie(k,w.reply,v))});try{let v=_(b),{timeout:k,metadata:C}=Ue(
v);h&&(ae(v,9),f=M(v,3));let x=c(f,h);({method:w}=x);let V=h||Ae(v,w.request,x.left),L=h?u+65536:u,N=new AbortController,H=P=>{clearTimeout(X),P||N.abort(),a.delete(
L),r.closeIfIdle()},B=h?ot(w.reply,w.request,!1,()=>H(!1)):{send(P){a.has(L)&&(A(P),H(!0))},fail:A,finish(){},discard(){}},D=P=>{B.fail(P),H(!1)},X=k===void 0?void 0:
Ne(k,()=>D(Ke(!0)));a.set(L,{operation:f,stop:D}),h&&r.accept(B,u,x.left),Gn(x,h,V,B,{signal:N.signal,metadata:C})}catch(v){let k=v instanceof ge?$(3,`the reque\
st cannot be read: ${v.message}`):T.from(v);h?r.refuse(u,k):A(k)}},cancel(u,f){let b=a.get(u);b?.operation===f&&b.stop(Me(!0))},down(u){for(let f of a.values())
f.stop(u)}}}}}async function Gn({method:e,handler:t},n,o,r,i){try{if(e.sends)o=r.messages;else if(n){let c=await r.messages.next();if(c.done)throw $(3,"there wa\
s no request");o=c.value}let a=t(o,i);e.receives?await r.pump?.(a):(r.send(await a),r.finish())}catch(a){r.send(T.from(a))}r.discard()}var at=65280,Kn=16<<20,kt=64,Ve=class{constructor(t){this.channel=t;this.asked=new Map;this.last=0;let{asked:n}=this;t.mount({packet(o,r,i,a){for(let[c,u]of n)(!r||
r===c)&&u.packet(o,r,i-at,_(a))},down(o,r){for(let i of n.values())i.down(o,r)}})}subscribe(t,{group:n=""}={}){return this.ask(0,t,n)}async publish(t,n){(await this.
connected()).write(0,at+2,o=>{be(o,se(t)),j(o,vt(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){let t;do t=await this.channel.connected();while(!t.
isUp);return t}async ask(t,n,o=""){let{asked:r}=this,i=await this.connected(),a=this.last=this.last%65535+1;return new Promise((c,u)=>{let f=0,b=0,{items:h,messages:w,
put:A,end:v}=rt(({topic:x,payload:V})=>{let L=b;return f-=V.length+kt,b=0,{topic:x,payload:V,lagged:L}},()=>{r.delete(a)&&n!==void 0&&i.write(a,at+1)}),k=x=>{r.
delete(a),u(x),v(x)},C=o?[]:n?.split(".")??[];r.set(a,{packet(x,V,L,N){if(x===i)if(L===2){let H=z(N),B=H.split("."),X=(C[C.length-1]===">"?B.length>=C.length:B.
length===C.length)&&C.every((G,ne)=>G===">"||G==="*"||G===B[ne]);if(!V&&!X)return;let P=we(N);for(f+=P.length+kt;f>Kn&&h.length;)f-=h.shift().payload.length+kt,
b++;A({topic:H,payload:P})}else L===4?b+=M(N,10):V&&(F(N)?k($([8,12,7][W(N)-3]??3,z(N,F(N)))):c(w))},down(x,V){x===i&&k(V)}}),i.write(a,at+t,x=>{n!==void 0&&be(
x,se(n)),j(x,se(o))})})}};var Ct="frisbee.1";function an(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[Ct,...t]);return r.binaryType="arraybuffer",r.onopen=()=>{r.protocol===Ct?o.open():r.close()},
r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.onclose=({code:i,reason:a})=>{o.close(`the WebSocket w\
as closed (${i}${a&&`, ${a}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Mt=(e,t={})=>new it(an(e,t),t);var te={BUY:0,SELL:1},It=le("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[sn,sn,zn]),zn=le("exchange.Deal","number:u side:e price:u amount:\
u",()=>[te]),ln=le("exchange.Inquiry","side:e amount:u",()=>[te]),sn=le("exchange.Level","price:u amount:u"),Yn=le("exchange.Nothing",""),dn=le("exchange.Offer",
"price:u called:u answered:u"),Jn=le("exchange.Order","number:u side:e price:u amount:u",()=>[te]),Qn=le("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[te]),Te=Ze("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:Yn,reply:It},trade:{operation:11,request:Jn,reply:Qn,sends:!0,receives:!0},
inquire:{operation:12,request:ln,reply:dn}}),st=class{constructor(t){this.channel=t,t.name(Te)}look(t,n){return this.channel.unary(Te,Te.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Te,Te.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Te,Te.methods.inquire,t,n)}},cn=Ze("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:ln,reply:dn}});var Ot=240,yn=8,Q=e=>document.getElementById(e),J=(e,t)=>void(Q(e).textContent=t),de=e=>(e/100).toFixed(2),lt=e=>e===te.BUY?"buy":"sell";function Y(e,t,n=""){let o=document.
createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Zn(e,t){let n=Q(e);for(n.querySelector(".empty")?.remove(),n.
prepend(t);n.children.length>yn;)n.lastElementChild?.remove()}var He=new Map,un=0,fn=0,hn=()=>{},Nt=[];async function*er(){for(;;){let e=Nt.shift();e?yield e:await new Promise(
t=>hn=t)}}function tr({number:e,amount:t,price:n,left:o}){let r=He.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===te.BUY?1:-1;un+=i*t,fn-=i*t*n,J("\
held",String(un)),J("cash",de(fn));let a=[...He.values()].reverse().slice(0,yn).map(({order:c,done:u,left:f})=>Y("tr",[Y("td",`${lt(c.side)} ${c.amount}`,lt(c.side)),
Y("td",de(c.price)),Y("td",String(u)),Y("td",String(f))]));Q("orders").replaceChildren(...a)}Q("ticket").addEventListener("submit",e=>{e.preventDefault();let t=new FormData(
e.target),n=e.submitter.value==="sell"?te.SELL:te.BUY,o={number:He.size+1,side:n,price:Math.round(Number(t.get("price"))*100),amount:Number(t.get("amount"))};He.
set(o.number,{order:o,done:0,left:o.amount}),Nt.push(o),hn()});var Le=0,Ut=0,Re,me=[];function pn(e,t){let n=Math.max(1,...t.map(({amount:o})=>o));Q(e).replaceChildren(
...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=r,Y("li",[i,Y("span",de(o)),Y("span",String(r))])}))}function nr(e){
for(let{number:o,price:r}of[...e].reverse())o>Ut&&me.push(r);me.splice(0,me.length-Ot);let[t]=e;if(!t||t.number===Ut)return;Ut=t.number;let n=t.price-Le;Le&&n&&
(J("change",`${n>0?"▲":"▼"} ${de(Math.abs(n))}`),Q("change").dataset.side=n>0?"buy":"sell"),Le=t.price,J("last",de(Le)),Q("deals").replaceChildren(...e.map(
({side:o,price:r,amount:i})=>Y("li",[Y("span",o===te.BUY?"bought":"sold",lt(o)),Y("span",de(r)),Y("span",String(i))]))),Rt()}function mn({bids:e,asks:t,deals:n,
traders:o,orders:r}){pn("asks",t),pn("bids",e),t[0]&&e[0]&&J("spread",`${de(t[0].price-e[0].price)} apart`),J("traders",String(o));let i=performance.now();(!Re||
i-Re.at>1e3)&&(Re&&J("rate",((r-Re.orders)/((i-Re.at)/1e3)).toFixed(0)),Re={orders:r,at:i}),nr(n)}function Rt(){let e=Q("chart"),t=e.getContext("2d"),{clientWidth:n,
clientHeight:o}=e;if(!t||me.length<2||n===0)return;let r=devicePixelRatio;e.width=n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=Q("state"),c=Math.min(
...me)-2,u=Math.max(...me)+2,f=n-56,b=A=>A/(Ot-1)*f,h=A=>(u-A)/(u-c)*(o-12)+6;t.font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,
t.lineWidth=.5;for(let A=0;A<5;A++){let v=c+(u-c)*A/4;t.globalAlpha=.35,t.beginPath(),t.moveTo(0,h(v)),t.lineTo(f,h(v)),t.stroke(),t.globalAlpha=1,t.fillText(de(
v),f+8,h(v)+4)}let w=Ot-me.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),me.forEach((A,v)=>t.lineTo(b(w+v),h(A))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,
o),t.lineTo(b(w),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Rt);matchMedia("(prefers-color-scheme: dark)").addEventListener("change",Rt);var rr=Tt(cn,
{quote:({side:e,amount:t})=>{let n=Math.round(Number(Q("margin").value)*100),o=Le&&Le+(e===te.BUY?n:-n);return Zn("asked",Y("li",`${lt(e)} ${t}? You said ${de(o)}\
.`)),{price:o}}}),{hostname:or}=location,gn=Mt(`ws://${or}:${document.documentElement.dataset.port}/`,{serve:rr,stayConnected:!0}),dt=new st(gn),ir=new Ve(gn);Q(
"inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector("button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,
answered:i}=await dt.inquire({side:te.BUY,amount:10}),a=(performance.now()-n).toFixed(0);J("offer",o?`${de(o)} is the best of ${i} of ${r}, after ${a} ms.`:`Non\
e of ${r} had a price.`)}catch(n){J("offer",T.from(n).message)}t.disabled=!1});async function ar(){for(;;){try{let e=await ir.subscribe("exchange.book"),t=dt.trade(
er()),n=(async()=>{for await(let r of t)tr(r)})();Q("state").dataset.is="open",J("state","connected"),mn(await dt.look({}));let o=(async()=>{for await(let{payload:r}of e)
mn(yt(It,r))})();await Promise.race([n,o])}catch(e){Q("state").dataset.is="failed",J("state",T.from(e).message)}Nt.length=0;for(let e of He.values())e.left=0;await new Promise(
e=>setTimeout(e,1e3))}}ar();setInterval(async()=>{if(document.hidden)return;let e=performance.now();try{await dt.look({},{timeout:5e3}),J("ping",`${(performance.
now()-e).toFixed(1)} ms`)}catch{J("ping","–")}},2e3);
