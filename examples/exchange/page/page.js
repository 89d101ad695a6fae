var $n=new TextEncoder,Bn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),jt=40,Se=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
M=e=>{throw new Se(e)},j=e=>({bytes:e,at:0,depth:0,memory:0}),Qe=(e=64)=>j(new Uint8Array(e)),Ze=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,ye=e=>$n.encode(
e);function et(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function L(e,t){e.at===e.bytes.
length&&et(e,1),e.bytes[e.at++]=t}function zt(e,t){L(e,t>>8),L(e,t)}function B(e,t){for(;t>127;t=Math.floor(t/128))L(e,t|128);L(e,t)}function ie(e,t){et(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Ie(e,t){B(e,t.length),ie(e,t)}function we(e,t){let{at:n}=e,{length:o}=t,r=o>jt?128:0;L(e,o);for(let i=0;i<o&&r<128;i++)
L(e,r=t.charCodeAt(i));r>127&&(e.at=n,Ie(e,ye(t)))}function pe(e,t,n){L(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Ie(e,r),r.length>0}var tt=({
bytes:e,at:t})=>e.subarray(0,t),q=({bytes:e,at:t})=>e.length-t,Te=({bytes:e,at:t})=>e[t],Y=e=>e.bytes[e.at++]??M("truncated");function me(e,t){let n=Y(e);n!==t&&
M(`found byte ${n}, expected ${t}`)}function D(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=Y(e);if(r<128)return n+r*o;n+=(r-128)*o}return M("a number is too\
 long")}function nt(e){let{at:t}=e,n=D(e,10);return(q(e)||e.bytes[t+9]>1)&&M("malformed number"),n}function he(e,t=D(e)){return t>q(e)&&M("truncated"),e.bytes.subarray(
e.at,e.at+=t)}var Me=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function se(e,t=D(e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=jt)for(let a;i<t&&(a=n[o+i])<128;i++)
r+=String.fromCharCode(a);if(i<t){let a=he(e,t);try{return Bn.decode(a)}catch{M("a text is not UTF-8")}}return e.at+=t,r}var O=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:l=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:l,code:n})}static from(n){return n instanceof e?n:new e(2,De(n),{cause:n})}};var De=e=>e instanceof Error?e.message:String(e),P=(e,t)=>new O(e,t,{mayHaveRun:!1}),rt=e=>{let t=O.from(e);return t.mayHaveRun?t:new O(t.code,t.message,{...t,mayHaveRun:!0})},
ot=e=>e>0&&e<=16?e:2,Xe=(e,t,n)=>new O(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Pe=e=>Xe(1,"the caller cancelled the call",e),it=(e,t="")=>Xe(4,`deadline exceeded${t}`,
e);var lt=100,_n=64<<20,Fn=12,kt=8,Ct=56,Et=new Uint8Array(8),Yt=new DataView(Et.buffer);function be(e,t,n){let o;return{name:e,fields:()=>o??=Vn(t,n?.()??[])}}var It=(e,t)=>Ue(j(t),e,0);function Be(e,t,n){e.depth=lt,Zt(e,t,n)}function Ue(e,t,n){return e.depth=lt,e.memory=Math.max(_n,q(e)*Fn),en(e,t,n)??tn(e,t)}function Vn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,l,m,c,y]=i,b=y==="m"?Wn(t[o++]):y==="e"?Gn(t[o++]):at[y],h=at[c[1]??""],S=h?[2,h.wire,b.wire,10]:c==="*"?[1,b.wire,10]:void 0,k=l?n.get(l):void 0;
l&&!k&&n.set(l,k=[]);let G={name:l??a,of:b,isOptional:c==="?",key:h,head:S,case:a,number:+m,all:k};return k?.push(G),G})}var Ge=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Zt(e,t,n){if(!e.depth--)throw Qt(t.name,`nests deeper than ${lt}`);L(e,8),L(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,l=n[o=a];if(!i)Hn(e,r,l);else if(e.isFlat||r===i[0]){let m=l,c=i.find(b=>b.case===m?.case);if(m&&!c)throw new Error(`has no member ${m.case}`);e.
isFlat||(L(e,3),B(e,c?c.number:0));let y=e.isFlat?r:c;y&&$e(e,y.of,y===c?m?.value:void 0)}}}catch(r){throw r instanceof O?r:Qt(`${t.name}.${o}`,r.message)}e.depth++}
function Hn(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=Ge(t)),o){let a=n,l=n,m=r?a.size:l.length;Ae(m>=0,n);for(let c of o)L(e,c);if(B(
e,m),r)for(let[c,y]of a)$e(e,r,c),$e(e,i,y);else for(let c of l)$e(e,i,c)}else n===void 0&&t.isOptional&&!e.isFlat?L(e,0):$e(e,i,n)}function $e(e,t,n){t.table||
L(e,t.wire),t.put(e,n===void 0?t.zero():n)}function en(e,t,n){if(Te(e)===0)return void e.at++;me(e,8),Y(e),e.depth--||M(`${t.name} nests deeper than ${lt}`);let o=t.
fields();Mt(e,Ct+kt*o.length);let r={},i="";for(let a of o){let{name:l,all:m,of:c}=a,y=m&&m[0]===a;if(y&&(r[l]=void 0),n>0&&!q(e))n--,m||(r[l]=Ge(a));else if(!m)
r[l]=qn(e,a);else if(y&&Te(e)===3){e.at++,i+=` ${l} `;let b=D(e),h=m.find(S=>S.number===b);h?r[l]={case:h.case,value:Tt(e,h.of)}:b&&M(`${t.name}.${l} has no mem\
ber ${b}`)}else if(!i.includes(` ${l} `)){let b=Ke(e,c);(b instanceof Uint8Array?b.length:!Object.is(b,c.zero()))&&(r[l]={case:a.case,value:b})}}return e.depth++,
r}function qn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Te(e)===0)return e.at++,Ge(t);if(!n)return Ke(e,r);for(let l of n)me(e,l);let i=D(e),a=Ge(t);for(;i-- >
0;)Mt(e,o?Ct:kt),o?a.set(Ke(e,o),Tt(e,r)):a.push(Tt(e,r));return a}function Ke(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Te(e)===12?Ke(e,at.i):(n||me(e,t),o(
e))}var Tt=(e,t)=>Ke(e,t)??tn(e,t.table);function tn(e,t){let n={},o=t.fields();Mt(e,Ct+kt*o.length);for(let r of o)n[r.name]=r.all?void 0:Ge(r);return n}function Mt(e,t){
(e.memory-=t)<0&&M("exceeds the memory limit")}var xe=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Wn=e=>xe(3,()=>{},(t,n)=>n?Zt(t,e,n):L(t,0),t=>en(t,e,
0),e),Xn=65536;function Gn(e){let t=Object.values(e);return{...xe(10,()=>t[0],(o,r)=>{let i=t.indexOf(r),a=r+2147483648,l=r<0&&a>=t.length;Ae(i>=0||r===(r|0)&&(l||
!o.isFlat),r),i>=0||l&&(o.isFlat||a<Xn)?B(o,i<0?a:i):(o.at--,$e(o,at.i,r))},o=>{let r=D(o)>>>0,i=r-2147483648;return r>=t.length&&(i>=0||t.includes(i))&&M(`an e\
num has the index ${r}`),t[r]??i}),isEnum:!0}}var st=(e,t)=>xe(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(
a)&&a>=0)return B(n,a);Ae((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let l=e?r<<1n^r>>63n:r;for(;l>>53n;l>>=7n)L(n,Number(l&127n)|128);B(n,Number(l))},n=>{let{
at:o}=n,r=D(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.bytes[o++]&127)<<a;i=BigInt.asUintN(
64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||M("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Jt=(e,t)=>xe(e,()=>0,(n,o)=>{Ae(typeof o==
"number",o),Yt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)L(n,Et[r])},n=>{for(let o=0;o<t;o++)Et[o]=Y(n);return Yt[t>4?"getFloat64":"getFloat32"](0)}),
at={b:xe(7,()=>!1,(e,t)=>{Ae(typeof t=="boolean",t),L(e,+t)},e=>{let t=Y(e);return t>1&&M(`a bool is ${t}`),t>0}),i:xe(12,()=>0,(e,t)=>{Ae(t===(t|0),t),B(e,(t<<
1^t>>31)>>>0)},e=>{let t=D(e);return t>>>1^-(t&1)}),u:xe(10,()=>0,(e,t)=>{Ae(t===t>>>0,t),B(e,t)},e=>D(e)>>>0),l:st(!0,!1),w:st(!1,!1),L:st(!0,!0),W:st(!1,!0),f:Jt(
14,4),d:Jt(15,8),s:xe(5,()=>"",(e,t)=>{Ae(typeof t=="string",t),L(e,10),we(e,t)},e=>(me(e,10),se(e))),y:xe(4,()=>new Uint8Array,(e,t)=>{Ae(Ze(t),t),L(e,10),Ie(e,
t)},e=>(me(e,10),new Uint8Array(he(e))))},Qt=(e,t)=>P(3,`${e} ${t}`);function Ae(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var dt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)}),Nt=37;function ut(e,t){let n=je(e.fingerprint);if(n===t.fingerprint||t.compatible.includes(n))return 0;if(!e.compatible.map(je).includes(t.fingerprint))throw P(9,`inc\
ompatible layouts of ${e.name}`);return 1}var ct=({added:e=[0,0]},t,n)=>t*e[n],je=e=>e.padStart(32,"0"),nn=(e,...t)=>{for(let n of t)je(n).match(/../g)?.forEach(
o=>L(e,parseInt(o,16)))};function Ut(e,t,n){pe(e,t,()=>Kn(e,n)),n.compatible.length&&pe(e,Nt,()=>nn(e,n.fingerprint,...n.compatible))}function Kn(e,t){we(e,t.name),
nn(e,t.fingerprint);let n=0;for(let o of[...t.operations].sort((r,i)=>r-i))B(e,o-n),n=o}function rn(e){let t="";for(;t.length<32;)t+=Y(e).toString(16).padStart(
2,"0");return t}function on(e){let t=[];do t.push(rn(e));while(q(e));return t}function sn(e){let t={service:se(e),fingerprint:rn(e),compatible:[],operations:[]};
for(let n=0;q(e);)t.operations.push(n+=D(e));return t}var Ot=5<<20,jn=1024,zn=65536,Yn=128,Jn=32768,_e=10,Oe=16384,an=32768,Qn=Oe/2,ft=256,pt=262144,Zn=1e5,er=64<<20,ln=8<<20,tr=10,nr=65536,rr=2e3,or=5,ir=1e4,dn="t\
he server is going away",sr=2147483647,Re=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),sr));function cn(e,t,n,o,r){let i=Qe(16384),a=new Map,l=new Map,m=new Map,c=[],
y=0,b=0,h=0,S=0,k=0,G=32767,T=[0,Ot,1/0,Oe,0],R=!1,ne=!1,W,K=_e,ue=0,J=!1,_=0,X=!1,H=!1,z=0,F,re=u=>{if(!(R||!ve))try{u(ve)}catch(p){$(De(p));try{ve.close()}catch{}}},
ee=()=>{i.at&&(X=!1,H=!0,re(u=>u.send(tt(i))),i.at=_=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),re(u=>{let p=u.buffered();p>er?N("too many unsent b\
ytes"):p>ln&&!w.isFull&&(w.isFull=!0,U())}))},U=()=>re(u=>{if(u.buffered()>ln/2)return void Re(tr,U);w.isFull=!1,t.room(w)}),s=()=>{i.at!==_?(_=i.at,queueMicrotask(
s)):(J=!1,ee())},d=(u,p,v,A)=>{let{at:Q}=i;try{et(i,_e),i.at+=_e,v?.(i,A);let Z=i.at,fe=Z-Q-_e,Je=Math.max(T[1],jn);if(fe>Je)throw P(8,`the message has ${fe} by\
tes of at most ${Je}`);i.at=Q;for(let Pn of[15,u,p,fe>>>16,fe])zt(i,Pn);i.at=Z}catch(Z){throw i.at=Q,Z}i.at>nr?ee():J||(J=!0,_=0,queueMicrotask(s))},f=(u,{code:p,
message:v})=>d(u,7,A=>{B(A,p),ie(A,ye(v.slice(0,256)))}),g=(u,p)=>{d(u,5,B,0),f(u,p)},C=u=>{if(!R){if(z=0,W){if(ie(W,u),W.at<K)return;u=tt(W),W=void 0}try{let p=0,
v=A=>u[p+A]<<8|u[p+A+1];for(;!R&&!(u.length<(K=p+_e));p=K){v(0)!==15&&M("a header without its magic");let A=v(6)*65536+v(8);if(A>Ot&&M(`a packet of ${A} bytes`),
u.length<(K+=A))break;I(v(2),v(4),u.subarray(p+_e,K))}p<u.length&&(K-=p,ie(W=Qe(),u.subarray(p)))}catch(p){N(`the server broke the protocol: ${p.message}`)}}},I=(u,p,v)=>{
let A=j(v),Q=a.get(u);if(p>=10){w.isUp||M("a packet before HELLO");let Z=u>=an,fe=c[u%Oe];if(!Z&&fe?.id===u&&fe.operation===p)return oe(u),t.answered(),fe.isGivenUp?
b--:t.replied(fe,v),E();if(r.filter(Je=>Je.packet(w,u,p,v)).length)return;if(Z&&V)return V.packet(u,p,v,!1)}else if(p<2){v.length&&M("a PING with a body"),p===1?
w.isUp||N("the server is a compat peer"):X||(X=!0,d(0,1));return}else{if(p===3&&!w.isUp&&!u)return te(A);if(p===3&&u>=Jn)M(`packet type ${u} must be understood \
and is unknown`);else{if(p===4)return x();if(p===6)return V?.cancel(u,D(A));if(p===8)M("a stray hand-off");else{if(Q&&p!==3&&p<8)return t.answered(),Q.packet(p,
v);if(p===2){let Z=u-G&32767;if(u>=32768&&Z&&Z<=16384)return G=u,V?V.packet(u,2,v,!0):g(u,P(12,"no service is served"))}}}}++ue>Zn&&N("too many stray packets")},
te=u=>{(q(u)>zn||se(u,4)!=="fris"||!Y(u))&&M("no HELLO");let p=new Set,v=[],A=0;try{for(;q(u);){A=Y(u);let Q=j(he(u));if(A>=Yn&&M("must be understood and is unk\
nown"),(A<7||A===34||A===35)&&(p.has(A)&&M("occurs twice"),p.add(A)),A in T)T[A]=nt(Q);else if(A===32||A===33){let Z=sn(Q);(A===32?l:m).set(Z.service,Z)}else A===
Nt&&v.push(on(Q))}}catch(Q){M(`HELLO item ${A}: ${Q.message}`)}for(let Q of[l,m])for(let Z of Q.values())Z.compatible=v.find(([fe])=>fe===Z.fingerprint)?.slice(
1)??[];T[3]=Math.min(T[3],Oe),w.isUp=!0,clearTimeout(Ce),t.room(w)},oe=u=>{c[u%Oe]=void 0,y--===T[3]&&t.room(w)},Ee=(u,p,v)=>{a.set(p,u),u.begin(w,p,T[4],v)},E=()=>{
ne&&y===b&&!a.size&&!V?.progress.size&&queueMicrotask(()=>N(dn))},x=()=>{ne||(ne=!0,t.closing(w,dn),E())},N=u=>{R||(ee(),re(p=>p.close()),$(u))},$=u=>{if(R)return;
R=!0,clearInterval(F),clearTimeout(Ce),t.closing(w,u),w.isUp=!1;let p=new O(14,`the connection was lost: ${u}`);for(let v of c)v&&!v.isGivenUp&&t.lost(v,p);for(let v of a.
values())v.lost(p);V?.down(p);for(let v of r)v.down(w,p)},w={isUp:!1,isFull:!1,write:d,reset:f,refuse:g,fits(u){let p=l.get(u.name);if(p)return p.fingerprint===
je(u.fingerprint)||n.includes(u)?ut(u,p):void 0;for(let v of l.values())if(v.operations.some(A=>u.operations.includes(A)))throw P(12,`the server has ${v.service}\
 instead of ${u.name}`);return 0},call(u,p){if(w.isFull||y>=T[3])return!1;do h=(h+1)%an;while(c[h%Oe]);let v=u.id=h;c[v%Oe]=u,y++;try{d(v,u.operation,p,u)}catch(A){
throw oe(v),A}return!0},cancel(u){R||(u.isGivenUp=!0,d(u.id,6,B,u.operation),++b>=Qn&&x(),E())},open(u,p,v){if(!T[2])throw P(12,"the server does not accept stre\
ams");if(w.isFull||S>=Math.min(T[2],28672))return!1;do k=k%32767+1;while(a.has(k));let A=k;a.set(A,u),S++;try{d(A,2,v)}catch(Q){throw w.over(A),Q}return u.begin(
w,A,T[4],p),!0},accept:Ee,over(u){a.delete(u),u<32768&&(S--,t.room(w)),E()},drain:x,closeIfIdle:E},V=o?.on(w,m),Ce=Re(ir,()=>N("handshake timeout")),We=()=>{i.isFlat=
ve?.isFlat,d(0,3,u=>{ie(u,ye("fris"));let p=V?ft:0;[Ot,p,p,pt].forEach((v,A)=>pe(u,A+1,()=>B(u,v)));for(let v of o?.services??[])Ut(u,32,v);for(let v of n)Ut(u,
33,v)}),d(1,0),ee(),!R&&(F=setInterval(()=>{if(++z>or)return N("keepalive timeout");(z>1||!H)&&d(0,0),H=!1;let u=performance.now();for(let p of c)p&&p.until<=u&&
!p.isGivenUp&&t.expired(p)},rr))},ve,Gt=u=>ve?u():queueMicrotask(u),Kt=u=>Gt(()=>$(u));try{ve=e({open:()=>Gt(We),data:C,close:Kt})}catch(u){Kt(De(u))}return w}var fn=16,pn=65536,mn=256,ar=61440,lr={metadata:{}},yn=e=>[e].flat(),Rt=e=>e.endsWith("-bin"),hn=(e,t)=>Rt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Rt(e)?"":t}`);function Lt(e){if(typeof e=="string")return ye(e);if(!Ze(e))throw P(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Dt(e,{
timeout:t,metadata:n={},status:o}){let{at:r}=e;pe(e,fn,()=>{t!==void 0&&pe(e,1,()=>B(e,Math.min(Math.max(0,Math.round(t*1e3)),Number.MAX_SAFE_INTEGER)));let a=0,
l=0;for(let[m,c]of Object.entries(n))for(let y of yn(c)){if(!hn(m,y))throw P(3,`invalid metadata entry ${m}: keys have a-z 0-9 - _ . and values printable ASCII,\
 or bytes under -bin`);if(a+=m.length+y.length+8,++l>mn||a>ar)throw P(8,"too much metadata");pe(e,2,()=>{we(e,m),ie(e,Lt(y))})}if(o){let{code:m,details:c,mayHaveRun:y}=o;
pe(e,3,()=>{B(e,m),e.at-r+c.length+32<=pn&&ie(e,c)}),y||pe(e,5,()=>{})}})||(e.at=r)}function Fe(e,t=!1){if(Te(e)!==fn)return lr;e.at++;let n=j(he(e));q(n)>pn&&M(
"a prefix is too long");let o=Object.create(null),r={metadata:o},i=0,a=0;for(;q(n);){let l=Y(n),m=j(he(n));if(l>127){let c=`prefix item ${l} must be understood \
and is unknown`;throw t?P(12,c):new Se(c)}if(l!==2&&l<7&&(a>>l&1&&M(`prefix item ${l} occurs twice`),a|=1<<l),l===1)r.timeout=nt(m)/1e3;else if(l===2){let c=se(
m),y=Rt(c)?Me(m):se(m,q(m));(!hn(c,y)||++i>mn)&&M("invalid metadata"),o[c]=c in o?[...yn(o[c]),y]:y}else l===3?(r.code=ot(D(m,10)),r.details=Me(m)):l===5&&(r.isRefused=
!0)}return r}function mt(e,{metadata:t,code:n,details:o,isRefused:r}){if(Te(e)===6)return e.at++,me(e,5),me(e,10),new O(n??2,se(e),{metadata:t,mayHaveRun:!r,...o&&
{details:o}})}function yt(e,t){Dt(e,{status:t,metadata:t.metadata}),ie(e,[6,5,10]),we(e,t.message)}function ht(e,t){let n=[],o=0,r=!1,i=()=>{},a=h=>{r||=h,i()},l=()=>n[o],m=()=>{let h=l();return h!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),h},c=()=>{n=[],o=0},y=(async function*(){try{for(;;){let h=m();if(h!==void 0){let S=e(h);S!==void 0&&(yield S)}else if(r){if(r!==!0)throw r;return}else await new Promise(
S=>i=S)}}finally{t()}})(),{return:b}=y;return y.return=()=>(t(),c(),a(!0),b.call(y,void 0)),{messages:y,first:l,take:m,clear:c,put:h=>{n.push(h),i()},end:a}}var Pt=64,dr=4,ur=4096,$t=(e,t)=>e instanceof Se?new O(13,`not a valid ${t.name}: ${e.message}`):O.from(e);function bt(e,t,n,o,r){let i,a=0,l=0,m=0,c=0,y=0,b=!0,
h=!0,S=!1,k=!1,G=()=>{},T,R=()=>!b&&!h,{messages:ne,clear:W,put:K,end:ue}=ht(U=>{let s=U.length+Pt;c-=s,y+=s,h&&y*dr>=pt&&(i?.write(a,5,B,y),y=0);try{let d=j(U),
f=Fe(d);if(d.at&&(r?.(J.metadata=f.metadata),!q(d)))return;let g=mt(d,f);if(g)throw g;return Ue(d,t,l)}catch(d){throw $t(d,t)}},()=>n?z(!0):re()),J=Object.assign(
ne,{metadata:{}}),_=()=>{R()&&(G(),T?.(),i?.over(a),i=T=void 0,o())},X=()=>{b&&(b=!1,i?.write(a,7),_())},H=U=>{b=h=!1,ue(U),_()},z=(U,s=Pe(!0))=>{R()||i?.reset(
a,s),W(),H(U)},F=U=>z(U,U),re=()=>{W(),S=!0},ee=U=>{if(!i||!b)return;let s=U instanceof O;i.write(a,2,d=>{let{at:f}=d;s?yt(d,U):Be(d,e,U),m-=d.at-f+Pt}),s&&X()};
return{messages:J,begin(U,s,d,f){i=U,a=s,m=d,l=f},packet(U,s){if(U===2)return!h||S?void 0:c+y>=pt?F(new O(8,"the peer exceeded its credit")):(c+=s.length+Pt,K(new Uint8Array(
s)));let d=j(s);if(U===5){let f=D(d,10);k||=!f,(m+=f)>0&&G()}else if(s.length){let f=ot(D(d));H(new O(f,new TextDecoder().decode(Me(d).subarray(0,ur)),{mayHaveRun:!k}))}else
h=!1,ue(!0),_()},send:ee,async pump(U,s){try{let d=U,f=d?.[Symbol.asyncIterator]?.()??d?.[Symbol.iterator]?.();if(!f)throw P(3,`messages of a stream are an iter\
able, not ${String(U)}`);for(T=async()=>{try{await f.return?.()}catch{}};;){for(;m<=0&&!R();)await new Promise(I=>G=I);if(R())return;let{done:g,value:C}=await f.
next();if(R())return;if(g)break;ee(C)}T=void 0,X()}catch(d){if(!n)throw T?.(),T=void 0,d;z(s?rt(d):O.from(d))}},finish:X,discard:re,fail:F,lost:H}}var cr=3e4,fr=5e3,pr=20,bn=2e3,gn=10,gt=class{constructor(t,{timeout:n,patience:o=fr,metadata:r,serve:i,stayConnected:a}={}){let l,m=0,c=gn,y=0,b,h=!1,S="",k=[new Set,
new Set],G=({method:{sends:s,receives:d}})=>k[s||d?1:0],T=new Set,R=[],ne=()=>{l||b||h||!(k[0].size||k[1].size||a)||(y=performance.now(),l=cn(t,W,[...T],i,R))},
W={room:s=>queueMicrotask(()=>{for(let d of k)for(let f of d){if(l!==s||!K(f,s))break;l===s&&d.delete(f)}}),closing(s,d){if(l===s){if(l=void 0,S=d,s.isUp)for(let f of k)
f.forEach(J);s.isUp&&performance.now()-y>=bn?m=0:h||(clearTimeout(b),b=Re(Math.random()*Math.min(pr*2**Math.min(m++,16),bn),()=>{b=void 0,ne()})),ne()}},answered:()=>void(m=
0),replied(s,d){let f=s,{method:{reply:g},options:{onMetadata:C}}=f;X(f);try{let I=j(d),te=Fe(I),oe=mt(I,te);if(oe)throw oe;I.at&&C?.(te.metadata),f.resolve(Ue(
I,g,f.missing)),c<gn&&(c+=.1)}catch(I){f.reject($t(I,g))}},expired:s=>_(s),lost(s,d){let f=s;if(f.link=void 0,!f.method.idempotent||c<1)return H(f,d);c--,ue(f)}},
K=(s,d)=>{let{service:f,method:g}=s;try{let C=f?d.fits(f):0;return C!==void 0?(s.missing=ct(g,C,1),s.start(s,d)&&(s.isSent=!0)):(T.add(f),m=0,d.drain(),!1)}catch(C){
return H(s,O.from(C)),!0}},ue=s=>{if(!(l?.isUp&&K(s,l))){if(h)return H(s,vn(s.isSent));G(s).add(s),ne(),J(s)}},J=s=>{s.patientUntil=performance.now()+(s.options.
patience??o),_(s)},_=s=>{let{until:d,isSent:f,patientUntil:g}=s,C=performance.now(),I=G(s).has(s)&&!l?.isUp&&`no connection to the server${S&&`: ${S}`}`;clearTimeout(
s.timer),C>=d?H(s,it(f,I?`; ${I}`:"")):C>=g&&I?H(s,Xe(14,I,f)):s.timer=Re((C<g?Math.min(d,g):d)-C,()=>_(s))},X=s=>{G(s).delete(s),clearTimeout(s.timer),s.options.
signal?.removeEventListener("abort",s.abort)},H=(s,d)=>{X(s),s.link?.cancel(s),s.reject(d)},z=(s,{sentTimeout:d,until:f,options:{metadata:g}})=>{(d!==void 0||r||
g)&&Dt(s,{timeout:d&&f-performance.now(),metadata:{...r,...g}})},F=(s,d)=>{z(s,d),Be(s,d.method.request,d.request)},re=(s,d)=>{let f=d.call(s,F);return f&&(s.link=
d),f},ee=(s,d,f,g,C,I,te,oe,Ee=1/0)=>{let{signal:E}=g,x={id:0,operation:d.operation,until:performance.now()+ +(C??Ee),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,
timer:void 0,link:void 0,service:s,method:d,request:f,options:g,sentTimeout:C,start:I,resolve:te,reject:oe,abort:E&&(()=>H(x,Pe(x.isSent)))};return Number.isNaN(
x.until)?oe(P(3,"the timeout is not a number; it is in milliseconds")):E?.aborted?x.abort?.():(E?.addEventListener("abort",x.abort),C!==void 0&&_(x),(C===void 0||
C>0)&&ue(x)),x},U=(s,d,f,g={})=>{let C,I=bt(d.request,d.reply,!0,()=>C&&X(C),g.onMetadata);return C=ee(s,d,f,g,g.timeout,(te,oe)=>{let Ee=oe.open(I,te.missing,E=>{
z(E,te),L(E,9),B(E,te.operation)});return Ee&&I.pump(f,d.sends),Ee},()=>{},I.fail),I};this.unary=(s,d,f,g={})=>new Promise((C,I)=>void ee(s,d,f,g,g.timeout??n,re,
C,I,cr)),this.serverStreaming=(s,d,f,g)=>U(s,d,[f],g).messages,this.twoWay=(s,d,f,g)=>U(s,d,f,g).messages,this.clientStreaming=async(s,d,f,g)=>{let{messages:C}=U(
s,d,f,g),{done:I,value:te}=await C.next();if(I)throw new O(13,"there is no reply");return C.return?.(),te},this.name=s=>void T.add(s),this.mount=s=>void R.push(
s),this.connected=(s,d)=>new Promise((f,g)=>{ee(void 0,{},void 0,{patience:d},void 0,(C,I)=>I.isFull?!1:(s?.(I),X(C),f(I),!0),f,g)}),this.close=()=>{h=!0,clearTimeout(
b);for(let s of k)for(let d of s)H(d,vn(d.isSent));l?.drain()},a&&queueMicrotask(ne)}},vn=e=>Xe(9,"the channel is closed",e);function Bt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,l)=>t[r]?.(a,l)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,l=0,m=(c,y)=>{let b=o.get(c);if(!b||!(b.method.sends||b.method.receives)===y)throw P(12,`unknown\
 operation ${c}`);if(a.size>=ft||l>=ft)throw P(8,"too many calls are in progress");let{service:h,method:S}=b,k=i.get(h.name);return{...b,left:ct(S,k?ut(h,k):0,0)}};
return{progress:a,packet(c,y,b,h){let S,k=T=>r.write(c,y,R=>{T instanceof O?yt(R,T):Be(R,S.reply,T)}),G=h?c:Sn(c,y);a.has(G)&&M("a request with the id of anothe\
r");try{let T=j(b),{timeout:R,metadata:ne}=Fe(T,!0);h&&(me(T,9),y=D(T,3));let W=m(y,h);({method:S}=W);let K=h||Ue(T,S.request,W.left),ue=new AbortController,J=!1,
_=F=>{J||(J=!0,clearTimeout(z),F||ue.abort(),a.delete(G),r.closeIfIdle())},X=h?bt(S.reply,S.request,!1,()=>_(!1)):{send(F){J||(k(F),_(!0))},fail:k,finish(){},discard(){}},
H=F=>{X.fail(F),_(!1)},z=R===void 0?void 0:Re(R,()=>H(it(!0)));a.set(G,H),h&&r.accept(X,c,W.left),l++,mr(W,h,K,X,{signal:ue.signal,metadata:ne}).finally(()=>l--)}catch(T){
let R=T instanceof Se?P(3,`malformed request: ${T.message}`):O.from(T);h?r.refuse(c,R):k(R)}},cancel(c,y){a.get(Sn(c,y))?.(Pe(!0))},down(c){for(let y of a.values())
y(c)}}}}}var Sn=(e,t)=>t*65536+e;async function mr({method:e,handler:t},n,o,r,i){let a=!1;try{if(e.sends)o=r.messages;else if(n){let m=await r.messages.next();if(m.
done)throw P(3,"no request");o=m.value}a=!0;let l=t(o,i);e.receives?await r.pump?.(l):(r.send(await l),r.finish())}catch(l){try{r.send(a?rt(l):O.from(l))}catch(m){
r.send(new O(13,De(m)))}}r.discard()}var Ve=65280,yr=16<<20,_t=64,hr=255,br=65536,gr=4,vt={now:0,last:1,oldest:2},wn=e=>P([8,12,7][Y(e)-3]??3,se(e,q(e))),xn=e=>{let t=D(e);return t>hr&&M("a topic i\
s too long"),se(e,t)},An=new WeakMap,ze=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this,o=An.get(t);if(o)return o;An.
set(t,this),t.mount({packet:(r,i,a,l)=>{if(a<Ve)return!1;!i&&a===Ve+5&&(this.refused??=wn(j(l)));for(let m of i?[n.get(i)]:n.values())m?.packet(r,i,a-Ve,j(l));return!0},
down(r,i){for(let a of[...n.values()])a.down(r,i)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(
o=>o.write(0,Ve+2,r=>{Ie(r,ye(t)),ie(r,Lt(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){
let{channel:i,requests:a}=this;do this.last=this.last%65535+1;while(a.has(this.last));let l=this.last;return new Promise((m,c)=>{let y,b=0,h=0,S=!1,{first:k,messages:G,
put:T,end:R,take:ne}=ht(E=>(b-=E.payload.length+_t,E),()=>{a.delete(l)&&n!==void 0&&y?.isUp&&y.write(l,Ve+1)}),W=E=>{a.delete(l),c(E),R(E)},K=o?[]:n?.split(".")??
[],ue=K[K.length-1]===">",J=E=>{let x=E.split(".");return(ue?x.length>=K.length:x.length===K.length)&&K.every((N,$)=>N===">"||N==="*"||N===x[$])},_=t===0&&!o&&r!==
void 0,X=typeof r=="object";if(X&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0))throw P(3,`${r.epoch}, ${r.offset} is not a position`);let H=X||r===void 0?vt.oldest:
vt[r],z=new Map(X?[[n,{...r,offset:r.offset+1}]]:[]),F=new Map,re=0,ee="",U=!1,s=!1,d=!1,f=!1,g=!1,C=E=>{y?.write(l,Ve+E,x=>{if(n!==void 0&&Ie(x,ye(n)),E===6){L(
x,H);for(let[N,$]of z){we(x,N);for(let w=0;w<16;w+=2)L(x,parseInt($.epoch.slice(w,w+2),16));B(x,$.offset)}}else ie(x,ye(o))})},I=E=>{i.connected(x=>{a.has(l)&&(y=
x,C(_?6:t))},E).catch(x=>{s&&x.code===9&&R(!0),W(x)})},te=()=>{g=!0,s&&(d||!(_&&f))&&(S=!0),m(G)},oe=E=>Array.from(he(E,8),x=>x.toString(16).padStart(2,"0")).join(
""),Ee=(E,x,N)=>{if(x===5&&E&&!g&&_&&N.bytes[N.at]===gr)d=!0,C(0);else if(x===6&&E&&N.bytes[N.at]===0){Y(N),f=Y(N)===1;let $=oe(N);re=D(N,10);let w=ee!==""&&ee!==
$,V=!n?.match(/[*>]/)&&z.size>0;ee=$,te(),d=!1,S||=V?!re:w}else if(x===7)for(;q(N);){let $=xn(N),w={epoch:oe(N),offset:D(N,10)};if(Number.isSafeInteger(w.offset)||
M("an integer is beyond 2^53"),!g||!E&&!J($))continue;let V=F.get($);E&&!V?(re--,V=z.get($)??(U?{...w,offset:1}:void 0)):!E&&V?.epoch!==w.epoch&&(V=void 0),V&&f&&
(V.epoch===w.epoch&&V.offset<=w.offset?h+=w.offset-V.offset:S=!0),F.size>=br&&(F.clear(),d=!0),F.set($,w)}else return!1;return!0};a.set(l,{packet(E,x,N,$){if(!(E!==
y||_&&Ee(x,N,$)))if(N===2){let w=xn($);if(!x&&(!g||!J(w)))return;let V=Me($),Ce=F.get(w);for(Ce&&F.set(w,{...Ce,offset:Ce.offset+1}),b+=V.length+_t,T({topic:w,payload:V,
position:Ce,lagged:h,reconnected:S}),h=0,S=!1;b>yr;){let We=ne();b-=We.payload.length+_t;let ve=k();ve.lagged+=We.lagged+1,ve.reconnected||=We.reconnected}}else
N===4?_&&f&&g||(h+=D($,10)):x&&(q($)?W(wn($)):te())},down(E,x){if(E===y){if(n===void 0||!g&&!s)return W(x);if(g)if(re>0)for(let[N,$]of F)z.set(N,$);else z=d?new Map:
F,H=d?vt.now:vt.oldest,U=!d;F=new Map,g=!1,s=!0,I(1/0)}}}),I()})}};var St="frisbee.1";function En(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[St,...t]);r.binaryType="arraybuffer";let i="";return r.onopen=()=>{if(r.protocol===St)return o.
open();i=`the server does not speak ${St}`,r.close()},r.onmessage=({data:a})=>{a instanceof ArrayBuffer?o.data(new Uint8Array(a)):r.close()},r.onerror=({message:a=""})=>void(i||=
a),r.onclose=({code:a,reason:l})=>{o.close(i||`the WebSocket was closed (${a}${l&&`, ${l}`})`)},{send:a=>r.send(a),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Ft=(e,t={})=>new gt(En(e,t),t);var ce={BUY:0,SELL:1},Vt=be("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[Tn,Tn,Sr]),Sr=be("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ce]),kn=be("exchange.Inquiry","side:e amount:u",()=>[ce]),Tn=be("exchange.Level","price:u amount:u"),wr=be("exchange.Nothing",""),Cn=be("exchange.Offer",
"price:u called:u answered:u"),xr=be("exchange.Order","number:u side:e price:u amount:u",()=>[ce]),Ar=be("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ce]),Le=dt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:wr,reply:Vt},trade:{operation:11,request:xr,reply:Ar,sends:!0,receives:!0},
inquire:{operation:12,request:kn,reply:Cn}}),wt=class{constructor(t){this.channel=t,t.name(Le)}look(t,n){return this.channel.unary(Le,Le.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Le,Le.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Le,Le.methods.inquire,t,n)}},In=dt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:kn,reply:Cn}});var qt=240,Rn=8,de=e=>document.getElementById(e),le=(e,t)=>void(de(e).textContent=t),ge=e=>(e/100).toFixed(2),xt=e=>e===ce.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Er(e,t){let n=de(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Rn;)n.lastElementChild?.remove()}var Ye=new Map,Mn=0,Nn=0,Ln=()=>{},Wt=[];async function*Tr(){for(;;){let e=Wt.shift();
e?yield e:await new Promise(t=>Ln=t)}}function kr({number:e,amount:t,price:n,left:o}){let r=Ye.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===ce.BUY?
1:-1;Mn+=i*t,Nn-=i*t*n,le("held",String(Mn)),le("cash",ge(Nn));let a=[...Ye.values()].reverse().slice(0,Rn).map(({order:l,done:m,left:c})=>ae("tr",[ae("td",`${xt(
l.side)} ${l.amount}`,xt(l.side)),ae("td",ge(l.price)),ae("td",String(m)),ae("td",String(c))]));de("orders").replaceChildren(...a)}de("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ce.SELL:ce.BUY,o={number:Ye.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ye.set(o.number,{order:o,done:0,left:o.amount}),Wt.push(o),Ln()});var qe=0,Ht=0,He,ke=[];function Un(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));de(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,ae("li",[i,ae("span",ge(o)),ae("span",String(r))])}))}function Cr(e){for(let{number:o,price:r}of[...e].reverse())o>Ht&&ke.push(r);ke.splice(0,ke.length-qt);let[
t]=e;if(!t||t.number===Ht)return;Ht=t.number;let n=t.price-qe;qe&&n&&(le("change",`${n>0?"▲":"▼"} ${ge(Math.abs(n))}`),de("change").dataset.side=n>0?"buy":"\
sell"),qe=t.price,le("last",ge(qe)),de("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>ae("li",[ae("span",o===ce.BUY?"bought":"sold",xt(o)),ae("s\
pan",ge(r)),ae("span",String(i))]))),Xt()}function On({bids:e,asks:t,deals:n,traders:o,orders:r}){Un("asks",t),Un("bids",e),t[0]&&e[0]&&le("spread",`${ge(t[0].price-
e[0].price)} apart`),le("traders",String(o));let i=performance.now();(!He||i-He.at>1e3)&&(He&&le("rate",((r-He.orders)/((i-He.at)/1e3)).toFixed(0)),He={orders:r,
at:i}),Cr(n)}function Xt(){let e=de("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||ke.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=de("state"),l=Math.min(...ke)-2,m=Math.max(...ke)+2,c=n-56,y=S=>S/(qt-1)*c,b=S=>(m-S)/(m-l)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let S=0;S<5;S++){let k=l+(m-l)*S/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,b(k)),t.lineTo(c,b(k)),t.stroke(),t.globalAlpha=1,t.fillText(ge(k),c+8,b(k)+4)}let h=qt-ke.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),ke.
forEach((S,k)=>t.lineTo(y(h+k),b(S))),t.lineWidth=1.5,t.stroke(),t.lineTo(c,o),t.lineTo(y(h),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Xt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Xt);var Ir=Bt(In,{quote:({side:e,amount:t})=>{let n=Math.round(Number(de("margin").value)*100),o=qe&&qe+
(e===ce.BUY?n:-n);return Er("asked",ae("li",`${xt(e)} ${t}? You said ${ge(o)}.`)),{price:o}}}),{hostname:Mr}=location,Dn=Ft(`ws://${Mr}:${document.documentElement.
dataset.port}/`,{serve:Ir,stayConnected:!0}),At=new wt(Dn),Nr=new ze(Dn);de("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await At.inquire({side:ce.BUY,amount:10}),a=(performance.now()-n).toFixed(0);le(
"offer",o?`${ge(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){le("offer",O.from(n).message)}t.disabled=!1});async function Ur(){
for(;;){try{let e=await Nr.subscribe("exchange.book"),t=At.trade(Tr()),n=(async()=>{for await(let r of t)kr(r)})();de("state").dataset.is="open",le("state","con\
nected"),On(await At.look({}));let o=(async()=>{for await(let{payload:r}of e)On(It(Vt,r))})();await Promise.race([n,o])}catch(e){de("state").dataset.is="failed",
le("state",O.from(e).message)}Wt.length=0;for(let e of Ye.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Ur();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await At.look({},{timeout:5e3}),le("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{le("ping","–")}},2e3);
