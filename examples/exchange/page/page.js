var wn=new TextEncoder,xn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Vt=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
F=e=>{throw new we(e)},K=e=>({bytes:e,at:0,depth:0,memory:0}),Ge=(e=64)=>K(new Uint8Array(e)),fe=e=>wn.encode(e);function Ke(e,t){let{bytes:n,at:o}=e;o+t>n.length&&
(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function O(e,t){e.at===e.bytes.length&&Ke(e,1),e.bytes[e.at++]=t}function Ht(e,t){
O(e,t>>8),O(e,t)}function R(e,t){for(;t>127;t=Math.floor(t/128))O(e,t|128);O(e,t)}function ne(e,t){Ke(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function xe(e,t){
R(e,t.length),ne(e,t)}function be(e,t){let{at:n}=e,{length:o}=t,r=o>Vt?128:0;O(e,o);for(let i=0;i<o&&r<128;i++)O(e,r=t.charCodeAt(i));r>127&&(e.at=n,xe(e,fe(t)))}
function de(e,t,n){O(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,xe(e,r),r.length>0}var je=({bytes:e,at:t})=>e.subarray(0,t),H=({bytes:e,at:t})=>e.
length-t,Ae=({bytes:e,at:t})=>e[t],z=e=>e.bytes[e.at++]??F("it is cut off");function ce(e,t){let n=z(e);n!==t&&F(`${n} stands in the place of ${t}`)}function U(e,t=5){
let n=0;for(let o=1;t-- >0;o*=128){let r=z(e);if(r<128)return n+r*o;n+=(r-128)*o}return F("a number is too long")}function pe(e,t=U(e)){return t>H(e)&&F("it is \
cut off"),e.bytes.subarray(e.at,e.at+=t)}var Ee=({bytes:e,at:t})=>e.slice(t);function ee(e,t=U(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Vt)for(let s;i<t&&(s=n[o+i])<
128;i++)r+=String.fromCharCode(s);if(i<t){let s=pe(e,t);try{return xn.decode(s)}catch{F("a text is not UTF-8")}}return e.at+=t,r}var M=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:s={},mayHaveRun:c=!0}=r??{};Object.assign(this,
{details:i,metadata:s,mayHaveRun:c,code:n})}static from(n){return n instanceof e?n:new e(2,mt(n),{cause:n})}};var mt=e=>e instanceof Error?e.message:String(e),q=(e,t)=>new M(e,t,{mayHaveRun:!1}),ze=e=>e>0&&e<=16?e:2,_e=(e,t,n)=>new M(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),
Ue=e=>_e(1,"the caller gave the call up",e),Ye=(e,t="")=>_e(4,`no answer before the deadline${t}`,e);var Ze=100,An=64<<20,En=12,bt=8,gt=56,yt=new Uint8Array(8),qt=new DataView(yt.buffer);function me(e,t,n){let o;return{name:e,fields:()=>o??=Tn(t,n?.()??[])}}var vt=(e,t)=>ke(K(t),e,0);function Ne(e,t,n){e.depth=Ze,Kt(e,t,n)}function ke(e,t,n){return e.depth=Ze,e.memory=Math.max(An,H(e)*En),jt(e,t,n)??zt(e,t)}function Tn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,s,c,u,m,v]=i,h=v==="m"?Mn(t[o++]):v==="e"?In(t[o++]):Xt[v],w=Xt[m[1]??""],E=w?[2,w.wire,h.wire,10]:m==="*"?[1,h.wire,10]:void 0,S=c?n.get(c):void 0;
c&&!S&&n.set(c,S=[]);let L={name:c??s,of:h,isOptional:m==="?",key:w,head:E,case:s,number:+u,all:S};return S?.push(L),L})}var He=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Kt(e,t,n){if(!e.depth--)throw Gt(t.name,`nests deeper than ${Ze}`);O(e,8),O(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:s}=r,c=n[o=s];if(!i)kn(e,r,c);else if(r===i[0]){O(e,3);let u=c,m=i.find(v=>v.case===u?.case);if(u&&!m)throw new Error(`has no member ${u.case}`);R(e,
m?m.number:0),m&&Fe(e,m.of,u?.value)}}}catch(r){throw r instanceof M?r:Gt(`${t.name}.${o}`,r.message)}e.depth++}function kn(e,t,n){let{head:o,key:r,of:i}=t;if(n===
void 0&&(o||t.isOptional)&&(n=He(t)),o){let s=n,c=n;for(let u of o)O(e,u);if(R(e,r?s.size:c.length),r)for(let[u,m]of s)Fe(e,r,u),Fe(e,i,m);else for(let u of c)Fe(
e,i,u)}else n===void 0&&t.isOptional?O(e,0):Fe(e,i,n)}function Fe(e,t,n){t.table||O(e,t.wire),t.put(e,n===void 0?t.zero():n)}function jt(e,t,n){if(Ae(e)===0)return void e.
at++;ce(e,8),z(e),e.depth--||F(`${t.name} nests deeper than ${Ze}`);let o=t.fields();St(e,gt+bt*o.length);let r={},i="";for(let s of o){let{name:c,all:u,of:m}=s,
v=u&&u[0]===s;if(v&&(r[c]=void 0),n>0&&!H(e))n--,u||(r[c]=He(s));else if(!u)r[c]=Cn(e,s);else if(v&&Ae(e)===3){e.at++,i+=` ${c} `;let h=U(e),w=u.find(E=>E.number===
h);w?r[c]={case:w.case,value:ht(e,w.of)}:h&&F(`${t.name}.${c} has no member ${h}`)}else if(!i.includes(` ${c} `)){let h=Qe(e,m);(h instanceof Uint8Array?h.length:
!Object.is(h,m.zero()))&&(r[c]={case:s.case,value:h})}}return e.depth++,r}function Cn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ae(e)===0)return e.at++,
He(t);if(!n)return Qe(e,r);for(let c of n)ce(e,c);let i=U(e),s=He(t);for(;i-- >0;)St(e,o?gt:bt),o?s.set(Qe(e,o),ht(e,r)):s.push(ht(e,r));return s}function Qe(e,{
wire:t,table:n,take:o}){return n||ce(e,t),o(e)}var ht=(e,t)=>Qe(e,t)??zt(e,t.table);function zt(e,t){let n={},o=t.fields();St(e,gt+bt*o.length);for(let r of o)n[r.
name]=r.all?void 0:He(r);return n}function St(e,t){(e.memory-=t)<0&&F("it takes too much memory")}var ge=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Mn=e=>ge(
3,()=>{},(t,n)=>n?Kt(t,e,n):O(t,0),t=>jt(t,e,0),e);function In(e){let t=Object.values(e);return ge(10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;Ve(r>=0||
o===(o|0)&&o<0&&i>=t.length,o),R(n,r<0?i:r)},n=>{let o=U(n)>>>0,r=o-2147483648;return o>=t.length&&(r>=0||t.includes(r))&&F(`an enum has the index ${o}`),t[o]??
r})}var Je=(e,t)=>ge(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),s=e?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(s)&&s>=0)return R(n,s);Ve((e?BigInt.asIntN:
BigInt.asUintN)(64,r)===r,o);let c=e?r<<1n^r>>63n:r;for(;c>>53n;c>>=7n)O(n,Number(c&127n)|128);R(n,Number(c))},n=>{let{at:o}=n,r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)
e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let s=0n;o<n.at;s+=7n)i|=BigInt(n.bytes[o++]&127)<<s;i=BigInt.asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(
Number(r))||F("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Wt=(e,t)=>ge(e,()=>0,(n,o)=>{qt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)O(n,yt[r])},
n=>{for(let o=0;o<t;o++)yt[o]=z(n);return qt[t>4?"getFloat64":"getFloat32"](0)}),Xt={b:ge(7,()=>!1,(e,t)=>O(e,+t),e=>{let t=z(e);return t>1&&F(`a bool is ${t}`),
t>0}),i:ge(12,()=>0,(e,t)=>{Ve(t===(t|0),t),R(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>1^-(t&1)}),u:ge(10,()=>0,(e,t)=>{Ve(t===t>>>0,t),R(e,t)},e=>U(e)>>>
0),l:Je(!0,!1),w:Je(!1,!1),L:Je(!0,!0),W:Je(!1,!0),f:Wt(14,4),d:Wt(15,8),s:ge(5,()=>"",(e,t)=>{Ve(typeof t=="string",t),O(e,10),be(e,t)},e=>(ce(e,10),ee(e))),y:ge(
4,()=>new Uint8Array,(e,t)=>{O(e,10),xe(e,t)},e=>(ce(e,10),pe(e).slice()))},Gt=(e,t)=>q(3,`${e} ${t}`);function Ve(e,t){if(!e)throw new Error(`cannot be ${String(
t)}`)}var xt=16,Yt=65536,Jt=256,On=61440,Un={metadata:{}},wt=e=>e.endsWith("-bin"),Qt=(e,t)=>wt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${wt(
e)?"":t}`),At=e=>typeof e=="string"?fe(e):e;function qe(e,{isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;de(e,xt,()=>{t&&de(e,4,()=>{}),n!==void 0&&
de(e,1,()=>R(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let c=0;if(Object.entries(o).forEach(([u,m],v)=>{if(!Qt(u,m))throw q(3,`metadat\
a breaks the rules: ${u}`);if(c+=u.length+m.length+8,v>=Jt||c>On)throw q(8,"too much metadata");de(e,2,()=>{be(e,u),ne(e,At(m))})}),r){let{code:u,details:m,mayHaveRun:v}=r;
de(e,3,()=>{R(e,u),e.at-i+m.length+32<=Yt&&ne(e,m)}),v||de(e,5,()=>{})}})||(e.at=i)}function Re(e){if(Ae(e)!==xt)return Un;e.at++;let t=K(pe(e));H(t)>Yt&&F("a p\
refix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;H(t);){let i=z(t),s=K(pe(t));if(i===1)o.timeout=U(s,10)/1e3;else if(i===2){let c=ee(s),u=wt(
c)?Ee(s):ee(s,H(s));(!Qt(c,u)||++r>Jt)&&F("metadata breaks the rules"),n[c]=u}else i===3?(o.code=ze(U(s,10)),o.details=Ee(s)):i===5&&(o.isRefused=!0)}return o}function Zt(e){
let t=1;for(;e[t]>127;)t++;return e[0]===xt&&e[t+1]===4&&e[t+2]===0}function et(e,{metadata:t,code:n,details:o,isRefused:r}){if(Ae(e)===6)return e.at++,ce(e,5),
ce(e,10),new M(n??2,ee(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function tt(e,t,n){qe(e,{isBackward:n,status:t,metadata:t.metadata}),ne(e,[6,5,10]),be(e,
t.message)}var nt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function rt(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw q(9,`incompatibl\
e layouts of ${e.name}`);return 1}var ot=({added:e=[0,0]},t,n)=>t*e[n];function Et(e,t){let n=r=>r.match(/../g)?.forEach(i=>O(e,parseInt(i,16)));be(e,t.name),n(
t.fingerprint),R(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,s)=>i-s))R(e,r-o),o=r}function en(e){let t=()=>{let o="";
for(;o.length<16;)o+=z(e).toString(16).padStart(2,"0");return o},n={service:ee(e),fingerprint:t(),compatible:[],operations:[]};for(let o=U(e);o>0;o--)n.compatible.
push(t());for(let o=0;H(e);)n.operations.push(o+=U(e));return n}var Tt=5<<20,Nn=1024,Rn=65536,Le=10,Ce=16384,Ln=Ce/2,kt=256,it=262144,Dn=1e5,Bn=64<<20,Pn=65536,$n=2e3,_n=5,Fn=1e4,tn="the server is going away",Vn=2147483647,De=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Vn));function rn(e,t,n,o,r){let i=Ge(16384),s=new Map,c=new Map,u=new Map,m=[],v=0,h=0,w=0,E=0,S=0,L=32767,P=[0,Tt,1/0,Ce,0],I=!1,Y=!1,
W,j=Le,V=0,X=!1,$=0,G=!1,D=!1,Q=0,te,Z=()=>{i.at&&(G=!1,D=!0,I||he?.send(je(i)),i.at=$=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),(he?.buffered()??
0)>Bn&&C("the server does not read: too many unsent bytes"))},d=()=>{i.at!==$?($=i.at,queueMicrotask(d)):(X=!1,Z())},a=(l,y,g,B)=>{let{at:Ie}=i;try{Ke(i,Le),i.at+=
Le,g?.(i,B);let se=i.at,Oe=se-Ie-Le,Ft=Math.max(P[1],Nn);if(Oe>Ft)throw q(8,`the message has ${Oe} bytes, and the server accepts ${Ft}`);i.at=Ie;for(let Sn of[15,
l,y,Oe>>>16,Oe])Ht(i,Sn);i.at=se}catch(se){throw i.at=Ie,se}i.at>Pn?Z():X||(X=!0,$=0,queueMicrotask(d))},f=(l,{code:y,message:g})=>a(l,7,B=>{R(B,y),ne(B,fe(g.slice(
0,256)))}),p=(l,y)=>{a(l,5,R,0),f(l,y)},b=l=>{if(!I){if(Q=0,W){if(ne(W,l),W.at<j)return;l=je(W),W=void 0}try{let y=0,g=B=>l[y+B]<<8|l[y+B+1];for(;!I&&!(l.length<
(j=y+Le));y=j){g(0)!==15&&F("a header without its magic");let B=g(6)*65536+g(8);if(B>Tt&&F(`a packet of ${B} bytes`),l.length<(j+=B))break;k(g(2),g(4),l.subarray(
y+Le,j))}y<l.length&&(j-=y,ne(W=Ge(),l.subarray(y)))}catch(y){C(`the server broke the protocol: ${y.message}`)}}},k=(l,y,g)=>{let B=K(g),Ie=s.get(l);if(y>=10)if(T.
isUp||F("a packet before HELLO"),Zt(g)){if(_)return _.packet(l,y,g,!1)}else{let se=m[l%Ce];if(se?.id===l&&se.operation===y)return le(l),se.isGivenUp?h--:t.replied(
se,g),x();if(y>=65280&&r.length)return r.forEach(Oe=>Oe.packet(T,l,y,g))}else if(y<2){g.length&&F("a PING or PONG with a body"),y===1?T.isUp||C("the server is a\
 compat peer"):G||(G=!0,a(0,1));return}else{if(y===3&&!T.isUp)return J(B);if(y===4)return A();if(y===6)return _?.cancel(l,U(B));if(y===8)F("an answer to no hand\
-off");else{if(Ie&&y!==3&&y<8)return Ie.packet(y,g);if(y===2){let se=l-L&32767;if(l>=32768&&se&&se<=16384)return L=l,_?_.packet(l,2,g,!0):p(l,q(12,"this end ser\
ves nothing"))}}}++V>Dn&&C("too many packets that belong to nothing")},J=l=>{for((H(l)>Rn||ee(l,4)!=="fris"||!z(l))&&F("it sent no HELLO");H(l);){let y=z(l),g=K(
pe(l));if(y in P)P[y]=U(g);else if(y===32||y===33)try{let B=en(g);(y===32?c:u).set(B.service,B)}catch{}}P[3]=Math.min(P[3],Ce),T.isUp=!0,clearTimeout(Se),t.room(
T)},le=l=>{m[l%Ce]=void 0,v--===P[3]&&t.room(T)},ue=(l,y,g)=>{s.set(y,l),l.begin(T,y,P[4],g)},x=()=>{Y&&v===h&&!s.size&&!_?.progress.size&&queueMicrotask(()=>C(
tn))},A=()=>{Y||(Y=!0,t.left(T,tn),x())},C=l=>{I||(Z(),he?.close(),N(l))},N=l=>{if(I)return;I=!0,clearInterval(te),clearTimeout(Se),t.left(T,l),T.isUp=!1;let y=new M(
14,`the connection was lost: ${l}`);for(let g of m)g&&!g.isGivenUp&&t.lost(g,y);for(let g of s.values())g.lost(y);_?.down(y);for(let g of r)g.down(T,y)},T={isUp:!1,
write:a,reset:f,refuse:p,fits(l){let y=c.get(l.name);if(y)return y.fingerprint===l.fingerprint||n.includes(l)?rt(l,y):void 0;for(let g of c.values())if(g.operations.
some(B=>l.operations.includes(B)))throw q(12,`the server has ${g.service} in the place of ${l.name}`);return 0},call(l,y){if(v>=P[3])return!1;do w=w+1&65535;while(m[w%
Ce]);let g=l.id=w;m[g%Ce]=l,v++;try{a(g,l.operation,y,l)}catch(B){throw le(g),B}return!0},cancel(l){I||(l.isGivenUp=!0,a(l.id,6,R,l.operation),++h>=Ln&&A(),x())},
open(l,y,g){if(!P[2])throw q(12,"the server does not accept streams");if(E>=Math.min(P[2],28672))return!1;do S=S%32767+1;while(s.has(S));return E++,ue(l,S,y),a(
S,2,g),!0},accept:ue,over(l){s.delete(l),l<32768&&(E--,t.room(T)),x()},leave:A,closeIfIdle:x},_=o?.on(T,u),Se=De(Fn,()=>C("no HELLO in time")),$e=()=>{a(0,3,l=>{
ne(l,fe("fris"));let y=_?kt:0;[Tt,y,y,it].forEach((g,B)=>de(l,B+1,()=>R(l,g)));for(let g of o?.services??[])de(l,32,()=>Et(l,g));for(let g of n)de(l,33,()=>Et(
l,g))}),a(1,0),Z(),te=setInterval(()=>{if(++Q>_n)return C("the server is silent");(Q>1||!D)&&a(0,0),D=!1;let l=performance.now();for(let y of m)y&&y.until<=l&&!y.
isGivenUp&&t.look(y)},$n)},he,$t=l=>he?l():queueMicrotask(l),_t=l=>$t(()=>N(l));try{he=e({open:()=>$t($e),data:b,close:_t})}catch(l){_t(mt(l))}return T}function st(e,t){let n=[],o=!1,r=()=>{},i=u=>{o||=u,r()},s=(async function*(){try{for(;;){let u=n.shift();if(u!==void 0){let m=e(u);m!==void 0&&(yield m)}else if(o){
if(o!==!0)throw o;return}else await new Promise(m=>r=m)}}finally{t()}})(),{return:c}=s;return s.return=()=>(t(),n.length=0,i(!0),c.call(s,void 0)),{messages:s,items:n,
put:u=>{n.push(u),r()},end:i}}var Ct=64,Hn=4,qn=4096,Mt=(e,t)=>e instanceof we?new M(13,`not a valid ${t.name}: ${e.message}`):M.from(e);function at(e,t,n,o,r){let i,s=0,c=0,u=0,m=0,v=0,h=!0,
w=!0,E=!1,S=!1,L=()=>{},P,I=()=>!h&&!w,{messages:Y,items:W,put:j,end:V}=st(a=>{let f=a.length+Ct;m-=f,v+=f,w&&v*Hn>=it&&(i?.write(s,5,R,v),v=0);try{let p=K(a),b=Re(
p);if(p.at&&(r?.(X.metadata=b.metadata),!H(p)))return;let k=et(p,b);if(k)throw k;return ke(p,t,c)}catch(p){throw Mt(p,t)}},()=>n?Q(!0):Z()),X=Object.assign(Y,{metadata:{}}),
$=()=>{I()&&(L(),P?.(),i?.over(s),i=P=void 0,o())},G=()=>{h&&(h=!1,i?.write(s,7),$())},D=a=>{h=w=!1,V(a),$()},Q=(a,f=Ue(!0))=>{I()||i?.reset(s,f),W.length=0,D(a)},
te=a=>Q(a,a),Z=()=>{W.length=0,E=!0},d=a=>{if(!i||!h)return;let f=a instanceof M;i.write(s,2,p=>{let{at:b}=p;f?tt(p,a,!1):Ne(p,e,a),u-=p.at-b+Ct}),f&&G()};return{
messages:X,begin(a,f,p,b){i=a,s=f,u=p,c=b},packet(a,f){if(a===2)return!w||E?void 0:m+v>=it?te(new M(8,"the peer sent more than it had credit for")):(m+=f.length+
Ct,j(new Uint8Array(f)));let p=K(f);if(a===5){let b=U(p,10);S||=!b,(u+=b)>0&&L()}else if(f.length){let b=ze(U(p));D(new M(b,new TextDecoder().decode(Ee(p).subarray(
0,qn)),{mayHaveRun:!S}))}else w=!1,V(!0),$()},send:d,async pump(a){try{let f=Symbol.asyncIterator in a?a[Symbol.asyncIterator]():a[Symbol.iterator]();for(P=async()=>{
try{await f.return?.()}catch{}};;){for(;u<=0&&!I();)await new Promise(k=>L=k);if(I())return;let{done:p,value:b}=await f.next();if(I())return;if(p)break;d(b)}P=void 0,
G()}catch(f){let p=M.from(f);n?Q(p):d(p)}},finish:G,discard:Z,fail:te,lost:D}}var Wn=3e4,Xn=5e3,Gn=20,on=2e3,sn=10,lt=class{constructor(t,{timeout:n,patience:o=Xn,metadata:r,serve:i,stayConnected:s}={}){let c,u=0,m=sn,v=0,h,w=!1,E="",S=new Set,
L=new Set,P=[],I=()=>{c||h||w||!(S.size||s)||(v=performance.now(),c=rn(t,Y,[...L],i,P))},Y={room:d=>queueMicrotask(()=>{for(let a of S){if(c!==d||!W(a,d))return;
S.delete(a)}}),left(d,a){c===d&&(c=void 0,d.isUp&&performance.now()-v>=on?u=0:(E=a,clearTimeout(h),h=De(Math.random()*Math.min(Gn*2**Math.min(u++,16),on),()=>{h=
void 0,I()})),I())},replied(d,a){let f=d,{method:{reply:p},options:{onMetadata:b}}=f;X(f);try{let k=K(a),J=Re(k),le=et(k,J);if(le)throw le;k.at&&b?.(J.metadata),
f.resolve(ke(k,p,f.missing)),m<sn&&(m+=.1)}catch(k){f.reject(Mt(k,p))}},look:d=>V(d),lost(d,a){let f=d;if(f.link=void 0,!f.method.idempotent||m<1)return $(f,a);
m--,j(f)}},W=(d,a)=>{let{service:f,method:p}=d;try{let b=f?a.fits(f):0;return b!==void 0?(d.missing=ot(p,b,1),d.start(d,a)&&(d.isSent=!0)):(L.add(f),u=0,a.leave(),
!1)}catch(b){return $(d,M.from(b)),!0}},j=d=>{if(!(c?.isUp&&W(d,c))){if(w)return $(d,an());d.patient=performance.now()+o,S.add(d),V(d),I()}},V=d=>{let{until:a,isSent:f,
patient:p}=d,b=performance.now(),k=S.has(d)&&!c?.isUp&&`no connection to the server${E&&`: ${E}`}`;clearTimeout(d.timer),b>=a?$(d,Ye(f,k?`; ${k}`:"")):b>=p&&k?$(
d,_e(14,k,f)):d.timer=De((b<p?Math.min(a,p):a)-b,()=>V(d))},X=d=>{S.delete(d),clearTimeout(d.timer),d.options.signal?.removeEventListener("abort",d.abort)},$=(d,a)=>{
X(d),d.link?.cancel(d),d.reject(a)},G=(d,{told:a,until:f,options:{metadata:p}})=>{(a!==void 0||r||p)&&qe(d,{timeout:a&&f-performance.now(),metadata:{...r,...p}})},
D=(d,a)=>{G(d,a),Ne(d,a.method.request,a.request)},Q=(d,a)=>{let f=a.call(d,D);return f&&(d.link=a),f},te=(d,a,f,p,b,k,J,le,ue=1/0)=>{let{signal:x}=p,A={id:0,operation:a.
operation,until:performance.now()+(b??ue),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:d,method:a,request:f,options:p,told:b,start:k,
resolve:J,reject:le,abort:x&&(()=>$(A,Ue(A.isSent)))};return x?.aborted?A.abort?.():(x?.addEventListener("abort",A.abort),b!==void 0&&V(A),(b===void 0||b>0)&&j(
A)),A},Z=(d,a,f,p={})=>{let b,k=at(a.request,a.reply,!0,()=>b&&X(b),p.onMetadata);return b=te(d,a,f,p,p.timeout,(J,le)=>{let ue=le.open(k,J.missing,x=>{G(x,J),O(
x,9),R(x,J.operation)});return ue&&k.pump(f),ue},()=>{},k.fail),k};this.unary=(d,a,f,p={})=>new Promise((b,k)=>void te(d,a,f,p,p.timeout??n,Q,b,k,Wn)),this.serverStreaming=
(d,a,f,p)=>Z(d,a,[f],p).messages,this.twoWay=(d,a,f,p)=>Z(d,a,f,p).messages,this.clientStreaming=async(d,a,f,p)=>{let{messages:b}=Z(d,a,f,p),{done:k,value:J}=await b.
next();if(k)throw new M(13,"there is no reply");return b.return?.(),J},this.name=d=>void L.add(d),this.mount=d=>void P.push(d),this.connected=()=>new Promise((d,a)=>{
te(void 0,{},void 0,{},void 0,(f,p)=>(X(f),d(p),!0),d,a)}),this.close=()=>{w=!0,clearTimeout(h);for(let d of S)$(d,an());c?.leave()},s&&queueMicrotask(I)}},an=()=>_e(
9,"the channel is closed",!1);function It(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(s,c)=>t[r]?.(s,c)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let s=new Map,c=(u,m)=>{let v=o.get(u);if(!v||!(v.method.sends||v.method.receives)===m)throw q(12,`there is no\
 operation ${u} here`);if(s.size>=kt)throw q(8,"too many calls are in progress");let{service:h,method:w}=v,E=i.get(h.name);return{...v,left:ot(w,E?rt(h,E):0,0)}};
return{progress:s,packet(u,m,v,h){let w,E=S=>r.write(u,m,L=>{S instanceof M?tt(L,S,!0):(qe(L,{isBackward:!0}),Ne(L,w.reply,S))});try{let S=K(v),{timeout:L,metadata:P}=Re(
S);h&&(ce(S,9),m=U(S,3));let I=c(m,h);({method:w}=I);let Y=h||ke(S,w.request,I.left),W=h?u+65536:u,j=new AbortController,V=D=>{clearTimeout(G),D||j.abort(),s.delete(
W),r.closeIfIdle()},X=h?at(w.reply,w.request,!1,()=>V(!1)):{send(D){s.has(W)&&(E(D),V(!0))},fail:E,finish(){},discard(){}},$=D=>{X.fail(D),V(!1)},G=L===void 0?void 0:
De(L,()=>$(Ye(!0)));s.set(W,{operation:m,stop:$}),h&&r.accept(X,u,I.left),Kn(I,h,Y,X,{signal:j.signal,metadata:P})}catch(S){let L=S instanceof we?q(3,`the reque\
st cannot be read: ${S.message}`):M.from(S);h?r.refuse(u,L):E(L)}},cancel(u,m){let v=s.get(u);v?.operation===m&&v.stop(Ue(!0))},down(u){for(let m of s.values())
m.stop(u)}}}}}async function Kn({method:e,handler:t},n,o,r,i){try{if(e.sends)o=r.messages;else if(n){let c=await r.messages.next();if(c.done)throw q(3,"there wa\
s no request");o=c.value}let s=t(o,i);e.receives?await r.pump?.(s):(r.send(await s),r.finish())}catch(s){r.send(M.from(s))}r.discard()}var dt=65280,jn=16<<20,Ot=64,zn=65536,Yn=4,ct={now:0,last:1,oldest:2},We=class{constructor(t){this.channel=t;this.asked=new Map;this.last=0;let{asked:n}=this;t.
mount({packet(o,r,i,s){for(let[c,u]of n)(!r||r===c)&&u.packet(o,r,i-dt,K(s))},down(o,r){for(let i of[...n.values()])i.down(o,r)}})}subscribe(t,{group:n="",from:o}={}){
return this.ask(0,t,n,o)}async publish(t,n){(await this.connected()).write(0,dt+2,o=>{xe(o,fe(t)),ne(o,At(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){
let t;do t=await this.channel.connected();while(!t.isUp);return t}async ask(t,n,o="",r){let{asked:i}=this,s=await this.connected();do this.last=this.last%65535+
1;while(i.has(this.last));let c=this.last;return new Promise((u,m)=>{let v=0,h=0,w=!1,{items:E,messages:S,put:L,end:P}=st(x=>(v-=x.payload.length+Ot,x),()=>{i.delete(
c)&&n!==void 0&&s.isUp&&s.write(c,dt+1)}),I=x=>{i.delete(c),m(x),P(x)},Y=o?[]:n?.split(".")??[],W=Y[Y.length-1]===">",j=x=>{let A=x.split(".");return(W?A.length>=
Y.length:A.length===Y.length)&&Y.every((C,N)=>C===">"||C==="*"||C===A[N])},V=t===0&&!o&&r!==void 0,X=typeof r=="object",$=X||r===void 0?ct.oldest:ct[r],G=new Map(
X?[[n,{...r,offset:r.offset+1}]]:[]),D=new Map,Q=0,te="",Z=!1,d=!1,a=!1,f=!1,p=!1,b=x=>{s.write(c,dt+x,A=>{if(n!==void 0&&xe(A,fe(n)),x===6){O(A,$);for(let[C,N]of G){
be(A,C);for(let T=0;T<16;T+=2)O(A,parseInt(N.epoch.slice(T,T+2),16));R(A,N.offset)}}else ne(A,fe(o))})},k=()=>{p=!0,d&&(a||!(V&&f))&&(w=!0),u(S)},J=x=>Array.from(
pe(x,8),A=>A.toString(16).padStart(2,"0")).join(""),le=(x,A,C)=>{if(A===5&&x&&!p&&V&&C.bytes[C.at]===Yn)a=!0,b(0);else if(A===6&&x&&C.bytes[C.at]===0){z(C),f=z(
C)===1;let N=J(C);Q=U(C,10);let T=te!==""&&te!==N,_=!n?.match(/[*>]/)&&G.size>0;te=N,k(),a=!1,w||=_?!Q:T}else if(A===7)for(;H(C);){let N=ee(C),T={epoch:J(C),offset:U(
C,10)};if(!p||!x&&!j(N))continue;let _=D.get(N);x&&!_?(Q--,_=G.get(N)??(Z?{...T,offset:1}:void 0)):!x&&_?.epoch!==T.epoch&&(_=void 0),_&&f&&(_.epoch===T.epoch&&
_.offset<=T.offset?h+=T.offset-_.offset:w=!0),D.size>=zn&&(D.clear(),a=!0),D.set(N,T)}else return!1;return!0},ue=async()=>{try{let x=await this.connected();if(!i.
has(c))return;s=x,b(V?6:0)}catch(x){let A=M.from(x);if(A.code===14&&i.has(c))return ue();I(A)}};i.set(c,{packet(x,A,C,N){if(!(x!==s||V&&le(A,C,N)))if(C===2){let T=ee(
N);if(!A&&(!p||!j(T)))return;let _=Ee(N),Se=D.get(T);for(Se&&D.set(T,{...Se,offset:Se.offset+1}),v+=_.length+Ot;v>jn&&E.length;){let $e=E.shift();v-=$e.payload.
length+Ot;let he=E[0];h+=$e.lagged+1,w||=$e.reconnected,he&&(he.lagged+=h,he.reconnected||=w,h=0,w=!1)}L({topic:T,payload:_,position:Se,lagged:h,reconnected:w}),
h=0,w=!1}else C===4?V&&f&&p||(h+=U(N,10)):A&&(H(N)?I(q([8,12,7][z(N)-3]??3,ee(N,H(N)))):k())},down(x,A){if(x===s){if(n===void 0||!p&&!d)return I(A);if(p)if(Q>0)
for(let[C,N]of D)G.set(C,N);else G=a?new Map:D,$=a?ct.now:ct.oldest,Z=!a;D=new Map,p=!1,d=!0,ue()}}}),b(V?6:t)})}};var Ut="frisbee.1";function ln(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[Ut,...t]);return r.binaryType="arraybuffer",r.onopen=()=>{r.protocol===Ut?o.open():r.close()},
r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.onclose=({code:i,reason:s})=>{o.close(`the WebSocket w\
as closed (${i}${s&&`, ${s}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Nt=(e,t={})=>new lt(ln(e,t),t);var ae={BUY:0,SELL:1},Rt=me("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[dn,dn,Qn]),Qn=me("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ae]),cn=me("exchange.Inquiry","side:e amount:u",()=>[ae]),dn=me("exchange.Level","price:u amount:u"),Zn=me("exchange.Nothing",""),un=me("exchange.Offer",
"price:u called:u answered:u"),er=me("exchange.Order","number:u side:e price:u amount:u",()=>[ae]),tr=me("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ae]),Me=nt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:Zn,reply:Rt},trade:{operation:11,request:er,reply:tr,sends:!0,receives:!0},
inquire:{operation:12,request:cn,reply:un}}),ut=class{constructor(t){this.channel=t,t.name(Me)}look(t,n){return this.channel.unary(Me,Me.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Me,Me.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Me,Me.methods.inquire,t,n)}},fn=nt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:cn,reply:un}});var Dt=240,bn=8,ie=e=>document.getElementById(e),oe=(e,t)=>void(ie(e).textContent=t),ye=e=>(e/100).toFixed(2),ft=e=>e===ae.BUY?"buy":"sell";function re(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function nr(e,t){let n=ie(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>bn;)n.lastElementChild?.remove()}var Xe=new Map,pn=0,mn=0,gn=()=>{},Bt=[];async function*rr(){for(;;){let e=Bt.shift();
e?yield e:await new Promise(t=>gn=t)}}function or({number:e,amount:t,price:n,left:o}){let r=Xe.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===ae.BUY?
1:-1;pn+=i*t,mn-=i*t*n,oe("held",String(pn)),oe("cash",ye(mn));let s=[...Xe.values()].reverse().slice(0,bn).map(({order:c,done:u,left:m})=>re("tr",[re("td",`${ft(
c.side)} ${c.amount}`,ft(c.side)),re("td",ye(c.price)),re("td",String(u)),re("td",String(m))]));ie("orders").replaceChildren(...s)}ie("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ae.SELL:ae.BUY,o={number:Xe.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Xe.set(o.number,{order:o,done:0,left:o.amount}),Bt.push(o),gn()});var Pe=0,Lt=0,Be,ve=[];function yn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));ie(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,re("li",[i,re("span",ye(o)),re("span",String(r))])}))}function ir(e){for(let{number:o,price:r}of[...e].reverse())o>Lt&&ve.push(r);ve.splice(0,ve.length-Dt);let[
t]=e;if(!t||t.number===Lt)return;Lt=t.number;let n=t.price-Pe;Pe&&n&&(oe("change",`${n>0?"▲":"▼"} ${ye(Math.abs(n))}`),ie("change").dataset.side=n>0?"buy":"\
sell"),Pe=t.price,oe("last",ye(Pe)),ie("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>re("li",[re("span",o===ae.BUY?"bought":"sold",ft(o)),re("s\
pan",ye(r)),re("span",String(i))]))),Pt()}function hn({bids:e,asks:t,deals:n,traders:o,orders:r}){yn("asks",t),yn("bids",e),t[0]&&e[0]&&oe("spread",`${ye(t[0].price-
e[0].price)} apart`),oe("traders",String(o));let i=performance.now();(!Be||i-Be.at>1e3)&&(Be&&oe("rate",((r-Be.orders)/((i-Be.at)/1e3)).toFixed(0)),Be={orders:r,
at:i}),ir(n)}function Pt(){let e=ie("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||ve.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),s=ie("state"),c=Math.min(...ve)-2,u=Math.max(...ve)+2,m=n-56,v=E=>E/(Dt-1)*m,h=E=>(u-E)/(u-c)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(s).color,t.lineWidth=.5;for(let E=0;E<5;E++){let S=c+(u-c)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,h(S)),t.lineTo(m,h(S)),t.stroke(),t.globalAlpha=1,t.fillText(ye(S),m+8,h(S)+4)}let w=Dt-ve.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ve.
forEach((E,S)=>t.lineTo(v(w+S),h(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(v(w),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Pt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Pt);var sr=It(fn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(ie("margin").value)*100),o=Pe&&Pe+
(e===ae.BUY?n:-n);return nr("asked",re("li",`${ft(e)} ${t}? You said ${ye(o)}.`)),{price:o}}}),{hostname:ar}=location,vn=Nt(`ws://${ar}:${document.documentElement.
dataset.port}/`,{serve:sr,stayConnected:!0}),pt=new ut(vn),lr=new We(vn);ie("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await pt.inquire({side:ae.BUY,amount:10}),s=(performance.now()-n).toFixed(0);oe(
"offer",o?`${ye(o)} is the best of ${i} of ${r}, after ${s} ms.`:`None of ${r} had a price.`)}catch(n){oe("offer",M.from(n).message)}t.disabled=!1});async function dr(){
for(;;){try{let e=await lr.subscribe("exchange.book"),t=pt.trade(rr()),n=(async()=>{for await(let r of t)or(r)})();ie("state").dataset.is="open",oe("state","con\
nected"),hn(await pt.look({}));let o=(async()=>{for await(let{payload:r}of e)hn(vt(Rt,r))})();await Promise.race([n,o])}catch(e){ie("state").dataset.is="failed",
oe("state",M.from(e).message)}Bt.length=0;for(let e of Xe.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}dr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await pt.look({},{timeout:5e3}),oe("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{oe("ping","–")}},2e3);
