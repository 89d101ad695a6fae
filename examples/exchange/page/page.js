var hn=new TextEncoder,bn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Dt=40,he=class extends Error{},I=e=>{throw new he(e)},H=e=>({bytes:e,at:0,depth:0,memory:0}),
Ve=(e=64)=>H(new Uint8Array(e)),ae=e=>hn.encode(e);function He(e,t){let{bytes:n,at:r}=e;r+t>n.length&&(e.bytes=new Uint8Array(Math.max(r+t,n.length*2)),e.bytes.
set(n.subarray(0,r)))}function R(e,t){e.at===e.bytes.length&&He(e,1),e.bytes[e.at++]=t}function $t(e,t){R(e,t>>8),R(e,t)}function D(e,t){for(;t>127;t=Math.floor(
t/128))R(e,t|128);R(e,t)}function K(e,t){He(e,t.length),e.bytes.set(t,e.at),e.at+=t.length}function be(e,t){D(e,t.length),K(e,t)}function ge(e,t){let{at:n}=e,{length:r}=t,
o=r>Dt?128:0;R(e,r);for(let i=0;i<r&&o<128;i++)R(e,o=t.charCodeAt(i));o>127&&(e.at=n,be(e,ae(t)))}function ie(e,t,n){R(e,t);let{at:r}=e;n();let o=e.bytes.slice(
r,e.at);return e.at=r,be(e,o),o.length>0}var qe=({bytes:e,at:t})=>e.subarray(0,t),q=({bytes:e,at:t})=>e.length-t,we=({bytes:e,at:t})=>e[t],F=e=>e.bytes[e.at++]??
I("it is cut off");function O(e,t=5){let n=0;for(let r=1;t-- >0;r*=128){let o=F(e);if(o<128)return n+o*r;n+=(o-128)*r}return I("a number is too long")}function ce(e,t=O(
e)){return t>q(e)&&I("it is cut off"),e.bytes.subarray(e.at,e.at+=t)}var ve=({bytes:e,at:t})=>e.slice(t);function Q(e,t=O(e)){let{bytes:n,at:r}=e,o="",i=0;if(t<=
Dt)for(let l;i<t&&(l=n[r+i])<128;i++)o+=String.fromCharCode(l);let a=ce(e,t);if(i<t)try{return bn.decode(a)}catch{I("a text is not UTF-8")}return o}var k=class e extends Error{constructor(n,r,o){super(r,o);this.name="Status";Object.assign(this,{details:new Uint8Array,metadata:{},mayHaveRun:!0,...o,code:n})}static from(n){
return n instanceof e?n:new e(2,n instanceof Error?n.message:String(n),{cause:n})}};var V=(e,t)=>new k(e,t,{mayHaveRun:!1}),We=e=>e>0&&e<=16?e:2,Re=(e,t,n)=>new k(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),ke=e=>Re(1,"the caller gave the call up",e),
Xe=e=>Re(4,"no answer before the deadline",e);var ze=100,gn=64<<20,vn=12,pt=8,mt=56,ut=new Uint8Array(8),Pt=new DataView(ut.buffer);function se(e,t,n){let r;return{name:e,fields:()=>r??=Sn(t,n?.()??[])}}var yt=(e,t)=>Ae(H(t),e,0);function Te(e,t,n){e.depth=ze,Ht(e,t,n)}function Ae(e,t,n){return e.depth=ze,e.memory=Math.max(gn,q(e)*vn),qt(e,t,n)??Wt(e,t)}function Sn(e,t){
let n={},r=0;return[...e.matchAll(/(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)\b/g)].map(o=>{let[,i,a,l,c,u,h]=o,v=h==="m"?En(t[r++]):h==="e"?wn(t[r++]):Ft[h],S=Ft[u],
x=S?[2,S.wire,v.wire,10]:c==="*"?[1,v.wire,10]:void 0,b=a?n[a]??=[]:void 0,T={name:a??i,of:v,isOptional:c==="?",key:S,head:x,case:i,number:+l,all:b};return b?.push(
T),T})}var De=({head:e,key:t,isOptional:n,of:r})=>t?new Map:e?[]:n?void 0:r.zero();function Ht(e,t,n){if(!e.depth--)throw Vt(t.name,`nests deeper than ${ze}`);R(
e,8),R(e,0);let r="";try{for(let o of t.fields()){let{all:i,name:a}=o,l=n[r=a];if(!i)An(e,o,l);else if(o===i[0]){R(e,3);let c=l,u=i.find(h=>h.case===c?.case);if(c&&
!u)throw new Error(`has no member ${c.case}`);D(e,u?u.number:0),u&&Le(e,u.of,c?.value)}}}catch(o){throw o instanceof k?o:Vt(`${t.name}.${r}`,o.message)}e.depth++}
function An(e,t,n){let{head:r,key:o,of:i}=t;if(n===void 0&&(r||t.isOptional)&&(n=De(t)),r){let a=n;K(e,r),D(e,o?a.size:a.length);for(let l of a)o?(Le(e,o,l[0]),
Le(e,i,l[1])):Le(e,i,l)}else n===void 0&&t.isOptional?R(e,0):Le(e,i,n)}function Le(e,{wire:t,table:n,zero:r,put:o},i){n||R(e,t),o(e,i===void 0?r():i)}function qt(e,t,n){
let r=F(e);if(r===0)return;r!==8&&I(`${t.name}: byte ${r} begins no message`),F(e),e.depth--||I(`messages nest deeper than ${ze}`);let o=t.fields();ht(e,mt+pt*o.
length);let i={},a="";for(let l of o){let{name:c,all:u,of:h}=l,v=u&&u[0]===l;if(v&&(i[c]=void 0),n>0&&!q(e))n--,u||(i[c]=De(l));else if(!u)i[c]=xn(e,l);else if(v&&
we(e)===3){e.at++,a+=` ${c} `;let S=O(e),x=u.find(b=>b.number===S);x?i[c]={case:x.case,value:ft(e,x.of)}:S&&I(`${t.name}.${c} has no member ${S}`)}else if(!a.includes(
` ${c} `)){let S=Ke(e,h);(S instanceof Uint8Array?S.length:!Object.is(S,h.zero()))&&(i[c]={case:l.case,value:S})}}return e.depth++,i}function xn(e,t){let{head:n,
key:r,of:o}=t;if((r||t.isOptional)&&we(e)===0)return e.at++,De(t);if(!n)return Ke(e,o);n.forEach(l=>je(e,l));let i=O(e),a=De(t);for(;i-- >0;)ht(e,r?mt:pt),r?a.set(
Ke(e,r),ft(e,o)):a.push(ft(e,o));return a}function Ke(e,{wire:t,table:n,take:r}){return n||je(e,t),r(e)}var ft=(e,t)=>Ke(e,t)??Wt(e,t.table);function Wt(e,t){let n={},
r=t.fields();ht(e,mt+pt*r.length);for(let o of r)n[o.name]=o.all?void 0:De(o);return n}function ht(e,t){(e.memory-=t)<0&&I("it takes too much memory")}function je(e,t){
let n=F(e);n!==t&&I(`kind ${n} stands in the place of ${t}`)}var ue=(e,t,n,r,o)=>({wire:e,zero:t,put:n,take:r,table:o}),En=e=>ue(3,()=>{},(t,n)=>n?Ht(t,e,n):R(t,
0),t=>qt(t,e,0),e);function wn(e){let t=Object.values(e);return ue(10,()=>t[0],(n,r)=>{let o=t.indexOf(r),i=r+2147483648;Be(o>=0||r===(r|0)&&r<0&&i>=t.length,r),
D(n,o<0?i:o)},n=>{let r=O(n)>>>0,o=r-2147483648;return r>=t.length&&(o>=0||t.includes(o))&&I(`an enum has the index ${r}`),t[r]??o})}var Ge=(e,t)=>ue(e?13:11,()=>t?
0:0n,(n,r)=>{let o=BigInt(r),i=Number(o),a=e?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(a)&&a>=0)return D(n,a);Be((e?BigInt.asIntN:BigInt.asUintN)(64,o)===o,r);let l=e?
o<<1n^o>>63n:o;for(;l>>53n;l>>=7n)R(n,Number(l&127n)|128);D(n,Number(l))},n=>{let{at:r}=n,o=O(n,10);if(o<=Number.MAX_SAFE_INTEGER)e&&(o=o%2?(o+1)/-2:o/2);else{let i=0n;
for(let a=0n;r<n.at;a+=7n)i|=BigInt(n.bytes[r++]&127)<<a;i=BigInt.asUintN(64,i),o=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(o))||I("an integer is \
beyond 2^53"),Number(o)):BigInt(o)}),_t=(e,t)=>ue(e,()=>0,(n,r)=>{Pt[t>4?"setFloat64":"setFloat32"](0,r),K(n,ut.subarray(0,t))},n=>(ut.set(ce(n,t)),Pt[t>4?"getF\
loat64":"getFloat32"](0))),Ft={b:ue(7,()=>!1,(e,t)=>R(e,+t),e=>{let t=F(e);return t>1&&I(`a bool is ${t}`),t>0}),i:ue(12,()=>0,(e,t)=>{Be(t===(t|0),t),D(e,(t<<1^
t>>31)>>>0)},e=>{let t=O(e);return t>>>1^-(t&1)}),u:ue(10,()=>0,(e,t)=>{Be(t===t>>>0,t),D(e,t)},e=>O(e)>>>0),l:Ge(!0,!1),w:Ge(!1,!1),L:Ge(!0,!0),W:Ge(!1,!0),f:_t(
14,4),d:_t(15,8),s:ue(5,()=>"",(e,t)=>{Be(typeof t=="string",t),R(e,10),ge(e,t)},e=>(je(e,10),Q(e))),y:ue(4,()=>new Uint8Array,(e,t)=>{R(e,10),be(e,t)},e=>(je(e,
10),ce(e).slice()))},Vt=(e,t)=>V(3,`${e} ${t}`);function Be(e,t){if(!e)throw new Error(`cannot be ${String(t)}`)}var gt=16,Xt=65536,Gt=256,kn=61440,Tn={metadata:{}},bt=e=>e.endsWith("-bin"),Kt=(e,t)=>bt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${bt(
e)?"":t}`),vt=e=>typeof e=="string"?ae(e):e;function $e(e,{isBackward:t,timeout:n,metadata:r={},status:o}){let{at:i}=e;ie(e,gt,()=>{t&&ie(e,4,()=>{}),n!==void 0&&
ie(e,1,()=>D(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.MAX_SAFE_INTEGER)));let l=0;if(Object.entries(r).forEach(([c,u],h)=>{if(!Kt(c,u))throw V(3,`metadat\
a cannot have this entry: ${c}`);if(l+=c.length+u.length+8,h>=Gt||l>kn)throw V(8,"too much metadata");ie(e,2,()=>{ge(e,c),K(e,vt(u))})}),o){let{code:c,details:u,
mayHaveRun:h}=o;ie(e,3,()=>{D(e,c),e.at-i+u.length+32<=Xt&&K(e,u)}),h||ie(e,5,()=>{})}})||(e.at=i)}function Ce(e){if(we(e)!==gt)return Tn;e.at++;let t=H(ce(e));
q(t)>Xt&&I("a prefix is too long");let n=Object.create(null),r={metadata:n},o=0;for(;q(t);){let i=F(t),a=H(ce(t));if(i===1)r.timeout=O(a,10)/1e3;else if(i===2){
let l=Q(a),c=bt(l)?ve(a):Q(a,q(a));(!Kt(l,c)||++o>Gt)&&I("metadata breaks the rules"),n[l]=c}else i===3?(r.code=We(O(a,10)),r.details=ve(a)):i===5&&(r.isRefused=
!0)}return r}function jt(e){let t=1;for(;e[t]>127;)t++;return e[0]===gt&&e[t+1]===4&&e[t+2]===0}function Ye(e,{metadata:t,code:n,details:r,isRefused:o}){if(we(e)===
6)return e.at++,(F(e)!==5||F(e)!==10)&&I("an error has no text"),new k(n??2,Q(e),{metadata:t,mayHaveRun:!o,...r&&{details:r}})}function Je(e,t,n){$e(e,{isBackward:n,
status:t,metadata:t.metadata}),K(e,[6,5,10]),ge(e,t.message)}var Qe=(e,t,n,r)=>({name:e,fingerprint:t,compatible:n,methods:r,operations:Object.values(r).map(({operation:o})=>o)});function Ze(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw V(9,`incompatibl\
e layouts of ${e.name}`);return 1}var et=({added:e=[0,0]},t,n)=>t*e[n];function St(e,t){let n=o=>o.match(/../g)?.forEach(i=>R(e,parseInt(i,16)));ge(e,t.name),n(
t.fingerprint),D(e,t.compatible.length),t.compatible.forEach(n);let r=0;for(let o of[...t.operations].sort((i,a)=>i-a))D(e,o-r),r=o}function zt(e){let t=()=>{let r="";
for(;r.length<16;)r+=F(e).toString(16).padStart(2,"0");return r},n={service:Q(e),fingerprint:t(),compatible:[],operations:[]};for(let r=O(e);r>0;r--)n.compatible.
push(t());for(let r=0;q(e);)n.operations.push(r+=O(e));return n}var At=5<<20,Cn=1024,Mn=65536,Me=10,xe=16384,In=xe/2,xt=256,tt=262144,Un=1e5,On=64<<20,Nn=65536,Rn=2e3,Ln=5,Bn=1e4,Yt="the server is going away",Dn=2147483647,Ie=(e,t)=>setTimeout(
t,Math.min(Math.max(0,e),Dn));function Qt(e,t,n,r,o){let i=Ve(16384),a=new Map,l=[],c=[],u=[],h=0,v=0,S=0,x=0,b=0,T=32767,C=[0,At,1/0,xe,0],E=!1,W=!1,L,N=Me,X=0,
_=!1,$=0,Y=!1,P=!1,j=0,d,m=()=>{i.at&&(Y=!1,P=!0,E||ct.send(qe(i)),i.at=$=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),ct.buffered()>On&&ye("the serv\
er does not take what is sent"))},w=()=>{i.at!==$?($=i.at,queueMicrotask(w)):(_=!1,m())},p=(s,f,y)=>{let{at:M}=i;try{He(i,Me),i.at+=Me,y?.(i);let de=i.at,J=de-M-
Me,Fe=Math.max(C[1],Cn);if(J>Fe)throw V(8,`the message has ${J} bytes, and the server accepts ${Fe}`);i.at=M;for(let yn of[15,s,f,J>>>16,J])$t(i,yn);i.at=de}catch(de){
throw i.at=M,de}i.at>Nn?m():_||(_=!0,$=0,queueMicrotask(w))},g=(s,f,y)=>p(s,f,M=>D(M,y)),A=(s,{code:f,message:y})=>p(s,7,M=>{D(M,f),K(M,ae(y.slice(0,256)))}),U=(s,f)=>{
g(s,5,0),A(s,f)},G=s=>{if(!E){if(j=0,L){if(K(L,s),L.at<N)return;s=qe(L),L=void 0}try{let f=0,y=M=>s[f+M]<<8|s[f+M+1];for(;!E&&!(s.length<(N=f+Me));f=N){y(0)!==15&&
I("a header without its magic");let M=y(6)*65536+y(8);if(M>At&&I(`a packet of ${M} bytes`),s.length<(N+=M))break;oe(y(2),y(4),s.subarray(f+Me,N))}f<s.length&&(N-=
f,K(L=Ve(),s.subarray(f)))}catch(f){ye(`the server broke the protocol: ${f.message}`)}}},oe=(s,f,y)=>{let M=H(y),de=a.get(s);if(f>=10)if(z.isUp||I("a packet bef\
ore HELLO"),jt(y)){if(pe)return pe.packet(s,f,y,!1)}else{let J=u[s%xe];if(J?.id===s&&J.operation===f)return ne(s),J.isGivenUp?v--:J.reply?.(J,y),Ne();if(f>=65280&&
o.length)return o.forEach(Fe=>Fe.packet(z,s,f,y))}else if(f<2){y.length&&I("a PING or PONG with a body"),f===1?z.isUp||ye("the server is a plain peer"):Y||(Y=!0,
p(0,1));return}else{if(f===3&&!z.isUp)return B(M);if(f===4)return dt();if(f===6)return pe?.cancel(s,O(M));if(f===8)I("an answer to no hand-off");else{if(de&&f!==
3&&f<8)return de.packet(f,y);if(f===2){let J=s-T&32767;if(s>=32768&&J&&J<=16384)return T=s,pe?pe.packet(s,2,y,!0):U(s,V(12,"this end serves nothing"))}}}++X>Un&&
ye("too many packets that belong to nothing")},B=s=>{for((q(s)>Mn||Q(s,4)!=="fris"||!F(s))&&I("it sent no HELLO");q(s);){let f=F(s),y=H(ce(s));if(f in C)C[f]=O(
y);else if(f===32||f===33)try{(f===32?l:c).push(zt(y))}catch{}}C[3]=Math.min(C[3],xe),z.isUp=!0,clearTimeout(Bt),t.room(z)},ne=s=>{u[s%xe]=void 0,h--===C[3]&&t.
room(z)},fe=(s,f,y)=>{a.set(f,s),s.begin(z,f,C[4],y)},Ne=()=>{W&&h===v&&!a.size&&!pe?.progress.size&&queueMicrotask(()=>ye(Yt))},dt=()=>{W||(W=!0,t.left(z,Yt),Ne())},
ye=s=>{E||(m(),ct.close(),Lt(s))},Lt=s=>{if(E)return;E=!0,clearInterval(d),clearTimeout(Bt),t.left(z,s),z.isUp=!1;let f=new k(14,`the connection was lost: ${s}`);
for(let y of u)y&&!y.isGivenUp&&t.lost(y,f);for(let y of a.values())y.lost(f);pe?.down(f);for(let y of o)y.down(z,f)},z={isUp:!1,write:p,number:g,reset:A,refuse:U,
fits(s){let f=l.find(M=>M.service===s.name);if(f)return f.fingerprint===s.fingerprint||n.includes(s)?Ze(s,f):void 0;let y=l.find(M=>M.operations.some(de=>s.operations.
includes(de)));if(y)throw V(12,`the server has ${y.service} in the place of ${s.name}`);return 0},call(s,f){if(h>=C[3])return!1;do S=S+1&65535;while(u[S%xe]);let y=s.
id=S;u[y%xe]=s,h++;try{p(y,s.operation,f)}catch(M){throw ne(y),M}return!0},cancel(s){E||(s.isGivenUp=!0,g(s.id,6,s.operation),++v>=In&&dt(),Ne())},open(s,f,y){if(!C[2])
throw V(12,"the server does not accept streams");if(x>=Math.min(C[2],28672))return!1;do b=b%32767+1;while(a.has(b));return x++,fe(s,b,f),p(b,2,y),!0},accept:fe,
over(s){a.delete(s),s<32768&&(x--,t.room(z)),Ne()},leave:dt,closeIfIdle:Ne},pe=r?.on(z,c),Bt=Ie(Bn,()=>ye("no HELLO in time")),ct=e({open(){p(0,3,s=>{K(s,ae("fr\
is"));let f=pe?xt:0;[At,f,f,tt].forEach((y,M)=>ie(s,M+1,()=>D(s,y)));for(let y of r?.services??[])ie(s,32,()=>St(s,y));for(let y of n)ie(s,33,()=>St(s,y))}),p(
1,0),m(),d=setInterval(()=>{if(++j>Ln)return ye("the server is silent");(j>1||!P)&&p(0,0),P=!1;let s=performance.now();for(let f of u)f&&f.until<=s&&!f.isGivenUp&&
t.look(f)},Rn)},data:G,close:Lt});return z}function nt(e,t){let n=[],r=!1,o=()=>{},i=c=>{r||=c,o()},a=(async function*(){try{for(;;){let c=n.shift();if(c!==void 0){let u=e(c);u!==void 0&&(yield u)}else if(r){
if(r!==!0)throw r;return}else await new Promise(u=>o=u)}}finally{t()}})(),{return:l}=a;return a.return=()=>(t(),n.length=0,i(!0),l.call(a,void 0)),{messages:a,items:n,
put:c=>{n.push(c),o()},end:i}}var Et=64,$n=4,Pn=4096,wt=(e,t)=>e instanceof he?new k(13,`not a valid ${t.name}: ${e.message}`):k.from(e);function rt(e,t,n,r,o){let i,a=0,l=0,c=0,u=0,h=0,v=!0,
S=!0,x=!1,b=!1,T=()=>{},C,E=()=>!v&&!S,{messages:W,items:L,put:N,end:X}=nt(p=>{let g=p.length+Et;u-=g,h+=g,S&&h*$n>=tt&&(i?.number(a,5,h),h=0);try{let A=H(p),U=Ce(
A);if(A.at&&(o?.(_.metadata=U.metadata),!q(A)))return;let G=Ye(A,U);if(G)throw G;return Ae(A,t,l)}catch(A){throw wt(A,t)}},()=>n?j(!0):m()),_=Object.assign(W,{metadata:{}}),
$=()=>{E()&&(T(),C?.(),i?.over(a),i=C=void 0,r())},Y=()=>{v&&(v=!1,i?.write(a,7),$())},P=p=>{v=S=!1,X(p),$()},j=(p,g=ke(!0))=>{E()||i?.reset(a,g),L.length=0,P(p)},
d=p=>j(p,p),m=()=>{L.length=0,x=!0},w=p=>{if(!i||!v)return;let g=p instanceof k;i.write(a,2,A=>{let{at:U}=A;g?Je(A,p,!1):Te(A,e,p),c-=A.at-U+Et}),g&&Y()};return{
messages:_,begin(p,g,A,U){i=p,a=g,c=A,l=U},packet(p,g){if(p===2)return!S||x?void 0:u+h>=tt?d(new k(8,"the peer sent more than it had credit for")):(u+=g.length+
Et,N(new Uint8Array(g)));let A=H(g);if(p===5){let U=O(A,10);b||=!U,(c+=U)>0&&T()}else if(g.length){let U=We(O(A));P(new k(U,new TextDecoder().decode(ve(A).subarray(
0,Pn)),{mayHaveRun:!b}))}else S=!1,X(!0),$()},send:w,async pump(p){try{let g=Symbol.asyncIterator in p?p[Symbol.asyncIterator]():p[Symbol.iterator]();for(C=()=>g.
return?.();;){for(;c<=0&&!E();)await new Promise(G=>T=G);if(E())return;let{done:A,value:U}=await g.next();if(E())return;if(A)break;w(U)}C=void 0,Y()}catch(g){let A=k.
from(g);n?j(A):w(A)}},finish:Y,discard:m,fail:d,lost:P}}var _n=3e4,Fn=5e3,Vn=20,Zt=2e3,en=10,ot=class{constructor(t,{timeout:n,patience:r=Fn,metadata:o,serve:i,stayConnected:a}={}){let l,c=0,u=en,h=0,v,S=!1,x="",b=new Set,
T=new Set,C=[],E=()=>{l||v||S||!(b.size||a)||(h=performance.now(),l=Qt(t,W,[...T],i,C))},W={room:d=>queueMicrotask(()=>{for(let m of b){if(l!==d||!L(m,d))return;
b.delete(m)}}),left(d,m){l===d&&(l=void 0,d.isUp&&performance.now()-h>=Zt?c=0:(x=m,clearTimeout(v),v=Ie(Math.random()*Math.min(Vn*2**Math.min(c++,16),Zt),()=>{v=
void 0,E()})),E())},look:d=>X(d),lost(d,m){let w=d;if(w.link=void 0,!w.method.idempotent||u<1)return $(w,m);u--,N(w)}},L=(d,m)=>{let{service:w,method:p}=d;try{let g=w?
m.fits(w):0;return g!==void 0?d.start(d,m,et(p,g,1))&&(d.isSent=!0):(T.add(w),c=0,m.leave(),!1)}catch(g){return $(d,k.from(g)),!0}},N=d=>{if(!(l?.isUp&&L(d,l))){
if(S)return $(d,tn());d.patient=performance.now()+r,b.add(d),X(d),E()}},X=d=>{let{until:m,isSent:w,patient:p}=d,g=performance.now();clearTimeout(d.timer),g>=m?$(
d,Xe(w)):g>=p&&b.has(d)&&!l?.isUp?$(d,Re(14,`there is no connection to the server${x&&`; ${x}`}`,w)):d.timer=Ie((g<p?Math.min(m,p):m)-g,()=>X(d))},_=d=>{b.delete(
d),clearTimeout(d.timer),d.options.signal?.removeEventListener("abort",d.abort)},$=(d,m)=>{_(d),d.link?.cancel(d),d.reject(m)},Y=(d,{told:m,until:w,options:{metadata:p}})=>{
(m!==void 0||o||p)&&$e(d,{timeout:m&&w-performance.now(),metadata:{...o,...p}})},P=(d,m,w,p,g,A,U=1/0,G)=>{let{signal:oe}=w,B={id:0,operation:m.operation,until:performance.
now()+(p??U),isGivenUp:!1,isSent:!1,patient:1/0,timer:void 0,link:void 0,service:d,method:m,options:w,told:p,start:g,reply:G,reject:A,abort:()=>$(B,ke(B.isSent))};
return oe?.aborted?B.abort():(oe?.addEventListener("abort",B.abort),p!==void 0&&X(B),(p===void 0||p>0)&&N(B)),B},j=(d,m,w,p={})=>{let g,A=rt(m.request,m.reply,!0,
()=>g&&_(g),p.onMetadata);return g=P(d,m,p,p.timeout,(U,G,oe)=>{let B=G.open(A,oe,ne=>{Y(ne,U),R(ne,9),D(ne,m.operation)});return B&&A.pump(w),B},A.fail),A};this.
unary=(d,m,w,p={})=>new Promise((g,A)=>{let U=0;P(d,m,p,p.timeout??n,(G,oe,B)=>{let ne=oe.call(G,fe=>{Y(fe,G),Te(fe,m.request,w)});return ne&&(G.link=oe),U=B,ne},
A,_n,(G,oe)=>{_(G);try{let B=H(oe),ne=Ce(B),fe=Ye(B,ne);if(fe)throw fe;B.at&&p.onMetadata?.(ne.metadata),g(Ae(B,m.reply,U)),u<en&&(u+=.1)}catch(B){A(wt(B,m.reply))}})}),
this.serverStreaming=(d,m,w,p)=>j(d,m,[w],p).messages,this.twoWay=(d,m,w,p)=>j(d,m,w,p).messages,this.clientStreaming=async(d,m,w,p)=>{let{messages:g}=j(d,m,w,p),
{done:A,value:U}=await g.next();if(A)throw new k(13,"there is no reply");return g.return?.(),U},this.name=d=>void T.add(d),this.mount=d=>void C.push(d),this.connected=
()=>new Promise((d,m)=>{P(void 0,{operation:0},{},void 0,(w,p)=>(_(w),d(p),!0),m)}),this.close=()=>{S=!0,clearTimeout(v);for(let d of b)$(d,tn());l?.leave()},a&&
queueMicrotask(E)}},tn=()=>Re(9,"the channel is closed",!1);function kt(e,t,n){let r=new Map(n?.methods);for(let[o,i]of Object.entries(e.methods))r.set(i.operation,{service:e,method:i,handler:(a,l)=>t[o]?.(a,l)});return{
services:[...n?.services??[],e],methods:r,on(o,i){let a=new Map,l=(c,u)=>{let h=r.get(c);if(!h||!(h.method.sends||h.method.receives)===u)throw V(12,`there is no\
 operation ${c} here`);if(a.size>=xt)throw V(8,"too many calls are in progress");let{service:v,method:S}=h,x=i.find(b=>b.service===v.name);return{...h,left:et(S,
x?Ze(v,x):0,0)}};return{progress:a,packet(c,u,h,v){let S,x=b=>o.write(c,u,T=>{b instanceof k?Je(T,b,!0):($e(T,{isBackward:!0}),Te(T,S.reply,b))});try{let b=H(h),
{timeout:T,metadata:C}=Ce(b);v&&(F(b)!==9&&I("a stream begins with no operation"),u=O(b,3));let E=l(u,v);({method:S}=E);let W=v||Ae(b,S.request,E.left),L=v?c+65536:
c,N=new AbortController,X=P=>{clearTimeout(Y),P||N.abort(),a.delete(L),o.closeIfIdle()},_=v?rt(S.reply,S.request,!1,()=>X(!1)):{send(P){a.has(L)&&(x(P),X(!0))},
fail:x,finish(){},discard(){}},$=P=>{_.fail(P),X(!1)},Y=T===void 0?void 0:Ie(T,()=>$(Xe(!0)));a.set(L,{operation:u,stop:$}),v&&o.accept(_,c,E.left),Hn(E,v,W,_,{
signal:N.signal,metadata:C})}catch(b){let T=b instanceof he?V(3,`the request cannot be read: ${b.message}`):k.from(b);v?o.refuse(c,T):x(T)}},cancel(c,u){let h=a.
get(c);h?.operation===u&&h.stop(ke(!0))},down(c){for(let u of a.values())u.stop(c)}}}}}async function Hn({method:e,handler:t},n,r,o,i){try{if(e.sends)r=o.messages;else if(n){
let l=await o.messages.next();if(l.done)throw V(3,"there was no request");r=l.value}let a=t(r,i);e.receives?await o.pump?.(a):(o.send(await a),o.finish())}catch(a){
o.send(k.from(a))}o.discard()}var it=65280,qn=16<<20,Tt=64,Pe=class{constructor(t){this.channel=t;this.asked=new Map;this.last=0;let{asked:n}=this;t.mount({packet(r,o,i,a){for(let[l,c]of n)(!o||
o===l)&&c.packet(r,o,i-it,H(a))},down(r,o){for(let i of n.values())i.down(r,o)}})}subscribe(t,{group:n=""}={}){return this.ask(0,t,n)}async publish(t,n){(await this.
connected()).write(0,it+2,r=>{be(r,ae(t)),K(r,vt(n))})}async sync(){await(await this.ask(3)).return?.()}async connected(){let t;do t=await this.channel.connected();while(!t.
isUp);return t}async ask(t,n,r=""){let{asked:o}=this,i=await this.connected(),a=this.last=this.last%65535+1;return new Promise((l,c)=>{let u=0,h=0,{items:v,messages:S,
put:x,end:b}=nt(({topic:E,payload:W})=>{let L=h;return u-=W.length+Tt,h=0,{topic:E,payload:W,lagged:L}},()=>{o.delete(a)&&n!==void 0&&i.write(a,it+1)}),T=E=>{o.
delete(a),c(E),b(E)},C=r?[]:n?.split(".")??[];o.set(a,{packet(E,W,L,N){if(E===i)if(L===2){let X=Q(N),_=X.split("."),Y=(C[C.length-1]===">"?_.length>=C.length:_.
length===C.length)&&C.every((j,d)=>j===">"||j==="*"||j===_[d]);if(!W&&!Y)return;let P=ve(N);for(u+=P.length+Tt;u>qn&&v.length;)u-=v.shift().payload.length+Tt,h++;
x({topic:X,payload:P})}else L===4?h+=O(N,10):W&&(q(N)?T(V([8,12,7][F(N)-3]??3,Q(N,q(N)))):l(S))},down(E,W){E===i&&T(W)}}),i.write(a,it+t,E=>{n!==void 0&&be(E,ae(
n)),K(E,ae(r))})})}};var Ct="frisbee.1";function nn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return r=>{let o=new n(String(e),[Ct,...t]);return o.binaryType="arraybuf\
fer",o.onopen=()=>{o.protocol===Ct?r.open():o.close()},o.onmessage=({data:i})=>{i instanceof ArrayBuffer?r.data(new Uint8Array(i)):o.close()},o.onerror=()=>{},o.
onclose=({code:i,reason:a})=>{r.close(`the WebSocket was closed (${i}${a&&`, ${a}`})`)},{send:i=>o.send(i),close:()=>o.close(),buffered:()=>o.bufferedAmount}}}var Mt=(e,t={})=>new ot(
nn(e,t),t);var re={BUY:0,SELL:1},It=se("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[rn,rn,Xn]),Xn=se("exchange.Deal","number:u side:e price:u amount:\
u",()=>[re]),on=se("exchange.Inquiry","side:e amount:u",()=>[re]),rn=se("exchange.Level","price:u amount:u"),Gn=se("exchange.Nothing",""),an=se("exchange.Offer",
"price:u called:u answered:u"),Kn=se("exchange.Order","number:u side:e price:u amount:u",()=>[re]),jn=se("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[re]),Ee=Qe("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:Gn,reply:It},trade:{operation:11,request:Kn,reply:jn,sends:!0,receives:!0},
inquire:{operation:12,request:on,reply:an}}),at=class{constructor(t){this.channel=t;t.name(Ee)}look(t,n){return this.channel.unary(Ee,Ee.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Ee,Ee.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Ee,Ee.methods.inquire,t,n)}},sn=Qe("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:on,reply:an}});var Ot=240,fn=8,te=e=>document.getElementById(e),ee=(e,t)=>void(te(e).textContent=t),le=e=>(e/100).toFixed(2),st=e=>e===re.BUY?"buy":"sell";function Z(e,t,n=""){
let r=document.createElement(e);return r.className=n,typeof t=="string"?r.textContent=t:r.append(...t),r}function zn(e,t){let n=te(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>fn;)n.lastElementChild?.remove()}var _e=new Map,ln=0,dn=0,pn=()=>{},Nt=[];async function*Yn(){for(;;){let e=Nt.shift();
e?yield e:await new Promise(t=>pn=t)}}function Jn({number:e,amount:t,price:n,left:r}){let o=_e.get(e);if(!o)return;o.done+=t,o.left=r;let i=o.order.side===re.BUY?
1:-1;ln+=i*t,dn-=i*t*n,ee("held",String(ln)),ee("cash",le(dn));let a=[..._e.values()].reverse().slice(0,fn).map(({order:l,done:c,left:u})=>Z("tr",[Z("td",`${st(
l.side)} ${l.amount}`,st(l.side)),Z("td",le(l.price)),Z("td",String(c)),Z("td",String(u))]));te("orders").replaceChildren(...a)}te("ticket").addEventListener("s\
ubmit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?re.SELL:re.BUY,r={number:_e.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};_e.set(r.number,{order:r,done:0,left:r.amount}),Nt.push(r),pn()});var Oe=0,Ut=0,Ue,me=[];function cn(e,t){let n=Math.
max(1,...t.map(({amount:r})=>r));te(e).replaceChildren(...t.slice(0,10).map(({price:r,amount:o})=>{let i=document.createElement("meter");return i.max=n,i.value=
o,Z("li",[i,Z("span",le(r)),Z("span",String(o))])}))}function Qn(e){for(let{number:r,price:o}of[...e].reverse())r>Ut&&me.push(o);me.splice(0,me.length-Ot);let[t]=e;
if(!t||t.number===Ut)return;Ut=t.number;let n=t.price-Oe;Oe&&n&&(ee("change",`${n>0?"▲":"▼"} ${le(Math.abs(n))}`),te("change").dataset.side=n>0?"buy":"sell"),
Oe=t.price,ee("last",le(Oe)),te("deals").replaceChildren(...e.map(({side:r,price:o,amount:i})=>Z("li",[Z("span",r===re.BUY?"bought":"sold",st(r)),Z("span",le(o)),
Z("span",String(i))]))),Rt()}function un({bids:e,asks:t,deals:n,traders:r,orders:o}){cn("asks",t),cn("bids",e),t[0]&&e[0]&&ee("spread",`${le(t[0].price-e[0].price)}\
 apart`),ee("traders",String(r));let i=performance.now();(!Ue||i-Ue.at>1e3)&&(Ue&&ee("rate",((o-Ue.orders)/((i-Ue.at)/1e3)).toFixed(0)),Ue={orders:o,at:i}),Qn(n)}
function Rt(){let e=te("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:r}=e;if(!t||me.length<2||n===0)return;let o=devicePixelRatio;e.width=n*o,e.height=
r*o,t.scale(o,o);let i=getComputedStyle(e),a=te("state"),l=Math.min(...me)-2,c=Math.max(...me)+2,u=n-56,h=x=>x/(Ot-1)*u,v=x=>(c-x)/(c-l)*(r-12)+6;t.font=`12px ${i.
fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let x=0;x<5;x++){let b=l+(c-l)*x/4;t.globalAlpha=.35,t.beginPath(),t.moveTo(
0,v(b)),t.lineTo(u,v(b)),t.stroke(),t.globalAlpha=1,t.fillText(le(b),u+8,v(b)+4)}let S=Ot-me.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),me.forEach((x,b)=>t.
lineTo(h(S+b),v(x))),t.lineWidth=1.5,t.stroke(),t.lineTo(u,r),t.lineTo(h(S),r),t.globalAlpha=.1,t.fill()}addEventListener("resize",Rt);matchMedia("(prefers-colo\
r-scheme: dark)").addEventListener("change",Rt);var Zn=kt(sn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(te("margin").value)*100),r=Oe&&Oe+(e===re.BUY?
n:-n);return zn("asked",Z("li",`${st(e)} ${t}? You said ${le(r)}.`)),{price:r}}}),{hostname:er}=location,mn=Mt(`ws://${er}:${document.documentElement.dataset.port}\
/`,{serve:Zn,stayConnected:!0}),lt=new at(mn),tr=new Pe(mn);te("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector("b\
utton");t.disabled=!0;try{let n=performance.now(),{price:r,called:o,answered:i}=await lt.inquire({side:re.BUY,amount:10}),a=(performance.now()-n).toFixed(0);ee(
"offer",r?`${le(r)} is the best of ${i} of ${o}, after ${a} ms.`:`None of ${o} had a price.`)}catch(n){ee("offer",k.from(n).message)}t.disabled=!1});async function nr(){
for(;;){try{let e=await tr.subscribe("exchange.book"),t=lt.trade(Yn()),n=(async()=>{for await(let o of t)Jn(o)})();te("state").dataset.is="open",ee("state","con\
nected"),un(await lt.look({}));let r=(async()=>{for await(let{payload:o}of e)un(yt(It,o))})();await Promise.race([n,r])}catch(e){te("state").dataset.is="failed",
ee("state",k.from(e).message)}Nt.length=0;for(let e of _e.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}nr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await lt.look({},{timeout:5e3}),ee("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ee("ping","–")}},2e3);
