var En=new TextEncoder,Tn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),qt=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
F=e=>{throw new Se(e)},H=e=>({bytes:e,at:0,depth:0,memory:0}),Ke=(e=64)=>H(new Uint8Array(e)),pe=e=>En.encode(e);function ze(e,t){let{bytes:n,at:o}=e;o+t>n.length&&
(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function O(e,t){e.at===e.bytes.length&&ze(e,1),e.bytes[e.at++]=t}function Wt(e,t){
O(e,t>>8),O(e,t)}function R(e,t){for(;t>127;t=Math.floor(t/128))O(e,t|128);O(e,t)}function re(e,t){ze(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function we(e,t){
R(e,t.length),re(e,t)}function be(e,t){let{at:n}=e,{length:o}=t,r=o>qt?128:0;O(e,o);for(let i=0;i<o&&r<128;i++)O(e,r=t.charCodeAt(i));r>127&&(e.at=n,we(e,pe(t)))}
function ue(e,t,n){O(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,we(e,r),r.length>0}var Ye=({bytes:e,at:t})=>e.subarray(0,t),q=({bytes:e,at:t})=>e.
length-t,xe=({bytes:e,at:t})=>e[t],Y=e=>e.bytes[e.at++]??F("truncated");function fe(e,t){let n=Y(e);n!==t&&F(`found byte ${n}, expected ${t}`)}function U(e,t=5){
let n=0;for(let o=1;t-- >0;o*=128){let r=Y(e);if(r<128)return n+r*o;n+=(r-128)*o}return F("a number is too long")}function me(e,t=U(e)){return t>q(e)&&F("trunca\
ted"),e.bytes.subarray(e.at,e.at+=t)}var Ae=({bytes:e,at:t})=>e.slice(t);function ee(e,t=U(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=qt)for(let a;i<t&&(a=n[o+i])<128;i++)
r+=String.fromCharCode(a);if(i<t){let a=me(e,t);try{return Tn.decode(a)}catch{F("a text is not UTF-8")}}return e.at+=t,r}var k=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:c=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:c,code:n})}static from(n){return n instanceof e?n:new e(2,Je(n),{cause:n})}};var Je=e=>e instanceof Error?e.message:String(e),W=(e,t)=>new k(e,t,{mayHaveRun:!1}),Qe=e=>e>0&&e<=16?e:2,Ve=(e,t,n)=>new k(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),
Ne=e=>Ve(1,"the caller cancelled the call",e),Ze=(e,t="")=>Ve(4,`deadline exceeded${t}`,e);var nt=100,kn=64<<20,Cn=12,vt=8,St=56,bt=new Uint8Array(8),Xt=new DataView(bt.buffer);function ye(e,t,n){let o;return{name:e,fields:()=>o??=Mn(t,n?.()??[])}}var wt=(e,t)=>Te(H(t),e,0);function Le(e,t,n){e.depth=nt,zt(e,t,n)}function Te(e,t,n){return e.depth=nt,e.memory=Math.max(kn,q(e)*Cn),Yt(e,t,n)??Jt(e,t)}function Mn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,c,f,m,b]=i,y=b==="m"?Un(t[o++]):b==="e"?Nn(t[o++]):Gt[b],v=Gt[m[1]??""],E=v?[2,v.wire,y.wire,10]:m==="*"?[1,y.wire,10]:void 0,S=c?n.get(c):void 0;
c&&!S&&n.set(c,S=[]);let P={name:c??a,of:y,isOptional:m==="?",key:v,head:E,case:a,number:+f,all:S};return S?.push(P),P})}var We=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function zt(e,t,n){if(!e.depth--)throw Kt(t.name,`nests deeper than ${nt}`);O(e,8),O(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,c=n[o=a];if(!i)In(e,r,c);else if(e.isFlat||r===i[0]){let f=c,m=i.find(y=>y.case===f?.case);if(f&&!m)throw new Error(`has no member ${f.case}`);e.
isFlat||(O(e,3),R(e,m?m.number:0));let b=e.isFlat?r:m;b&&He(e,b.of,b===m?f?.value:void 0)}}}catch(r){throw r instanceof k?r:Kt(`${t.name}.${o}`,r.message)}e.depth++}
function In(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=We(t)),o){let a=n,c=n;for(let f of o)O(e,f);if(R(e,r?a.size:c.length),r)for(let[
f,m]of a)He(e,r,f),He(e,i,m);else for(let f of c)He(e,i,f)}else n===void 0&&t.isOptional&&!e.isFlat?O(e,0):He(e,i,n)}function He(e,t,n){t.table||O(e,t.wire),t.put(
e,n===void 0?t.zero():n)}function Yt(e,t,n){if(xe(e)===0)return void e.at++;fe(e,8),Y(e),e.depth--||F(`${t.name} nests deeper than ${nt}`);let o=t.fields();xt(e,
St+vt*o.length);let r={},i="";for(let a of o){let{name:c,all:f,of:m}=a,b=f&&f[0]===a;if(b&&(r[c]=void 0),n>0&&!q(e))n--,f||(r[c]=We(a));else if(!f)r[c]=On(e,a);else if(b&&
xe(e)===3){e.at++,i+=` ${c} `;let y=U(e),v=f.find(E=>E.number===y);v?r[c]={case:v.case,value:gt(e,v.of)}:y&&F(`${t.name}.${c} has no member ${y}`)}else if(!i.includes(
` ${c} `)){let y=tt(e,m);(y instanceof Uint8Array?y.length:!Object.is(y,m.zero()))&&(r[c]={case:a.case,value:y})}}return e.depth++,r}function On(e,t){let{head:n,
key:o,of:r}=t;if((o||t.isOptional)&&xe(e)===0)return e.at++,We(t);if(!n)return tt(e,r);for(let c of n)fe(e,c);let i=U(e),a=We(t);for(;i-- >0;)xt(e,o?St:vt),o?a.
set(tt(e,o),gt(e,r)):a.push(gt(e,r));return a}function tt(e,{wire:t,table:n,take:o}){return n||fe(e,t),o(e)}var gt=(e,t)=>tt(e,t)??Jt(e,t.table);function Jt(e,t){
let n={},o=t.fields();xt(e,St+vt*o.length);for(let r of o)n[r.name]=r.all?void 0:We(r);return n}function xt(e,t){(e.memory-=t)<0&&F("exceeds the memory limit")}
var ge=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Un=e=>ge(3,()=>{},(t,n)=>n?zt(t,e,n):O(t,0),t=>Yt(t,e,0),e);function Nn(e){let t=Object.values(e);return ge(
10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;qe(r>=0||o===(o|0)&&o<0&&i>=t.length,o),R(n,r<0?i:r)},n=>{let o=U(n)>>>0,r=o-2147483648;return o>=t.length&&
(r>=0||t.includes(r))&&F(`an enum has the index ${o}`),t[o]??r})}var et=(e,t)=>ge(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?i<0?-2*i-1:2*i:i;if(Number.
isSafeInteger(a)&&a>=0)return R(n,a);qe((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let c=e?r<<1n^r>>63n:r;for(;c>>53n;c>>=7n)O(n,Number(c&127n)|128);R(n,Number(
c))},n=>{let{at:o}=n,r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.bytes[o++]&127)<<a;i=BigInt.
asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||F("an integer is beyond 2^53"),Number(r)):BigInt(r)}),jt=(e,t)=>ge(e,()=>0,(n,o)=>{
Xt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)O(n,bt[r])},n=>{for(let o=0;o<t;o++)bt[o]=Y(n);return Xt[t>4?"getFloat64":"getFloat32"](0)}),Gt={b:ge(
7,()=>!1,(e,t)=>O(e,+t),e=>{let t=Y(e);return t>1&&F(`a bool is ${t}`),t>0}),i:ge(12,()=>0,(e,t)=>{qe(t===(t|0),t),R(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>
1^-(t&1)}),u:ge(10,()=>0,(e,t)=>{qe(t===t>>>0,t),R(e,t)},e=>U(e)>>>0),l:et(!0,!1),w:et(!1,!1),L:et(!0,!0),W:et(!1,!0),f:jt(14,4),d:jt(15,8),s:ge(5,()=>"",(e,t)=>{
qe(typeof t=="string",t),O(e,10),be(e,t)},e=>(fe(e,10),ee(e))),y:ge(4,()=>new Uint8Array,(e,t)=>{O(e,10),we(e,t)},e=>(fe(e,10),me(e).slice()))},Kt=(e,t)=>W(3,`${e}\
 ${t}`);function qe(e,t){if(!e)throw new Error(`cannot be ${String(t)}`)}var Et=16,Qt=65536,Zt=256,Ln=61440,Rn={metadata:{}},At=e=>e.endsWith("-bin"),en=(e,t)=>At(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${At(
e)?"":t}`),Tt=e=>typeof e=="string"?pe(e):e;function Xe(e,{isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ue(e,Et,()=>{t&&ue(e,4,()=>{}),n!==void 0&&
ue(e,1,()=>R(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let c=0;if(Object.entries(o).forEach(([f,m],b)=>{if(!en(f,m))throw W(3,`invalid\
 metadata entry: ${f}`);if(c+=f.length+m.length+8,b>=Zt||c>Ln)throw W(8,"too much metadata");ue(e,2,()=>{be(e,f),re(e,Tt(m))})}),r){let{code:f,details:m,mayHaveRun:b}=r;
ue(e,3,()=>{R(e,f),e.at-i+m.length+32<=Qt&&re(e,m)}),b||ue(e,5,()=>{})}})||(e.at=i)}function Re(e){if(xe(e)!==Et)return Rn;e.at++;let t=H(me(e));q(t)>Qt&&F("a p\
refix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;q(t);){let i=Y(t),a=H(me(t));if(i===1)o.timeout=U(a,10)/1e3;else if(i===2){let c=ee(a),f=At(
c)?Ae(a):ee(a,q(a));(!en(c,f)||c in n||++r>Zt)&&F("invalid metadata"),n[c]=f}else i===3?(o.code=Qe(U(a,10)),o.details=Ae(a)):i===5&&(o.isRefused=!0)}return o}function tn(e){
let t=1;for(;e[t]>127;)t++;return e[0]===Et&&e[t+1]===4&&e[t+2]===0}function rt(e,{metadata:t,code:n,details:o,isRefused:r}){if(xe(e)===6)return e.at++,fe(e,5),
fe(e,10),new k(n??2,ee(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function ot(e,t,n){Xe(e,{isBackward:n,status:t,metadata:t.metadata}),re(e,[6,5,10]),be(e,
t.message)}var it=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function st(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw W(9,`incompatibl\
e layouts of ${e.name}`);return 1}var at=({added:e=[0,0]},t,n)=>t*e[n];function kt(e,t){let n=r=>r.match(/../g)?.forEach(i=>O(e,parseInt(i,16)));be(e,t.name),n(
t.fingerprint),R(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))R(e,r-o),o=r}function nn(e){let t=()=>{let o="";
for(;o.length<16;)o+=Y(e).toString(16).padStart(2,"0");return o},n={service:ee(e),fingerprint:t(),compatible:[],operations:[]};for(let o=U(e);o>0;o--)n.compatible.
push(t());for(let o=0;q(e);)n.operations.push(o+=U(e));return n}var Ct=5<<20,Pn=1024,Dn=65536,Pe=10,ke=16384,Bn=ke/2,Mt=256,lt=262144,$n=1e5,_n=64<<20,Fn=65536,Vn=2e3,Hn=5,qn=1e4,rn="the server is going away",Wn=2147483647,De=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Wn));function sn(e,t,n,o,r){let i=Ke(16384),a=new Map,c=new Map,f=new Map,m=[],b=0,y=0,v=0,E=0,S=0,P=32767,D=[0,Ct,1/0,ke,0],N=!1,X=!1,
K,z=Pe,j=0,G=!1,V=0,B=!1,L=!1,Q=0,ce,te=l=>{if(!(N||!Ie))try{l(Ie)}catch(p){_(Je(p));try{Ie.close()}catch{}}},J=()=>{i.at&&(B=!1,L=!0,te(l=>l.send(Ye(i))),i.at=
V=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),te(l=>{l.buffered()>_n&&C("too many unsent bytes")}))},s=()=>{i.at!==V?(V=i.at,queueMicrotask(s)):(G=!1,
J())},d=(l,p,g,$)=>{let{at:Oe}=i;try{ze(i,Pe),i.at+=Pe,g?.(i,$);let le=i.at,Ue=le-Oe-Pe,Ht=Math.max(D[1],Pn);if(Ue>Ht)throw W(8,`the message has ${Ue} bytes of \
at most ${Ht}`);i.at=Oe;for(let An of[15,l,p,Ue>>>16,Ue])Wt(i,An);i.at=le}catch(le){throw i.at=Oe,le}i.at>Fn?J():G||(G=!0,V=0,queueMicrotask(s))},u=(l,{code:p,message:g})=>d(
l,7,$=>{R($,p),re($,pe(g.slice(0,256)))}),h=(l,p)=>{d(l,5,R,0),u(l,p)},x=l=>{if(!N){if(Q=0,K){if(re(K,l),K.at<z)return;l=Ye(K),K=void 0}try{let p=0,g=$=>l[p+$]<<
8|l[p+$+1];for(;!N&&!(l.length<(z=p+Pe));p=z){g(0)!==15&&F("a header without its magic");let $=g(6)*65536+g(8);if($>Ct&&F(`a packet of ${$} bytes`),l.length<(z+=
$))break;I(g(2),g(4),l.subarray(p+Pe,z))}p<l.length&&(z-=p,re(K=Ke(),l.subarray(p)))}catch(p){C(`the server broke the protocol: ${p.message}`)}}},I=(l,p,g)=>{let $=H(
g),Oe=a.get(l);if(p>=10)if(M.isUp||F("a packet before HELLO"),tn(g)){if(ne)return ne.packet(l,p,g,!1)}else{let le=m[l%ke];if(le?.id===l&&le.operation===p)return ae(
l),t.answered(),le.isGivenUp?y--:t.replied(le,g),w();if(r.filter(Ue=>Ue.packet(M,l,p,g)).length)return}else if(p<2){g.length&&F("a PING with a body"),p===1?M.isUp||
C("the server is a compat peer"):B||(B=!0,d(0,1));return}else{if(p===3&&!M.isUp)return Z($);if(p===4)return A();if(p===6)return ne?.cancel(l,U($));if(p===8)F("a\
 stray hand-off");else{if(Oe&&p!==3&&p<8)return t.answered(),Oe.packet(p,g);if(p===2){let le=l-P&32767;if(l>=32768&&le&&le<=16384)return P=l,ne?ne.packet(l,2,g,
!0):h(l,W(12,"no service is served"))}}}++j>$n&&C("too many stray packets")},Z=l=>{for((q(l)>Dn||ee(l,4)!=="fris"||!Y(l))&&F("no HELLO");q(l);){let p=Y(l),g=H(me(
l));if(p in D)D[p]=U(g);else if(p===32||p===33)try{let $=nn(g);(p===32?c:f).set($.service,$)}catch{}}D[3]=Math.min(D[3],ke),M.isUp=!0,clearTimeout(Me),t.room(M)},
ae=l=>{m[l%ke]=void 0,b--===D[3]&&t.room(M)},T=(l,p,g)=>{a.set(p,l),l.begin(M,p,D[4],g)},w=()=>{X&&b===y&&!a.size&&!ne?.progress.size&&queueMicrotask(()=>C(rn))},
A=()=>{X||(X=!0,t.closing(M,rn),w())},C=l=>{N||(J(),te(p=>p.close()),_(l))},_=l=>{if(N)return;N=!0,clearInterval(ce),clearTimeout(Me),t.closing(M,l),M.isUp=!1;let p=new k(
14,`the connection was lost: ${l}`);for(let g of m)g&&!g.isGivenUp&&t.lost(g,p);for(let g of a.values())g.lost(p);ne?.down(p);for(let g of r)g.down(M,p)},M={isUp:!1,
write:d,reset:u,refuse:h,fits(l){let p=c.get(l.name);if(p)return p.fingerprint===l.fingerprint||n.includes(l)?st(l,p):void 0;for(let g of c.values())if(g.operations.
some($=>l.operations.includes($)))throw W(12,`the server has ${g.service} instead of ${l.name}`);return 0},call(l,p){if(b>=D[3])return!1;do v=v+1&65535;while(m[v%
ke]);let g=l.id=v;m[g%ke]=l,b++;try{d(g,l.operation,p,l)}catch($){throw ae(g),$}return!0},cancel(l){N||(l.isGivenUp=!0,d(l.id,6,R,l.operation),++y>=Bn&&A(),w())},
open(l,p,g){if(!D[2])throw W(12,"the server does not accept streams");if(E>=Math.min(D[2],28672))return!1;do S=S%32767+1;while(a.has(S));return E++,T(l,S,p),d(S,
2,g),!0},accept:T,over(l){a.delete(l),l<32768&&(E--,t.room(M)),w()},drain:A,closeIfIdle:w},ne=o?.on(M,f),Me=De(qn,()=>C("handshake timeout")),Fe=()=>{i.isFlat=Ie?.
isFlat,d(0,3,l=>{re(l,pe("fris"));let p=ne?Mt:0;[Ct,p,p,lt].forEach((g,$)=>ue(l,$+1,()=>R(l,g)));for(let g of o?.services??[])ue(l,32,()=>kt(l,g));for(let g of n)
ue(l,33,()=>kt(l,g))}),d(1,0),J(),!N&&(ce=setInterval(()=>{if(++Q>Hn)return C("keepalive timeout");(Q>1||!L)&&d(0,0),L=!1;let l=performance.now();for(let p of m)
p&&p.until<=l&&!p.isGivenUp&&t.expired(p)},Vn))},Ie,Ft=l=>Ie?l():queueMicrotask(l),Vt=l=>Ft(()=>_(l));try{Ie=e({open:()=>Ft(Fe),data:x,close:Vt})}catch(l){Vt(Je(
l))}return M}function dt(e,t){let n=[],o=!1,r=()=>{},i=f=>{o||=f,r()},a=(async function*(){try{for(;;){let f=n.shift();if(f!==void 0){let m=e(f);m!==void 0&&(yield m)}else if(o){
if(o!==!0)throw o;return}else await new Promise(m=>r=m)}}finally{t()}})(),{return:c}=a;return a.return=()=>(t(),n.length=0,i(!0),c.call(a,void 0)),{messages:a,items:n,
put:f=>{n.push(f),r()},end:i}}var It=64,Xn=4,jn=4096,Ot=(e,t)=>e instanceof Se?new k(13,`not a valid ${t.name}: ${e.message}`):k.from(e);function ct(e,t,n,o,r){let i,a=0,c=0,f=0,m=0,b=0,y=!0,
v=!0,E=!1,S=!1,P=()=>{},D,N=()=>!y&&!v,{messages:X,items:K,put:z,end:j}=dt(s=>{let d=s.length+It;m-=d,b+=d,v&&b*Xn>=lt&&(i?.write(a,5,R,b),b=0);try{let u=H(s),h=Re(
u);if(u.at&&(r?.(G.metadata=h.metadata),!q(u)))return;let x=rt(u,h);if(x)throw x;return Te(u,t,c)}catch(u){throw Ot(u,t)}},()=>n?Q(!0):te()),G=Object.assign(X,{
metadata:{}}),V=()=>{N()&&(P(),D?.(),i?.over(a),i=D=void 0,o())},B=()=>{y&&(y=!1,i?.write(a,7),V())},L=s=>{y=v=!1,j(s),V()},Q=(s,d=Ne(!0))=>{N()||i?.reset(a,d),
K.length=0,L(s)},ce=s=>Q(s,s),te=()=>{K.length=0,E=!0},J=s=>{if(!i||!y)return;let d=s instanceof k;i.write(a,2,u=>{let{at:h}=u;d?ot(u,s,!1):Le(u,e,s),f-=u.at-h+
It}),d&&B()};return{messages:G,begin(s,d,u,h){i=s,a=d,f=u,c=h},packet(s,d){if(s===2)return!v||E?void 0:m+b>=lt?ce(new k(8,"the peer exceeded its credit")):(m+=d.
length+It,z(new Uint8Array(d)));let u=H(d);if(s===5){let h=U(u,10);S||=!h,(f+=h)>0&&P()}else if(d.length){let h=Qe(U(u));L(new k(h,new TextDecoder().decode(Ae(u).
subarray(0,jn)),{mayHaveRun:!S}))}else v=!1,j(!0),V()},send:J,async pump(s){try{let d=Symbol.asyncIterator in s?s[Symbol.asyncIterator]():s[Symbol.iterator]();for(D=
async()=>{try{await d.return?.()}catch{}};;){for(;f<=0&&!N();)await new Promise(x=>P=x);if(N())return;let{done:u,value:h}=await d.next();if(N())return;if(u)break;
J(h)}D=void 0,B()}catch(d){let u=k.from(d);n?Q(u):J(u)}},finish:B,discard:te,fail:ce,lost:L}}var Gn=3e4,Kn=5e3,zn=20,an=2e3,ln=10,ut=class{constructor(t,{timeout:n,patience:o=Kn,metadata:r,serve:i,stayConnected:a}={}){let c,f=0,m=ln,b=0,y,v=!1,E="",S=[new Set,
new Set],P=({method:{sends:s,receives:d}})=>S[s||d?1:0],D=new Set,N=[],X=()=>{c||y||v||!(S[0].size||S[1].size||a)||(b=performance.now(),c=sn(t,K,[...D],i,N))},K={
room:s=>queueMicrotask(()=>{for(let d of S)for(let u of d){if(c!==s||!z(u,s))break;d.delete(u)}}),closing(s,d){c===s&&(c=void 0,s.isUp&&performance.now()-b>=an?
f=0:(E=d,clearTimeout(y),y=De(Math.random()*Math.min(zn*2**Math.min(f++,16),an),()=>{y=void 0,X()})),X())},answered:()=>void(f=0),replied(s,d){let u=s,{method:{
reply:h},options:{onMetadata:x}}=u;V(u);try{let I=H(d),Z=Re(I),ae=rt(I,Z);if(ae)throw ae;I.at&&x?.(Z.metadata),u.resolve(Te(I,h,u.missing)),m<ln&&(m+=.1)}catch(I){
u.reject(Ot(I,h))}},expired:s=>G(s),lost(s,d){let u=s;if(u.link=void 0,!u.method.idempotent||m<1)return B(u,d);m--,j(u)}},z=(s,d)=>{let{service:u,method:h}=s;try{
let x=u?d.fits(u):0;return x!==void 0?(s.missing=at(h,x,1),s.start(s,d)&&(s.isSent=!0)):(D.add(u),f=0,d.drain(),!1)}catch(x){return B(s,k.from(x)),!0}},j=s=>{if(!(c?.
isUp&&z(s,c))){if(v)return B(s,dn());s.patientUntil=performance.now()+o,P(s).add(s),G(s),X()}},G=s=>{let{until:d,isSent:u,patientUntil:h}=s,x=performance.now(),
I=P(s).has(s)&&!c?.isUp&&`no connection to the server${E&&`: ${E}`}`;clearTimeout(s.timer),x>=d?B(s,Ze(u,I?`; ${I}`:"")):x>=h&&I?B(s,Ve(14,I,u)):s.timer=De((x<h?
Math.min(d,h):d)-x,()=>G(s))},V=s=>{P(s).delete(s),clearTimeout(s.timer),s.options.signal?.removeEventListener("abort",s.abort)},B=(s,d)=>{V(s),s.link?.cancel(s),
s.reject(d)},L=(s,{sentTimeout:d,until:u,options:{metadata:h}})=>{(d!==void 0||r||h)&&Xe(s,{timeout:d&&u-performance.now(),metadata:{...r,...h}})},Q=(s,d)=>{L(s,
d),Le(s,d.method.request,d.request)},ce=(s,d)=>{let u=d.call(s,Q);return u&&(s.link=d),u},te=(s,d,u,h,x,I,Z,ae,T=1/0)=>{let{signal:w}=h,A={id:0,operation:d.operation,
until:performance.now()+(x??T),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:s,method:d,request:u,options:h,sentTimeout:x,start:I,
resolve:Z,reject:ae,abort:w&&(()=>B(A,Ne(A.isSent)))};return w?.aborted?A.abort?.():(w?.addEventListener("abort",A.abort),x!==void 0&&G(A),(x===void 0||x>0)&&j(
A)),A},J=(s,d,u,h={})=>{let x,I=ct(d.request,d.reply,!0,()=>x&&V(x),h.onMetadata);return x=te(s,d,u,h,h.timeout,(Z,ae)=>{let T=ae.open(I,Z.missing,w=>{L(w,Z),O(
w,9),R(w,Z.operation)});return T&&I.pump(u),T},()=>{},I.fail),I};this.unary=(s,d,u,h={})=>new Promise((x,I)=>void te(s,d,u,h,h.timeout??n,ce,x,I,Gn)),this.serverStreaming=
(s,d,u,h)=>J(s,d,[u],h).messages,this.twoWay=(s,d,u,h)=>J(s,d,u,h).messages,this.clientStreaming=async(s,d,u,h)=>{let{messages:x}=J(s,d,u,h),{done:I,value:Z}=await x.
next();if(I)throw new k(13,"there is no reply");return x.return?.(),Z},this.name=s=>void D.add(s),this.mount=s=>void N.push(s),this.connected=()=>new Promise((s,d)=>{
te(void 0,{},void 0,{},void 0,(u,h)=>(V(u),s(h),!0),s,d)}),this.close=()=>{v=!0,clearTimeout(y);for(let s of S)for(let d of s)B(d,dn());c?.drain()},a&&queueMicrotask(
X)}},dn=()=>Ve(9,"the channel is closed",!1);async function ft(e){let t;do t=await e.connected();while(!t.isUp);return t}function Ut(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,c)=>t[r]?.(a,c)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,c=(f,m)=>{let b=o.get(f);if(!b||!(b.method.sends||b.method.receives)===m)throw W(12,`unknown ope\
ration ${f}`);if(a.size>=Mt)throw W(8,"too many calls are in progress");let{service:y,method:v}=b,E=i.get(y.name);return{...b,left:at(v,E?st(y,E):0,0)}};return{
progress:a,packet(f,m,b,y){let v,E=S=>r.write(f,m,P=>{S instanceof k?ot(P,S,!0):(Xe(P,{isBackward:!0}),Le(P,v.reply,S))});try{let S=H(b),{timeout:P,metadata:D}=Re(
S);y&&(fe(S,9),m=U(S,3));let N=c(m,y);({method:v}=N);let X=y||Te(S,v.request,N.left),K=y?f+65536:f,z=new AbortController,j=L=>{clearTimeout(B),L||z.abort(),a.delete(
K),r.closeIfIdle()},G=y?ct(v.reply,v.request,!1,()=>j(!1)):{send(L){a.has(K)&&(E(L),j(!0))},fail:E,finish(){},discard(){}},V=L=>{G.fail(L),j(!1)},B=P===void 0?void 0:
De(P,()=>V(Ze(!0)));a.set(K,{operation:m,stop:V}),y&&r.accept(G,f,N.left),Yn(N,y,X,G,{signal:z.signal,metadata:D})}catch(S){let P=S instanceof Se?W(3,`malformed\
 request: ${S.message}`):k.from(S);y?r.refuse(f,P):E(P)}},cancel(f,m){let b=a.get(f);b?.operation===m&&b.stop(Ne(!0))},down(f){for(let m of a.values())m.stop(f)}}}}}
async function Yn({method:e,handler:t},n,o,r,i){try{if(e.sends)o=r.messages;else if(n){let c=await r.messages.next();if(c.done)throw W(3,"no request");o=c.value}
let a=t(o,i);e.receives?await r.pump?.(a):(r.send(await a),r.finish())}catch(a){r.send(k.from(a))}r.discard()}var Be=65280,Jn=16<<20,Nt=64,Qn=65536,Zn=4,pt={now:0,last:1,oldest:2},cn=e=>W([8,12,7][Y(e)-3]??3,ee(e,q(e))),je=class{constructor(t){this.channel=t;this.requests=
new Map;this.last=0;let{requests:n}=this;t.mount({packet:(o,r,i,a)=>{if(i<Be)return!1;!r&&i===Be+5&&(this.refused??=cn(H(a)));for(let[c,f]of n)(!r||r===c)&&f.packet(
o,r,i-Be,H(a));return!0},down(o,r){for(let i of[...n.values()])i.down(o,r)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){
(await ft(this.channel)).write(0,Be+2,o=>{we(o,pe(t)),re(o,Tt(n))})}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,
t)throw t}async request(t,n,o="",r){let{requests:i}=this,a=await ft(this.channel);do this.last=this.last%65535+1;while(i.has(this.last));let c=this.last;return new Promise(
(f,m)=>{let b=0,y=0,v=!1,{items:E,messages:S,put:P,end:D}=dt(T=>(b-=T.payload.length+Nt,T),()=>{i.delete(c)&&n!==void 0&&a.isUp&&a.write(c,Be+1)}),N=T=>{i.delete(
c),m(T),D(T)},X=o?[]:n?.split(".")??[],K=X[X.length-1]===">",z=T=>{let w=T.split(".");return(K?w.length>=X.length:w.length===X.length)&&X.every((A,C)=>A===">"||
A==="*"||A===w[C])},j=t===0&&!o&&r!==void 0,G=typeof r=="object",V=G||r===void 0?pt.oldest:pt[r],B=new Map(G?[[n,{...r,offset:r.offset+1}]]:[]),L=new Map,Q=0,ce="",
te=!1,J=!1,s=!1,d=!1,u=!1,h=T=>{a.write(c,Be+T,w=>{if(n!==void 0&&we(w,pe(n)),T===6){O(w,V);for(let[A,C]of B){be(w,A);for(let _=0;_<16;_+=2)O(w,parseInt(C.epoch.
slice(_,_+2),16));R(w,C.offset)}}else re(w,pe(o))})},x=()=>{u=!0,J&&(s||!(j&&d))&&(v=!0),f(S)},I=T=>Array.from(me(T,8),w=>w.toString(16).padStart(2,"0")).join(""),
Z=(T,w,A)=>{if(w===5&&T&&!u&&j&&A.bytes[A.at]===Zn)s=!0,h(0);else if(w===6&&T&&A.bytes[A.at]===0){Y(A),d=Y(A)===1;let C=I(A);Q=U(A,10);let _=ce!==""&&ce!==C,M=!n?.
match(/[*>]/)&&B.size>0;ce=C,x(),s=!1,v||=M?!Q:_}else if(w===7)for(;q(A);){let C=ee(A),_={epoch:I(A),offset:U(A,10)};if(!u||!T&&!z(C))continue;let M=L.get(C);T&&
!M?(Q--,M=B.get(C)??(te?{..._,offset:1}:void 0)):!T&&M?.epoch!==_.epoch&&(M=void 0),M&&d&&(M.epoch===_.epoch&&M.offset<=_.offset?y+=_.offset-M.offset:v=!0),L.size>=
Qn&&(L.clear(),s=!0),L.set(C,_)}else return!1;return!0},ae=async()=>{try{let T=await ft(this.channel);if(!i.has(c))return;a=T,h(j?6:0)}catch(T){let w=k.from(T);
if(w.code===14&&i.has(c))return ae();N(w)}};i.set(c,{packet(T,w,A,C){if(!(T!==a||j&&Z(w,A,C)))if(A===2){let _=ee(C);if(!w&&(!u||!z(_)))return;let M=Ae(C),ne=L.get(
_);for(ne&&L.set(_,{...ne,offset:ne.offset+1}),b+=M.length+Nt;b>Jn&&E.length;){let Me=E.shift();b-=Me.payload.length+Nt;let Fe=E[0];y+=Me.lagged+1,v||=Me.reconnected,
Fe&&(Fe.lagged+=y,Fe.reconnected||=v,y=0,v=!1)}P({topic:_,payload:M,position:ne,lagged:y,reconnected:v}),y=0,v=!1}else A===4?j&&d&&u||(y+=U(C,10)):w&&(q(C)?N(cn(
C)):x())},down(T,w){if(T===a){if(n===void 0||!u&&!J)return N(w);if(u)if(Q>0)for(let[A,C]of L)B.set(A,C);else B=s?new Map:L,V=s?pt.now:pt.oldest,te=!s;L=new Map,
u=!1,J=!0,ae()}}}),h(j?6:t)})}};var Lt="frisbee.1";function un(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[Lt,...t]);return r.binaryType="arraybuffer",r.onopen=()=>{r.protocol===Lt?o.open():r.close()},
r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=()=>{},r.onclose=({code:i,reason:a})=>{o.close(`the WebSocket w\
as closed (${i}${a&&`, ${a}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}var Rt=(e,t={})=>new ut(un(e,t),t);var de={BUY:0,SELL:1},Pt=ye("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[fn,fn,tr]),tr=ye("exchange.Deal","number:u side:e price:u amount:\
u",()=>[de]),pn=ye("exchange.Inquiry","side:e amount:u",()=>[de]),fn=ye("exchange.Level","price:u amount:u"),nr=ye("exchange.Nothing",""),mn=ye("exchange.Offer",
"price:u called:u answered:u"),rr=ye("exchange.Order","number:u side:e price:u amount:u",()=>[de]),or=ye("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[de]),Ce=it("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:nr,reply:Pt},trade:{operation:11,request:rr,reply:or,sends:!0,receives:!0},
inquire:{operation:12,request:pn,reply:mn}}),mt=class{constructor(t){this.channel=t,t.name(Ce)}look(t,n){return this.channel.unary(Ce,Ce.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Ce,Ce.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Ce,Ce.methods.inquire,t,n)}},yn=it("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:pn,reply:mn}});var Bt=240,Sn=8,se=e=>document.getElementById(e),ie=(e,t)=>void(se(e).textContent=t),he=e=>(e/100).toFixed(2),yt=e=>e===de.BUY?"buy":"sell";function oe(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function ir(e,t){let n=se(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Sn;)n.lastElementChild?.remove()}var Ge=new Map,hn=0,bn=0,wn=()=>{},$t=[];async function*sr(){for(;;){let e=$t.shift();
e?yield e:await new Promise(t=>wn=t)}}function ar({number:e,amount:t,price:n,left:o}){let r=Ge.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===de.BUY?
1:-1;hn+=i*t,bn-=i*t*n,ie("held",String(hn)),ie("cash",he(bn));let a=[...Ge.values()].reverse().slice(0,Sn).map(({order:c,done:f,left:m})=>oe("tr",[oe("td",`${yt(
c.side)} ${c.amount}`,yt(c.side)),oe("td",he(c.price)),oe("td",String(f)),oe("td",String(m))]));se("orders").replaceChildren(...a)}se("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?de.SELL:de.BUY,o={number:Ge.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ge.set(o.number,{order:o,done:0,left:o.amount}),$t.push(o),wn()});var _e=0,Dt=0,$e,ve=[];function gn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));se(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,oe("li",[i,oe("span",he(o)),oe("span",String(r))])}))}function lr(e){for(let{number:o,price:r}of[...e].reverse())o>Dt&&ve.push(r);ve.splice(0,ve.length-Bt);let[
t]=e;if(!t||t.number===Dt)return;Dt=t.number;let n=t.price-_e;_e&&n&&(ie("change",`${n>0?"▲":"▼"} ${he(Math.abs(n))}`),se("change").dataset.side=n>0?"buy":"\
sell"),_e=t.price,ie("last",he(_e)),se("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>oe("li",[oe("span",o===de.BUY?"bought":"sold",yt(o)),oe("s\
pan",he(r)),oe("span",String(i))]))),_t()}function vn({bids:e,asks:t,deals:n,traders:o,orders:r}){gn("asks",t),gn("bids",e),t[0]&&e[0]&&ie("spread",`${he(t[0].price-
e[0].price)} apart`),ie("traders",String(o));let i=performance.now();(!$e||i-$e.at>1e3)&&($e&&ie("rate",((r-$e.orders)/((i-$e.at)/1e3)).toFixed(0)),$e={orders:r,
at:i}),lr(n)}function _t(){let e=se("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||ve.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=se("state"),c=Math.min(...ve)-2,f=Math.max(...ve)+2,m=n-56,b=E=>E/(Bt-1)*m,y=E=>(f-E)/(f-c)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let E=0;E<5;E++){let S=c+(f-c)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,y(S)),t.lineTo(m,y(S)),t.stroke(),t.globalAlpha=1,t.fillText(he(S),m+8,y(S)+4)}let v=Bt-ve.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ve.
forEach((E,S)=>t.lineTo(b(v+S),y(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(b(v),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",_t);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",_t);var dr=Ut(yn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(se("margin").value)*100),o=_e&&_e+
(e===de.BUY?n:-n);return ir("asked",oe("li",`${yt(e)} ${t}? You said ${he(o)}.`)),{price:o}}}),{hostname:cr}=location,xn=Rt(`ws://${cr}:${document.documentElement.
dataset.port}/`,{serve:dr,stayConnected:!0}),ht=new mt(xn),ur=new je(xn);se("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await ht.inquire({side:de.BUY,amount:10}),a=(performance.now()-n).toFixed(0);ie(
"offer",o?`${he(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){ie("offer",k.from(n).message)}t.disabled=!1});async function fr(){
for(;;){try{let e=await ur.subscribe("exchange.book"),t=ht.trade(sr()),n=(async()=>{for await(let r of t)ar(r)})();se("state").dataset.is="open",ie("state","con\
nected"),vn(await ht.look({}));let o=(async()=>{for await(let{payload:r}of e)vn(wt(Pt,r))})();await Promise.race([n,o])}catch(e){se("state").dataset.is="failed",
ie("state",k.from(e).message)}$t.length=0;for(let e of Ge.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}fr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await ht.look({},{timeout:5e3}),ie("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ie("ping","–")}},2e3);
