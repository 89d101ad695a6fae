var xn=new TextEncoder,An=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Ht=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
F=e=>{throw new we(e)},j=e=>({bytes:e,at:0,depth:0,memory:0}),je=(e=64)=>j(new Uint8Array(e)),fe=e=>xn.encode(e);function Ke(e,t){let{bytes:n,at:r}=e;r+t>n.length&&
(e.bytes=new Uint8Array(Math.max(r+t,n.length*2)),e.bytes.set(n.subarray(0,r)))}function O(e,t){e.at===e.bytes.length&&Ke(e,1),e.bytes[e.at++]=t}function qt(e,t){
O(e,t>>8),O(e,t)}function R(e,t){for(;t>127;t=Math.floor(t/128))O(e,t|128);O(e,t)}function ne(e,t){Ke(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function xe(e,t){
R(e,t.length),ne(e,t)}function be(e,t){let{at:n}=e,{length:r}=t,o=r>Ht?128:0;O(e,r);for(let i=0;i<r&&o<128;i++)O(e,o=t.charCodeAt(i));o>127&&(e.at=n,xe(e,fe(t)))}
function de(e,t,n){O(e,t);let{at:r}=e;n();let o=e.bytes.slice(r,e.at);return e.at=r,xe(e,o),o.length>0}var ze=({bytes:e,at:t})=>e.subarray(0,t),H=({bytes:e,at:t})=>e.
length-t,Ae=({bytes:e,at:t})=>e[t],z=e=>e.bytes[e.at++]??F("it is cut off");function ce(e,t){let n=z(e);n!==t&&F(`${n} stands in the place of ${t}`)}function U(e,t=5){
let n=0;for(let r=1;t-- >0;r*=128){let o=z(e);if(o<128)return n+o*r;n+=(o-128)*r}return F("a number is too long")}function pe(e,t=U(e)){return t>H(e)&&F("it is \
cut off"),e.bytes.subarray(e.at,e.at+=t)}var Ee=({bytes:e,at:t})=>e.slice(t);function ee(e,t=U(e)){let{bytes:n,at:r}=e,o="",i=0;if(t<=Ht)for(let s;i<t&&(s=n[r+i])<
128;i++)o+=String.fromCharCode(s);if(i<t){let s=pe(e,t);try{return An.decode(s)}catch{F("a text is not UTF-8")}}return e.at+=t,o}var M=class e extends Error{constructor(n,r,o){super(r,o);this.name="Status";let{details:i=new Uint8Array,metadata:s={},mayHaveRun:c=!0}=o??{};Object.assign(this,
{details:i,metadata:s,mayHaveRun:c,code:n})}static from(n){return n instanceof e?n:new e(2,yt(n),{cause:n})}};var yt=e=>e instanceof Error?e.message:String(e),q=(e,t)=>new M(e,t,{mayHaveRun:!1}),Ye=e=>e>0&&e<=16?e:2,_e=(e,t,n)=>new M(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),
Ue=e=>_e(1,"the caller gave the call up",e),Je=(e,t="")=>_e(4,`no answer before the deadline${t}`,e);var et=100,En=64<<20,Tn=12,gt=8,vt=56,ht=new Uint8Array(8),Wt=new DataView(ht.buffer);function me(e,t,n){let r;return{name:e,fields:()=>r??=kn(t,n?.()??[])}}var St=(e,t)=>ke(j(t),e,0);function Ne(e,t,n){e.depth=et,Kt(e,t,n)}function ke(e,t,n){return e.depth=et,e.memory=Math.max(En,H(e)*Tn),zt(e,t,n)??Yt(e,t)}function kn(e,t){
let n=new Map,r=0;return(e?e.split(" "):[]).map(o=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(o);if(!i)throw new Error(`invalid table entry:\
 ${o}`);let[,s,c,u,m,v]=i,h=v==="m"?In(t[r++]):v==="e"?On(t[r++]):Gt[v],w=Gt[m[1]??""],E=w?[2,w.wire,h.wire,10]:m==="*"?[1,h.wire,10]:void 0,S=c?n.get(c):void 0;
c&&!S&&n.set(c,S=[]);let L={name:c??s,of:h,isOptional:m==="?",key:w,head:E,case:s,number:+u,all:S};return S?.push(L),L})}var He=({head:e,key:t,isOptional:n,of:r})=>t?
new Map:e?[]:n?void 0:r.zero();function Kt(e,t,n){if(!e.depth--)throw jt(t.name,`nests deeper than ${et}`);O(e,8),O(e,0);let r="";try{for(let o of t.fields()){let{
all:i,name:s}=o,c=n[r=s];if(!i)Cn(e,o,c);else if(o===i[0]){O(e,3);let u=c,m=i.find(v=>v.case===u?.case);if(u&&!m)throw new Error(`has no member ${u.case}`);R(e,
m?m.number:0),m&&Fe(e,m.of,u?.value)}}}catch(o){throw o instanceof M?o:jt(`${t.name}.${r}`,o.message)}e.depth++}function Cn(e,t,n){let{head:r,key:o,of:i}=t;if(n===
void 0&&(r||t.isOptional)&&(n=He(t)),r){let s=n,c=n;for(let u of r)O(e,u);if(R(e,o?s.size:c.length),o)for(let[u,m]of s)Fe(e,o,u),Fe(e,i,m);else for(let u of c)Fe(
e,i,u)}else n===void 0&&t.isOptional?O(e,0):Fe(e,i,n)}function Fe(e,t,n){t.table||O(e,t.wire),t.put(e,n===void 0?t.zero():n)}function zt(e,t,n){if(Ae(e)===0)return void e.
at++;ce(e,8),z(e),e.depth--||F(`${t.name} nests deeper than ${et}`);let r=t.fields();wt(e,vt+gt*r.length);let o={},i="";for(let s of r){let{name:c,all:u,of:m}=s,
v=u&&u[0]===s;if(v&&(o[c]=void 0),n>0&&!H(e))n--,u||(o[c]=He(s));else if(!u)o[c]=Mn(e,s);else if(v&&Ae(e)===3){e.at++,i+=` ${c} `;let h=U(e),w=u.find(E=>E.number===
h);w?o[c]={case:w.case,value:bt(e,w.of)}:h&&F(`${t.name}.${c} has no member ${h}`)}else if(!i.includes(` ${c} `)){let h=Ze(e,m);(h instanceof Uint8Array?h.length:
!Object.is(h,m.zero()))&&(o[c]={case:s.case,value:h})}}return e.depth++,o}function Mn(e,t){let{head:n,key:r,of:o}=t;if((r||t.isOptional)&&Ae(e)===0)return e.at++,
He(t);if(!n)return Ze(e,o);for(let c of n)ce(e,c);let i=U(e),s=He(t);for(;i-- >0;)wt(e,r?vt:gt),r?s.set(Ze(e,r),bt(e,o)):s.push(bt(e,o));return s}function Ze(e,{
wire:t,table:n,take:r}){return n||ce(e,t),r(e)}var bt=(e,t)=>Ze(e,t)??Yt(e,t.table);function Yt(e,t){let n={},r=t.fields();wt(e,vt+gt*r.length);for(let o of r)n[o.
name]=o.all?void 0:He(o);return n}function wt(e,t){(e.memory-=t)<0&&F("it takes too much memory")}var ge=(e,t,n,r,o)=>({wire:e,zero:t,put:n,take:r,table:o}),In=e=>ge(
3,()=>{},(t,n)=>n?Kt(t,e,n):O(t,0),t=>zt(t,e,0),e);function On(e){let t=Object.values(e);return ge(10,()=>t[0],(n,r)=>{let o=t.indexOf(r),i=r+2147483648;Ve(o>=0||
r===(r|0)&&r<0&&i>=t.length,r),R(n,o<0?i:o)},n=>{let r=U(n)>>>0,o=r-2147483648;return r>=t.length&&(o>=0||t.includes(o))&&F(`an enum has the index ${r}`),t[r]??
o})}var Qe=(e,t)=>ge(e?13:11,()=>t?0:0n,(n,r)=>{let o=BigInt(r),i=Number(o),s=e?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(s)&&s>=0)return R(n,s);Ve((e?BigInt.asIntN:
BigInt.asUintN)(64,o)===o,r);let c=e?o<<1n^o>>63n:o;for(;c>>53n;c>>=7n)O(n,Number(c&127n)|128);R(n,Number(c))},n=>{let{at:r}=n,o=U(n,10);if(o<=Number.MAX_SAFE_INTEGER)
e&&(o=o%2?(o+1)/-2:o/2);else{let i=0n;for(let s=0n;r<n.at;s+=7n)i|=BigInt(n.bytes[r++]&127)<<s;i=BigInt.asUintN(64,i),o=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(
Number(o))||F("an integer is beyond 2^53"),Number(o)):BigInt(o)}),Xt=(e,t)=>ge(e,()=>0,(n,r)=>{Wt[t>4?"setFloat64":"setFloat32"](0,r);for(let o=0;o<t;o++)O(n,ht[o])},
n=>{for(let r=0;r<t;r++)ht[r]=z(n);return Wt[t>4?"getFloat64":"getFloat32"](0)}),Gt={b:ge(7,()=>!1,(e,t)=>O(e,+t),e=>{let t=z(e);return t>1&&F(`a bool is ${t}`),
t>0}),i:ge(12,()=>0,(e,t)=>{Ve(t===(t|0),t),R(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>1^-(t&1)}),u:ge(10,()=>0,(e,t)=>{Ve(t===t>>>0,t),R(e,t)},e=>U(e)>>>
0),l:Qe(!0,!1),w:Qe(!1,!1),L:Qe(!0,!0),W:Qe(!1,!0),f:Xt(14,4),d:Xt(15,8),s:ge(5,()=>"",(e,t)=>{Ve(typeof t=="string",t),O(e,10),be(e,t)},e=>(ce(e,10),ee(e))),y:ge(
4,()=>new Uint8Array,(e,t)=>{O(e,10),xe(e,t)},e=>(ce(e,10),pe(e).slice()))},jt=(e,t)=>q(3,`${e} ${t}`);function Ve(e,t){if(!e)throw new Error(`cannot be ${String(
t)}`)}var At=16,Jt=65536,Qt=256,Un=61440,Nn={metadata:{}},xt=e=>e.endsWith("-bin"),Zt=(e,t)=>xt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${xt(
e)?"":t}`),Et=e=>typeof e=="string"?fe(e):e;function qe(e,{isBackward:t,timeout:n,metadata:r={},status:o}){let{at:i}=e;de(e,At,()=>{t&&de(e,4,()=>{}),n!==void 0&&
de(e,1,()=>R(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let c=0;if(Object.entries(r).forEach(([u,m],v)=>{if(!Zt(u,m))throw q(3,`metadat\
a breaks the rules: ${u}`);if(c+=u.length+m.length+8,v>=Qt||c>Un)throw q(8,"too much metadata");de(e,2,()=>{be(e,u),ne(e,Et(m))})}),o){let{code:u,details:m,mayHaveRun:v}=o;
de(e,3,()=>{R(e,u),e.at-i+m.length+32<=Jt&&ne(e,m)}),v||de(e,5,()=>{})}})||(e.at=i)}function Re(e){if(Ae(e)!==At)return Nn;e.at++;let t=j(pe(e));H(t)>Jt&&F("a p\
refix is too long");let n=Object.create(null),r={metadata:n},o=0;for(;H(t);){let i=z(t),s=j(pe(t));if(i===1)r.timeout=U(s,10)/1e3;else if(i===2){let c=ee(s),u=xt(
c)?Ee(s):ee(s,H(s));(!Zt(c,u)||++o>Qt)&&F("metadata breaks the rules"),n[c]=u}else i===3?(r.code=Ye(U(s,10)),r.details=Ee(s)):i===5&&(r.isRefused=!0)}return r}function en(e){
let t=1;for(;e[t]>127;)t++;return e[0]===At&&e[t+1]===4&&e[t+2]===0}function tt(e,{metadata:t,code:n,details:r,isRefused:o}){if(Ae(e)===6)return e.at++,ce(e,5),
ce(e,10),new M(n??2,ee(e),{metadata:t,mayHaveRun:!o,...r&&{details:r}})}function nt(e,t,n){qe(e,{isBackward:n,status:t,metadata:t.metadata}),ne(e,[6,5,10]),be(e,
t.message)}var rt=(e,t,n,r)=>({name:e,fingerprint:t,compatible:n,methods:r,operations:Object.values(r).map(({operation:o})=>o)});function ot(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw q(9,`incompatibl\
e layouts of ${e.name}`);return 1}var it=({added:e=[0,0]},t,n)=>t*e[n];function Tt(e,t){let n=o=>o.match(/../g)?.forEach(i=>O(e,parseInt(i,16)));be(e,t.name),n(
t.fingerprint),R(e,t.compatible.length),t.compatible.forEach(n);let r=0;for(let o of[...t.operations].sort((i,s)=>i-s))R(e,o-r),r=o}function tn(e){let t=()=>{let r="";
for(;r.length<16;)r+=z(e).toString(16).padStart(2,"0");return r},n={service:ee(e),fingerprint:t(),compatible:[],operations:[]};for(let r=U(e);r>0;r--)n.compatible.
push(t());for(let r=0;H(e);)n.operations.push(r+=U(e));return n}var kt=5<<20,Rn=1024,Ln=65536,Le=10,Ce=16384,Dn=Ce/2,Ct=256,st=262144,Bn=1e5,Pn=64<<20,$n=65536,_n=2e3,Fn=5,Vn=1e4,nn="the server is going away",Hn=2147483647,De=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Hn));function on(e,t,n,r,o){let i=je(16384),s=new Map,c=new Map,u=new Map,m=[],v=0,h=0,w=0,E=0,S=0,L=32767,P=[0,kt,1/0,Ce,0],I=!1,Y=!1,
W,K=Le,V=0,X=!1,$=0,G=!1,D=!1,Q=0,te,Z=()=>{i.at&&(G=!1,D=!0,I||he?.send(ze(i)),i.at=$=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),(he?.buffered()??
0)>Pn&&C("the server does not read: too many unsent bytes"))},d=()=>{i.at!==$?($=i.at,queueMicrotask(d)):(X=!1,Z())},a=(l,y,g,B)=>{let{at:Ie}=i;try{Ke(i,Le),i.at+=
Le,g?.(i,B);let se=i.at,Oe=se-Ie-Le,Vt=Math.max(P[1],Rn);if(Oe>Vt)throw q(8,`the message has ${Oe} bytes, and the server accepts ${Vt}`);i.at=Ie;for(let wn of[15,
l,y,Oe>>>16,Oe])qt(i,wn);i.at=se}catch(se){throw i.at=Ie,se}i.at>$n?Z():X||(X=!0,$=0,queueMicrotask(d))},f=(l,{code:y,message:g})=>a(l,7,B=>{R(B,y),ne(B,fe(g.slice(
0,256)))}),p=(l,y)=>{a(l,5,R,0),f(l,y)},b=l=>{if(!I){if(Q=0,W){if(ne(W,l),W.at<K)return;l=ze(W),W=void 0}try{let y=0,g=B=>l[y+B]<<8|l[y+B+1];for(;!I&&!(l.length<
(K=y+Le));y=K){g(0)!==15&&F("a header without its magic");let B=g(6)*65536+g(8);if(B>kt&&F(`a packet of ${B} bytes`),l.length<(K+=B))break;k(g(2),g(4),l.subarray(
y+Le,K))}y<l.length&&(K-=y,ne(W=je(),l.subarray(y)))}catch(y){C(`the server broke the protocol: ${y.message}`)}}},k=(l,y,g)=>{let B=j(g),Ie=s.get(l);if(y>=10)if(T.
isUp||F("a packet before HELLO"),en(g)){if(_)return _.packet(l,y,g,!1)}else{let se=m[l%Ce];if(se?.id===l&&se.operation===y)return le(l),se.isGivenUp?h--:t.replied(
se,g),x();if(o.filter(Oe=>Oe.packet(T,l,y,g)).length)return}else if(y<2){g.length&&F("a PING or PONG with a body"),y===1?T.isUp||C("the server is a compat peer"):
G||(G=!0,a(0,1));return}else{if(y===3&&!T.isUp)return J(B);if(y===4)return A();if(y===6)return _?.cancel(l,U(B));if(y===8)F("an answer to no hand-off");else{if(Ie&&
y!==3&&y<8)return Ie.packet(y,g);if(y===2){let se=l-L&32767;if(l>=32768&&se&&se<=16384)return L=l,_?_.packet(l,2,g,!0):p(l,q(12,"this end serves nothing"))}}}++V>
Bn&&C("too many packets that belong to nothing")},J=l=>{for((H(l)>Ln||ee(l,4)!=="fris"||!z(l))&&F("it sent no HELLO");H(l);){let y=z(l),g=j(pe(l));if(y in P)P[y]=
U(g);else if(y===32||y===33)try{let B=tn(g);(y===32?c:u).set(B.service,B)}catch{}}P[3]=Math.min(P[3],Ce),T.isUp=!0,clearTimeout(Se),t.room(T)},le=l=>{m[l%Ce]=void 0,
v--===P[3]&&t.room(T)},ue=(l,y,g)=>{s.set(y,l),l.begin(T,y,P[4],g)},x=()=>{Y&&v===h&&!s.size&&!_?.progress.size&&queueMicrotask(()=>C(nn))},A=()=>{Y||(Y=!0,t.left(
T,nn),x())},C=l=>{I||(Z(),he?.close(),N(l))},N=l=>{if(I)return;I=!0,clearInterval(te),clearTimeout(Se),t.left(T,l),T.isUp=!1;let y=new M(14,`the connection was \
lost: ${l}`);for(let g of m)g&&!g.isGivenUp&&t.lost(g,y);for(let g of s.values())g.lost(y);_?.down(y);for(let g of o)g.down(T,y)},T={isUp:!1,write:a,reset:f,refuse:p,
fits(l){let y=c.get(l.name);if(y)return y.fingerprint===l.fingerprint||n.includes(l)?ot(l,y):void 0;for(let g of c.values())if(g.operations.some(B=>l.operations.
includes(B)))throw q(12,`the server has ${g.service} in the place of ${l.name}`);return 0},call(l,y){if(v>=P[3])return!1;do w=w+1&65535;while(m[w%Ce]);let g=l.id=
w;m[g%Ce]=l,v++;try{a(g,l.operation,y,l)}catch(B){throw le(g),B}return!0},cancel(l){I||(l.isGivenUp=!0,a(l.id,6,R,l.operation),++h>=Dn&&A(),x())},open(l,y,g){if(!P[2])
throw q(12,"the server does not accept streams");if(E>=Math.min(P[2],28672))return!1;do S=S%32767+1;while(s.has(S));return E++,ue(l,S,y),a(S,2,g),!0},accept:ue,
over(l){s.delete(l),l<32768&&(E--,t.room(T)),x()},leave:A,closeIfIdle:x},_=r?.on(T,u),Se=De(Vn,()=>C("no HELLO in time")),$e=()=>{a(0,3,l=>{ne(l,fe("fris"));let y=_?
Ct:0;[kt,y,y,st].forEach((g,B)=>de(l,B+1,()=>R(l,g)));for(let g of r?.services??[])de(l,32,()=>Tt(l,g));for(let g of n)de(l,33,()=>Tt(l,g))}),a(1,0),Z(),te=setInterval(
()=>{if(++Q>Fn)return C("the server is silent");(Q>1||!D)&&a(0,0),D=!1;let l=performance.now();for(let y of m)y&&y.until<=l&&!y.isGivenUp&&t.look(y)},_n)},he,_t=l=>he?
l():queueMicrotask(l),Ft=l=>_t(()=>N(l));try{he=e({open:()=>_t($e),data:b,close:Ft})}catch(l){Ft(yt(l))}return T}function at(e,t){let n=[],r=!1,o=()=>{},i=u=>{r||=u,o()},s=(async function*(){try{for(;;){let u=n.shift();if(u!==void 0){let m=e(u);m!==void 0&&(yield m)}else if(r){
if(r!==!0)throw r;return}else await new Promise(m=>o=m)}}finally{t()}})(),{return:c}=s;return s.return=()=>(t(),n.length=0,i(!0),c.call(s,void 0)),{messages:s,items:n,
put:u=>{n.push(u),o()},end:i}}var Mt=64,qn=4,Wn=4096,It=(e,t)=>e instanceof we?new M(13,`not a valid ${t.name}: ${e.message}`):M.from(e);function lt(e,t,n,r,o){let i,s=0,c=0,u=0,m=0,v=0,h=!0,
w=!0,E=!1,S=!1,L=()=>{},P,I=()=>!h&&!w,{messages:Y,items:W,put:K,end:V}=at(a=>{let f=a.length+Mt;m-=f,v+=f,w&&v*qn>=st&&(i?.write(s,5,R,v),v=0);try{let p=j(a),b=Re(
p);if(p.at&&(o?.(X.metadata=b.metadata),!H(p)))return;let k=tt(p,b);if(k)throw k;return ke(p,t,c)}catch(p){throw It(p,t)}},()=>n?Q(!0):Z()),X=Object.assign(Y,{metadata:{}}),
$=()=>{I()&&(L(),P?.(),i?.over(s),i=P=void 0,r())},G=()=>{h&&(h=!1,i?.write(s,7),$())},D=a=>{h=w=!1,V(a),$()},Q=(a,f=Ue(!0))=>{I()||i?.reset(s,f),W.length=0,D(a)},
te=a=>Q(a,a),Z=()=>{W.length=0,E=!0},d=a=>{if(!i||!h)return;let f=a instanceof M;i.write(s,2,p=>{let{at:b}=p;f?nt(p,a,!1):Ne(p,e,a),u-=p.at-b+Mt}),f&&G()};return{
messages:X,begin(a,f,p,b){i=a,s=f,u=p,c=b},packet(a,f){if(a===2)return!w||E?void 0:m+v>=st?te(new M(8,"the peer sent more than it had credit for")):(m+=f.length+
Mt,K(new Uint8Array(f)));let p=j(f);if(a===5){let b=U(p,10);S||=!b,(u+=b)>0&&L()}else if(f.length){let b=Ye(U(p));D(new M(b,new TextDecoder().decode(Ee(p).subarray(
0,Wn)),{mayHaveRun:!S}))}else w=!1,V(!0),$()},send:d,async pump(a){try{let f=Symbol.asyncIterator in a?a[Symbol.asyncIterator]():a[Symbol.iterator]();for(P=async()=>{
try{await f.return?.()}catch{}};;){for(;u<=0&&!I();)await new Promise(k=>L=k);if(I())return;let{done:p,value:b}=await f.next();if(I())return;if(p)break;d(b)}P=void 0,
G()}catch(f){let p=M.from(f);n?Q(p):d(p)}},finish:G,discard:Z,fail:te,lost:D}}var Xn=3e4,Gn=5e3,jn=20,sn=2e3,an=10,dt=class{constructor(t,{timeout:n,patience:r=Gn,metadata:o,serve:i,stayConnected:s}={}){let c,u=0,m=an,v=0,h,w=!1,E="",S=new Set,
L=new Set,P=[],I=()=>{c||h||w||!(S.size||s)||(v=performance.now(),c=on(t,Y,[...L],i,P))},Y={room:d=>queueMicrotask(()=>{for(let a of S){if(c!==d||!W(a,d))return;
S.delete(a)}}),left(d,a){c===d&&(c=void 0,d.isUp&&performance.now()-v>=sn?u=0:(E=a,clearTimeout(h),h=De(Math.random()*Math.min(jn*2**Math.min(u++,16),sn),()=>{h=
void 0,I()})),I())},replied(d,a){let f=d,{method:{reply:p},options:{onMetadata:b}}=f;X(f);try{let k=j(a),J=Re(k),le=tt(k,J);if(le)throw le;k.at&&b?.(J.metadata),
f.resolve(ke(k,p,f.missing)),m<an&&(m+=.1)}catch(k){f.reject(It(k,p))}},look:d=>V(d),lost(d,a){let f=d;if(f.link=void 0,!f.method.idempotent||m<1)return $(f,a);
m--,K(f)}},W=(d,a)=>{let{service:f,method:p}=d;try{let b=f?a.fits(f):0;return b!==void 0?(d.missing=it(p,b,1),d.start(d,a)&&(d.isSent=!0)):(L.add(f),u=0,a.leave(),
!1)}catch(b){return $(d,M.from(b)),!0}},K=d=>{if(!(c?.isUp&&W(d,c))){if(w)return $(d,ln());d.patient=performance.now()+r,S.add(d),V(d),I()}},V=d=>{let{until:a,isSent:f,
patient:p}=d,b=performance.now(),k=S.has(d)&&!c?.isUp&&`no connection to the server${E&&`: ${E}`}`;clearTimeout(d.timer),b>=a?$(d,Je(f,k?`; ${k}`:"")):b>=p&&k?$(
d,_e(14,k,f)):d.timer=De((b<p?Math.min(a,p):a)-b,()=>V(d))},X=d=>{S.delete(d),clearTimeout(d.timer),d.options.signal?.removeEventListener("abort",d.abort)},$=(d,a)=>{
X(d),d.link?.cancel(d),d.reject(a)},G=(d,{told:a,until:f,options:{metadata:p}})=>{(a!==void 0||o||p)&&qe(d,{timeout:a&&f-performance.now(),metadata:{...o,...p}})},
D=(d,a)=>{G(d,a),Ne(d,a.method.request,a.request)},Q=(d,a)=>{let f=a.call(d,D);return f&&(d.link=a),f},te=(d,a,f,p,b,k,J,le,ue=1/0)=>{let{signal:x}=p,A={id:0,operation:a.
operation,until:performance.now()+(b??ue),isGivenUp:!1,isSent:!1,patient:1/0,missing:0,timer:void 0,link:void 0,service:d,method:a,request:f,options:p,told:b,start:k,
resolve:J,reject:le,abort:x&&(()=>$(A,Ue(A.isSent)))};return x?.aborted?A.abort?.():(x?.addEventListener("abort",A.abort),b!==void 0&&V(A),(b===void 0||b>0)&&K(
A)),A},Z=(d,a,f,p={})=>{let b,k=lt(a.request,a.reply,!0,()=>b&&X(b),p.onMetadata);return b=te(d,a,f,p,p.timeout,(J,le)=>{let ue=le.open(k,J.missing,x=>{G(x,J),O(
x,9),R(x,J.operation)});return ue&&k.pump(f),ue},()=>{},k.fail),k};this.unary=(d,a,f,p={})=>new Promise((b,k)=>void te(d,a,f,p,p.timeout??n,Q,b,k,Xn)),this.serverStreaming=
(d,a,f,p)=>Z(d,a,[f],p).messages,this.twoWay=(d,a,f,p)=>Z(d,a,f,p).messages,this.clientStreaming=async(d,a,f,p)=>{let{messages:b}=Z(d,a,f,p),{done:k,value:J}=await b.
next();if(k)throw new M(13,"there is no reply");return b.return?.(),J},this.name=d=>void L.add(d),this.mount=d=>void P.push(d),this.connected=()=>new Promise((d,a)=>{
te(void 0,{},void 0,{},void 0,(f,p)=>(X(f),d(p),!0),d,a)}),this.close=()=>{w=!0,clearTimeout(h);for(let d of S)$(d,ln());c?.leave()},s&&queueMicrotask(I)}},ln=()=>_e(
9,"the channel is closed",!1);async function ct(e){let t;do t=await e.connected();while(!t.isUp);return t}function Ot(e,t,n){let r=new Map(n?.methods);for(let[o,i]of Object.entries(e.methods))r.set(i.operation,{service:e,method:i,handler:(s,c)=>t[o]?.(s,c)});return{
services:[...n?.services??[],e],methods:r,on(o,i){let s=new Map,c=(u,m)=>{let v=r.get(u);if(!v||!(v.method.sends||v.method.receives)===m)throw q(12,`there is no\
 operation ${u} here`);if(s.size>=Ct)throw q(8,"too many calls are in progress");let{service:h,method:w}=v,E=i.get(h.name);return{...v,left:it(w,E?ot(h,E):0,0)}};
return{progress:s,packet(u,m,v,h){let w,E=S=>o.write(u,m,L=>{S instanceof M?nt(L,S,!0):(qe(L,{isBackward:!0}),Ne(L,w.reply,S))});try{let S=j(v),{timeout:L,metadata:P}=Re(
S);h&&(ce(S,9),m=U(S,3));let I=c(m,h);({method:w}=I);let Y=h||ke(S,w.request,I.left),W=h?u+65536:u,K=new AbortController,V=D=>{clearTimeout(G),D||K.abort(),s.delete(
W),o.closeIfIdle()},X=h?lt(w.reply,w.request,!1,()=>V(!1)):{send(D){s.has(W)&&(E(D),V(!0))},fail:E,finish(){},discard(){}},$=D=>{X.fail(D),V(!1)},G=L===void 0?void 0:
De(L,()=>$(Je(!0)));s.set(W,{operation:m,stop:$}),h&&o.accept(X,u,I.left),Kn(I,h,Y,X,{signal:K.signal,metadata:P})}catch(S){let L=S instanceof we?q(3,`the reque\
st cannot be read: ${S.message}`):M.from(S);h?o.refuse(u,L):E(L)}},cancel(u,m){let v=s.get(u);v?.operation===m&&v.stop(Ue(!0))},down(u){for(let m of s.values())
m.stop(u)}}}}}async function Kn({method:e,handler:t},n,r,o,i){try{if(e.sends)r=o.messages;else if(n){let c=await o.messages.next();if(c.done)throw q(3,"there wa\
s no request");r=c.value}let s=t(r,i);e.receives?await o.pump?.(s):(o.send(await s),o.finish())}catch(s){o.send(M.from(s))}o.discard()}var We=65280,zn=16<<20,Ut=64,Yn=65536,Jn=4,ut={now:0,last:1,oldest:2},Xe=class{constructor(t){this.channel=t;this.asked=new Map;this.last=0;let{asked:n}=this;t.
mount({packet(r,o,i,s){if(i<We)return!1;for(let[c,u]of n)(!o||o===c)&&u.packet(r,o,i-We,j(s));return!0},down(r,o){for(let i of[...n.values()])i.down(r,o)}})}subscribe(t,{
group:n="",from:r}={}){return this.ask(0,t,n,r)}async publish(t,n){(await ct(this.channel)).write(0,We+2,r=>{xe(r,fe(t)),ne(r,Et(n))})}async sync(){await(await this.
ask(3)).return?.()}async ask(t,n,r="",o){let{asked:i}=this,s=await ct(this.channel);do this.last=this.last%65535+1;while(i.has(this.last));let c=this.last;return new Promise(
(u,m)=>{let v=0,h=0,w=!1,{items:E,messages:S,put:L,end:P}=at(x=>(v-=x.payload.length+Ut,x),()=>{i.delete(c)&&n!==void 0&&s.isUp&&s.write(c,We+1)}),I=x=>{i.delete(
c),m(x),P(x)},Y=r?[]:n?.split(".")??[],W=Y[Y.length-1]===">",K=x=>{let A=x.split(".");return(W?A.length>=Y.length:A.length===Y.length)&&Y.every((C,N)=>C===">"||
C==="*"||C===A[N])},V=t===0&&!r&&o!==void 0,X=typeof o=="object",$=X||o===void 0?ut.oldest:ut[o],G=new Map(X?[[n,{...o,offset:o.offset+1}]]:[]),D=new Map,Q=0,te="",
Z=!1,d=!1,a=!1,f=!1,p=!1,b=x=>{s.write(c,We+x,A=>{if(n!==void 0&&xe(A,fe(n)),x===6){O(A,$);for(let[C,N]of G){be(A,C);for(let T=0;T<16;T+=2)O(A,parseInt(N.epoch.
slice(T,T+2),16));R(A,N.offset)}}else ne(A,fe(r))})},k=()=>{p=!0,d&&(a||!(V&&f))&&(w=!0),u(S)},J=x=>Array.from(pe(x,8),A=>A.toString(16).padStart(2,"0")).join(""),
le=(x,A,C)=>{if(A===5&&x&&!p&&V&&C.bytes[C.at]===Jn)a=!0,b(0);else if(A===6&&x&&C.bytes[C.at]===0){z(C),f=z(C)===1;let N=J(C);Q=U(C,10);let T=te!==""&&te!==N,_=!n?.
match(/[*>]/)&&G.size>0;te=N,k(),a=!1,w||=_?!Q:T}else if(A===7)for(;H(C);){let N=ee(C),T={epoch:J(C),offset:U(C,10)};if(!p||!x&&!K(N))continue;let _=D.get(N);x&&
!_?(Q--,_=G.get(N)??(Z?{...T,offset:1}:void 0)):!x&&_?.epoch!==T.epoch&&(_=void 0),_&&f&&(_.epoch===T.epoch&&_.offset<=T.offset?h+=T.offset-_.offset:w=!0),D.size>=
Yn&&(D.clear(),a=!0),D.set(N,T)}else return!1;return!0},ue=async()=>{try{let x=await ct(this.channel);if(!i.has(c))return;s=x,b(V?6:0)}catch(x){let A=M.from(x);
if(A.code===14&&i.has(c))return ue();I(A)}};i.set(c,{packet(x,A,C,N){if(!(x!==s||V&&le(A,C,N)))if(C===2){let T=ee(N);if(!A&&(!p||!K(T)))return;let _=Ee(N),Se=D.
get(T);for(Se&&D.set(T,{...Se,offset:Se.offset+1}),v+=_.length+Ut;v>zn&&E.length;){let $e=E.shift();v-=$e.payload.length+Ut;let he=E[0];h+=$e.lagged+1,w||=$e.reconnected,
he&&(he.lagged+=h,he.reconnected||=w,h=0,w=!1)}L({topic:T,payload:_,position:Se,lagged:h,reconnected:w}),h=0,w=!1}else C===4?V&&f&&p||(h+=U(N,10)):A&&(H(N)?I(q(
[8,12,7][z(N)-3]??3,ee(N,H(N)))):k())},down(x,A){if(x===s){if(n===void 0||!p&&!d)return I(A);if(p)if(Q>0)for(let[C,N]of D)G.set(C,N);else G=a?new Map:D,$=a?ut.now:
ut.oldest,Z=!a;D=new Map,p=!1,d=!0,ue()}}}),b(V?6:t)})}};var Nt="frisbee.1";function dn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let o=new n(String(e),[Nt,...t]);return o.binaryType="arraybuffer",o.onopen=()=>{o.protocol===Nt?r.open():o.close()},
o.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):o.close()},o.onerror=()=>{},o.onclose=({code:i,reason:s})=>{r.close(`the WebSocket w\
as closed (${i}${s&&`, ${s}`})`)},{send:i=>o.send(i),close:()=>o.close(),buffered:()=>o.bufferedAmount}}}var Rt=(e,t={})=>new dt(dn(e,t),t);var ae={BUY:0,SELL:1},Lt=me("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[cn,cn,Zn]),Zn=me("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ae]),un=me("exchange.Inquiry","side:e amount:u",()=>[ae]),cn=me("exchange.Level","price:u amount:u"),er=me("exchange.Nothing",""),fn=me("exchange.Offer",
"price:u called:u answered:u"),tr=me("exchange.Order","number:u side:e price:u amount:u",()=>[ae]),nr=me("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ae]),Me=rt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:er,reply:Lt},trade:{operation:11,request:tr,reply:nr,sends:!0,receives:!0},
inquire:{operation:12,request:un,reply:fn}}),ft=class{constructor(t){this.channel=t,t.name(Me)}look(t,n){return this.channel.unary(Me,Me.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Me,Me.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Me,Me.methods.inquire,t,n)}},pn=rt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:un,reply:fn}});var Bt=240,gn=8,ie=e=>document.getElementById(e),oe=(e,t)=>void(ie(e).textContent=t),ye=e=>(e/100).toFixed(2),pt=e=>e===ae.BUY?"buy":"sell";function re(e,t,n=""){
let r=document.createElement(e);return r.className=n,typeof t=="string"?r.textContent=t:r.append(...t),r}function rr(e,t){let n=ie(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>gn;)n.lastElementChild?.remove()}var Ge=new Map,mn=0,yn=0,vn=()=>{},Pt=[];async function*or(){for(;;){let e=Pt.shift();
e?yield e:await new Promise(t=>vn=t)}}function ir({number:e,amount:t,price:n,left:r}){let o=Ge.get(e);if(!o)return;o.done+=t,o.left=r;let i=o.order.side===ae.BUY?
1:-1;mn+=i*t,yn-=i*t*n,oe("held",String(mn)),oe("cash",ye(yn));let s=[...Ge.values()].reverse().slice(0,gn).map(({order:c,done:u,left:m})=>re("tr",[re("td",`${pt(
c.side)} ${c.amount}`,pt(c.side)),re("td",ye(c.price)),re("td",String(u)),re("td",String(m))]));ie("orders").replaceChildren(...s)}ie("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ae.SELL:ae.BUY,r={number:Ge.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ge.set(r.number,{order:r,done:0,left:r.amount}),Pt.push(r),vn()});var Pe=0,Dt=0,Be,ve=[];function hn(e,t){let n=Math.
max(1,...t.map(({amount:r})=>r));ie(e).replaceChildren(...t.slice(0,10).map(({price:r,amount:o})=>{let i=document.createElement("meter");return i.max=n,i.value=
o,re("li",[i,re("span",ye(r)),re("span",String(o))])}))}function sr(e){for(let{number:r,price:o}of[...e].reverse())r>Dt&&ve.push(o);ve.splice(0,ve.length-Bt);let[
t]=e;if(!t||t.number===Dt)return;Dt=t.number;let n=t.price-Pe;Pe&&n&&(oe("change",`${n>0?"▲":"▼"} ${ye(Math.abs(n))}`),ie("change").dataset.side=n>0?"buy":"\
sell"),Pe=t.price,oe("last",ye(Pe)),ie("deals").replaceChildren(...e.map(({side:r,price:o,amount:i})=>re("li",[re("span",r===ae.BUY?"bought":"sold",pt(r)),re("s\
pan",ye(o)),re("span",String(i))]))),$t()}function bn({bids:e,asks:t,deals:n,traders:r,orders:o}){hn("asks",t),hn("bids",e),t[0]&&e[0]&&oe("spread",`${ye(t[0].price-
e[0].price)} apart`),oe("traders",String(r));let i=performance.now();(!Be||i-Be.at>1e3)&&(Be&&oe("rate",((o-Be.orders)/((i-Be.at)/1e3)).toFixed(0)),Be={orders:o,
at:i}),sr(n)}function $t(){let e=ie("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:r}=e;if(!t||ve.length<2||n===0)return;let o=devicePixelRatio;e.width=
n*o,e.height=r*o,t.scale(o,o);let i=getComputedStyle(e),s=ie("state"),c=Math.min(...ve)-2,u=Math.max(...ve)+2,m=n-56,v=E=>E/(Bt-1)*m,h=E=>(u-E)/(u-c)*(r-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(s).color,t.lineWidth=.5;for(let E=0;E<5;E++){let S=c+(u-c)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,h(S)),t.lineTo(m,h(S)),t.stroke(),t.globalAlpha=1,t.fillText(ye(S),m+8,h(S)+4)}let w=Bt-ve.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ve.
forEach((E,S)=>t.lineTo(v(w+S),h(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,r),t.lineTo(v(w),r),t.globalAlpha=.1,t.fill()}addEventListener("resize",$t);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",$t);var ar=Ot(pn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(ie("margin").value)*100),r=Pe&&Pe+
(e===ae.BUY?n:-n);return rr("asked",re("li",`${pt(e)} ${t}? You said ${ye(r)}.`)),{price:r}}}),{hostname:lr}=location,Sn=Rt(`ws://${lr}:${document.documentElement.
dataset.port}/`,{serve:ar,stayConnected:!0}),mt=new ft(Sn),dr=new Xe(Sn);ie("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:r,called:o,answered:i}=await mt.inquire({side:ae.BUY,amount:10}),s=(performance.now()-n).toFixed(0);oe(
"offer",r?`${ye(r)} is the best of ${i} of ${o}, after ${s} ms.`:`None of ${o} had a price.`)}catch(n){oe("offer",M.from(n).message)}t.disabled=!1});async function cr(){
for(;;){try{let e=await dr.subscribe("exchange.book"),t=mt.trade(or()),n=(async()=>{for await(let o of t)ir(o)})();ie("state").dataset.is="open",oe("state","con\
nected"),bn(await mt.look({}));let r=(async()=>{for await(let{payload:o}of e)bn(St(Lt,o))})();await Promise.race([n,r])}catch(e){ie("state").dataset.is="failed",
oe("state",M.from(e).message)}Pt.length=0;for(let e of Ge.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}cr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await mt.look({},{timeout:5e3}),oe("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{oe("ping","–")}},2e3);
