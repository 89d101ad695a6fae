var Un=new TextEncoder,On=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Xt=40,ke=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
D=e=>{throw new ke(e)},K=e=>({bytes:e,at:0,depth:0,memory:0}),Je=(e=64)=>K(new Uint8Array(e)),Qe=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,pe=e=>Un.encode(
e);function Ze(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function L(e,t){e.at===e.bytes.
length&&Ze(e,1),e.bytes[e.at++]=t}function Gt(e,t){L(e,t>>8),L(e,t)}function P(e,t){for(;t>127;t=Math.floor(t/128))L(e,t|128);L(e,t)}function re(e,t){Ze(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Ce(e,t){P(e,t.length),re(e,t)}function ve(e,t){let{at:n}=e,{length:o}=t,r=o>Xt?128:0;L(e,o);for(let i=0;i<o&&r<128;i++)
L(e,r=t.charCodeAt(i));r>127&&(e.at=n,Ce(e,pe(t)))}function ue(e,t,n){L(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Ce(e,r),r.length>0}var et=({
bytes:e,at:t})=>e.subarray(0,t),j=({bytes:e,at:t})=>e.length-t,Ie=({bytes:e,at:t})=>e[t],Y=e=>e.bytes[e.at++]??D("truncated");function ce(e,t){let n=Y(e);n!==t&&
D(`found byte ${n}, expected ${t}`)}function R(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=Y(e);if(r<128)return n+r*o;n+=(r-128)*o}return D("a number is too\
 long")}function me(e,t=R(e)){return t>j(e)&&D("truncated"),e.bytes.subarray(e.at,e.at+=t)}var Me=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function oe(e,t=R(
e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Xt)for(let a;i<t&&(a=n[o+i])<128;i++)r+=String.fromCharCode(a);if(i<t){let a=me(e,t);try{return On.decode(a)}catch{D("a t\
ext is not UTF-8")}}return e.at+=t,r}var U=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:u=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:u,code:n})}static from(n){return n instanceof e?n:new e(2,De(n),{cause:n})}};var De=e=>e instanceof Error?e.message:String(e),$=(e,t)=>new U(e,t,{mayHaveRun:!1}),tt=e=>{let t=U.from(e);return t.mayHaveRun?t:new U(t.code,t.message,{...t,mayHaveRun:!0})},
nt=e=>e>0&&e<=16?e:2,We=(e,t,n)=>new U(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Pe=e=>We(1,"the caller cancelled the call",e),rt=(e,t="")=>We(4,`deadline exceeded${t}`,
e);var st=100,Nn=64<<20,Rn=12,Et=8,Tt=56,At=new Uint8Array(8),Kt=new DataView(At.buffer);function ye(e,t,n){let o;return{name:e,fields:()=>o??=Ln(t,n?.()??[])}}var kt=(e,t)=>Oe(K(t),e,0);function Be(e,t,n){e.depth=st,Jt(e,t,n)}function Oe(e,t,n){return e.depth=st,e.memory=Math.max(Nn,j(e)*Rn),Qt(e,t,n)??Zt(e,t)}function Ln(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,u,m,p,y]=i,b=y==="m"?Bn(t[o++]):y==="e"?$n(t[o++]):zt[y],h=zt[p[1]??""],S=h?[2,h.wire,b.wire,10]:p==="*"?[1,b.wire,10]:void 0,T=u?n.get(u):void 0;
u&&!T&&n.set(u,T=[]);let X={name:u??a,of:b,isOptional:p==="?",key:h,head:S,case:a,number:+m,all:T};return T?.push(X),X})}var Ge=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Jt(e,t,n){if(!e.depth--)throw Yt(t.name,`nests deeper than ${st}`);L(e,8),L(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,u=n[o=a];if(!i)Dn(e,r,u);else if(e.isFlat||r===i[0]){let m=u,p=i.find(b=>b.case===m?.case);if(m&&!p)throw new Error(`has no member ${m.case}`);e.
isFlat||(L(e,3),P(e,p?p.number:0));let y=e.isFlat?r:p;y&&Xe(e,y.of,y===p?m?.value:void 0)}}}catch(r){throw r instanceof U?r:Yt(`${t.name}.${o}`,r.message)}e.depth++}
function Dn(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=Ge(t)),o){let a=n,u=n,m=r?a.size:u.length;we(m>=0,n);for(let p of o)L(e,p);if(P(
e,m),r)for(let[p,y]of a)Xe(e,r,p),Xe(e,i,y);else for(let p of u)Xe(e,i,p)}else n===void 0&&t.isOptional&&!e.isFlat?L(e,0):Xe(e,i,n)}function Xe(e,t,n){t.table||
L(e,t.wire),t.put(e,n===void 0?t.zero():n)}function Qt(e,t,n){if(Ie(e)===0)return void e.at++;ce(e,8),Y(e),e.depth--||D(`${t.name} nests deeper than ${st}`);let o=t.
fields();Ct(e,Tt+Et*o.length);let r={},i="";for(let a of o){let{name:u,all:m,of:p}=a,y=m&&m[0]===a;if(y&&(r[u]=void 0),n>0&&!j(e))n--,m||(r[u]=Ge(a));else if(!m)
r[u]=Pn(e,a);else if(y&&Ie(e)===3){e.at++,i+=` ${u} `;let b=R(e),h=m.find(S=>S.number===b);h?r[u]={case:h.case,value:xt(e,h.of)}:b&&D(`${t.name}.${u} has no mem\
ber ${b}`)}else if(!i.includes(` ${u} `)){let b=it(e,p);(b instanceof Uint8Array?b.length:!Object.is(b,p.zero()))&&(r[u]={case:a.case,value:b})}}return e.depth++,
r}function Pn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ie(e)===0)return e.at++,Ge(t);if(!n)return it(e,r);for(let u of n)ce(e,u);let i=R(e),a=Ge(t);for(;i-- >
0;)Ct(e,o?Tt:Et),o?a.set(it(e,o),xt(e,r)):a.push(xt(e,r));return a}function it(e,{wire:t,table:n,take:o}){return n||ce(e,t),o(e)}var xt=(e,t)=>it(e,t)??Zt(e,t.table);
function Zt(e,t){let n={},o=t.fields();Ct(e,Tt+Et*o.length);for(let r of o)n[r.name]=r.all?void 0:Ge(r);return n}function Ct(e,t){(e.memory-=t)<0&&D("exceeds th\
e memory limit")}var Se=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Bn=e=>Se(3,()=>{},(t,n)=>n?Jt(t,e,n):L(t,0),t=>Qt(t,e,0),e);function $n(e){let t=Object.
values(e);return Se(10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;we(r>=0||o===(o|0)&&o<0&&i>=t.length,o),P(n,r<0?i:r)},n=>{let o=R(n)>>>0,r=o-2147483648;
return o>=t.length&&(r>=0||t.includes(r))&&D(`an enum has the index ${o}`),t[o]??r})}var ot=(e,t)=>Se(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?
i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(a)&&a>=0)return P(n,a);we((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let u=e?r<<1n^r>>63n:r;for(;u>>53n;u>>=7n)L(n,Number(
u&127n)|128);P(n,Number(u))},n=>{let{at:o}=n,r=R(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.
bytes[o++]&127)<<a;i=BigInt.asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||D("an integer is beyond 2^53"),Number(r)):BigInt(r)}),jt=(e,t)=>Se(
e,()=>0,(n,o)=>{we(typeof o=="number",o),Kt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)L(n,At[r])},n=>{for(let o=0;o<t;o++)At[o]=Y(n);return Kt[t>4?
"getFloat64":"getFloat32"](0)}),zt={b:Se(7,()=>!1,(e,t)=>{we(typeof t=="boolean",t),L(e,+t)},e=>{let t=Y(e);return t>1&&D(`a bool is ${t}`),t>0}),i:Se(12,()=>0,
(e,t)=>{we(t===(t|0),t),P(e,(t<<1^t>>31)>>>0)},e=>{let t=R(e);return t>>>1^-(t&1)}),u:Se(10,()=>0,(e,t)=>{we(t===t>>>0,t),P(e,t)},e=>R(e)>>>0),l:ot(!0,!1),w:ot(
!1,!1),L:ot(!0,!0),W:ot(!1,!0),f:jt(14,4),d:jt(15,8),s:Se(5,()=>"",(e,t)=>{we(typeof t=="string",t),L(e,10),ve(e,t)},e=>(ce(e,10),oe(e))),y:Se(4,()=>new Uint8Array,
(e,t)=>{we(Qe(t),t),L(e,10),Ce(e,t)},e=>(ce(e,10),new Uint8Array(me(e))))},Yt=(e,t)=>$(3,`${e} ${t}`);function we(e,t){if(!e)throw new Error(`cannot be the ${typeof t}\
 ${String(t)}`)}var Mt=16,en=65536,tn=256,_n=61440,Fn={metadata:{}},It=e=>e.endsWith("-bin"),nn=(e,t)=>It(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.test(`${e}
${It(e)?"":t}`);function Ut(e){if(typeof e=="string")return pe(e);if(!Qe(e))throw $(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ke(e,{
isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ue(e,Mt,()=>{t&&ue(e,4,()=>{}),n!==void 0&&ue(e,1,()=>P(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.
MAX_SAFE_INTEGER)));let u=0;if(Object.entries(o).forEach(([m,p],y)=>{if(!nn(m,p))throw $(3,`invalid metadata entry ${m}: keys have a-z 0-9 - _ . and values prin\
table ASCII, or bytes under -bin`);if(u+=m.length+p.length+8,y>=tn||u>_n)throw $(8,"too much metadata");ue(e,2,()=>{ve(e,m),re(e,Ut(p))})}),r){let{code:m,details:p,
mayHaveRun:y}=r;ue(e,3,()=>{P(e,m),e.at-i+p.length+32<=en&&re(e,p)}),y||ue(e,5,()=>{})}})||(e.at=i)}function $e(e){if(Ie(e)!==Mt)return Fn;e.at++;let t=K(me(e));
j(t)>en&&D("a prefix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;j(t);){let i=Y(t),a=K(me(t));if(i===1)o.timeout=R(a,10)/1e3;else if(i===2){
let u=oe(a),m=It(u)?Me(a):oe(a,j(a));(!nn(u,m)||u in n||++r>tn)&&D("invalid metadata"),n[u]=m}else i===3?(o.code=nt(R(a,10)),o.details=Me(a)):i===5&&(o.isRefused=
!0)}return o}function rn(e){let t=1;for(;e[t]>127;)t++;return e[0]===Mt&&e[t+1]===4&&e[t+2]===0}function at(e,{metadata:t,code:n,details:o,isRefused:r}){if(Ie(e)===
6)return e.at++,ce(e,5),ce(e,10),new U(n??2,oe(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function lt(e,t,n){Ke(e,{isBackward:n,status:t,metadata:t.metadata}),
re(e,[6,5,10]),ve(e,t.message)}var dt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function ut(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw $(9,`incompatibl\
e layouts of ${e.name}`);return 1}var ct=({added:e=[0,0]},t,n)=>t*e[n];function Ot(e,t){let n=r=>r.match(/../g)?.forEach(i=>L(e,parseInt(i,16)));ve(e,t.name),n(
t.fingerprint),P(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))P(e,r-o),o=r}function on(e){let t=()=>{let o="";
for(;o.length<16;)o+=Y(e).toString(16).padStart(2,"0");return o},n={service:oe(e),fingerprint:t(),compatible:[],operations:[]};for(let o=R(e);o>0;o--)n.compatible.
push(t());for(let o=0;j(e);)n.operations.push(o+=R(e));return n}var Nt=5<<20,Vn=1024,Hn=65536,_e=10,Ne=16384,qn=Ne/2,ft=256,pt=262144,Wn=1e5,Xn=64<<20,sn=8<<20,Gn=10,Kn=65536,jn=2e3,zn=5,Yn=1e4,an="the server is going away",
Jn=2147483647,Re=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),Jn));function dn(e,t,n,o,r){let i=Je(16384),a=new Map,u=new Map,m=new Map,p=[],y=0,b=0,h=0,S=0,T=0,X=32767,
E=[0,Nt,1/0,Ne,0],O=!1,ee=!1,q,G=_e,le=0,J=!1,_=0,W=!1,H=!1,z=0,F,te=d=>{if(!(O||!be))try{d(be)}catch(c){B(De(c));try{be.close()}catch{}}},Q=()=>{i.at&&(W=!1,H=
!0,te(d=>d.send(et(i))),i.at=_=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),te(d=>{let c=d.buffered();c>Xn?I("too many unsent bytes"):c>sn&&!w.isFull&&
(w.isFull=!0,M())}))},M=()=>te(d=>{if(d.buffered()>sn/2)return void Re(Gn,M);w.isFull=!1,t.room(w)}),s=()=>{i.at!==_?(_=i.at,queueMicrotask(s)):(J=!1,Q())},l=(d,c,v,N)=>{
let{at:xe}=i;try{Ze(i,_e),i.at+=_e,v?.(i,N);let fe=i.at,ge=fe-xe-_e,Ye=Math.max(E[1],Vn);if(ge>Ye)throw $(8,`the message has ${ge} bytes of at most ${Ye}`);i.at=
xe;for(let Mn of[15,d,c,ge>>>16,ge])Gt(i,Mn);i.at=fe}catch(fe){throw i.at=xe,fe}i.at>Kn?Q():J||(J=!0,_=0,queueMicrotask(s))},f=(d,{code:c,message:v})=>l(d,7,N=>{
P(N,c),re(N,pe(v.slice(0,256)))}),g=(d,c)=>{l(d,5,P,0),f(d,c)},k=d=>{if(!O){if(z=0,q){if(re(q,d),q.at<G)return;d=et(q),q=void 0}try{let c=0,v=N=>d[c+N]<<8|d[c+N+
1];for(;!O&&!(d.length<(G=c+_e));c=G){v(0)!==15&&D("a header without its magic");let N=v(6)*65536+v(8);if(N>Nt&&D(`a packet of ${N} bytes`),d.length<(G+=N))break;
C(v(2),v(4),d.subarray(c+_e,G))}c<d.length&&(G-=c,re(q=Je(),d.subarray(c)))}catch(c){I(`the server broke the protocol: ${c.message}`)}}},C=(d,c,v)=>{let N=K(v),
xe=a.get(d);if(c>=10){w.isUp||D("a packet before HELLO");let fe=rn(v),ge=p[d%Ne];if(!fe&&ge?.id===d&&ge.operation===c)return ne(d),t.answered(),ge.isGivenUp?b--:
t.replied(ge,v),x();if(r.filter(Ye=>Ye.packet(w,d,c,v)).length)return;if(fe&&V)return V.packet(d,c,v,!1)}else if(c<2){v.length&&D("a PING with a body"),c===1?w.
isUp||I("the server is a compat peer"):W||(W=!0,l(0,1));return}else{if(c===3&&!w.isUp)return Z(N);if(c===4)return A();if(c===6)return V?.cancel(d,R(N));if(c===8)
D("a stray hand-off");else{if(xe&&c!==3&&c<8)return t.answered(),xe.packet(c,v);if(c===2){let fe=d-X&32767;if(d>=32768&&fe&&fe<=16384)return X=d,V?V.packet(d,2,
v,!0):g(d,$(12,"no service is served"))}}}++le>Wn&&I("too many stray packets")},Z=d=>{for((j(d)>Hn||oe(d,4)!=="fris"||!Y(d))&&D("no HELLO");j(d);){let c=Y(d),v=K(
me(d));if(c in E)E[c]=R(v,10);else if(c===32||c===33)try{let N=on(v);(c===32?u:m).set(N.service,N)}catch{}}E[3]=Math.min(E[3],Ne),w.isUp=!0,clearTimeout(Te),t.room(
w)},ne=d=>{p[d%Ne]=void 0,y--===E[3]&&t.room(w)},Ae=(d,c,v)=>{a.set(c,d),d.begin(w,c,E[4],v)},x=()=>{ee&&y===b&&!a.size&&!V?.progress.size&&queueMicrotask(()=>I(
an))},A=()=>{ee||(ee=!0,t.closing(w,an),x())},I=d=>{O||(Q(),te(c=>c.close()),B(d))},B=d=>{if(O)return;O=!0,clearInterval(F),clearTimeout(Te),t.closing(w,d),w.isUp=
!1;let c=new U(14,`the connection was lost: ${d}`);for(let v of p)v&&!v.isGivenUp&&t.lost(v,c);for(let v of a.values())v.lost(c);V?.down(c);for(let v of r)v.down(
w,c)},w={isUp:!1,isFull:!1,write:l,reset:f,refuse:g,fits(d){let c=u.get(d.name);if(c)return c.fingerprint===d.fingerprint||n.includes(d)?ut(d,c):void 0;for(let v of u.
values())if(v.operations.some(N=>d.operations.includes(N)))throw $(12,`the server has ${v.service} instead of ${d.name}`);return 0},call(d,c){if(w.isFull||y>=E[3])
return!1;do h=h+1&65535;while(p[h%Ne]);let v=d.id=h;p[v%Ne]=d,y++;try{l(v,d.operation,c,d)}catch(N){throw ne(v),N}return!0},cancel(d){O||(d.isGivenUp=!0,l(d.id,
6,P,d.operation),++b>=qn&&A(),x())},open(d,c,v){if(!E[2])throw $(12,"the server does not accept streams");if(w.isFull||S>=Math.min(E[2],28672))return!1;do T=T%32767+
1;while(a.has(T));let N=T;a.set(N,d),S++;try{l(N,2,v)}catch(xe){throw w.over(N),xe}return d.begin(w,N,E[4],c),!0},accept:Ae,over(d){a.delete(d),d<32768&&(S--,t.
room(w)),x()},drain:A,closeIfIdle:x},V=o?.on(w,m),Te=Re(Yn,()=>I("handshake timeout")),qe=()=>{i.isFlat=be?.isFlat,l(0,3,d=>{re(d,pe("fris"));let c=V?ft:0;[Nt,
c,c,pt].forEach((v,N)=>ue(d,N+1,()=>P(d,v)));for(let v of o?.services??[])ue(d,32,()=>Ot(d,v));for(let v of n)ue(d,33,()=>Ot(d,v))}),l(1,0),Q(),!O&&(F=setInterval(
()=>{if(++z>zn)return I("keepalive timeout");(z>1||!H)&&l(0,0),H=!1;let d=performance.now();for(let c of p)c&&c.until<=d&&!c.isGivenUp&&t.expired(c)},jn))},be,qt=d=>be?
d():queueMicrotask(d),Wt=d=>qt(()=>B(d));try{be=e({open:()=>qt(qe),data:k,close:Wt})}catch(d){Wt(De(d))}return w}function mt(e,t){let n=[],o=0,r=!1,i=()=>{},a=h=>{r||=h,i()},u=()=>n[o],m=()=>{let h=u();return h!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),h},p=()=>{n=[],o=0},y=(async function*(){try{for(;;){let h=m();if(h!==void 0){let S=e(h);S!==void 0&&(yield S)}else if(r){if(r!==!0)throw r;return}else await new Promise(
S=>i=S)}}finally{t()}})(),{return:b}=y;return y.return=()=>(t(),p(),a(!0),b.call(y,void 0)),{messages:y,first:u,take:m,clear:p,put:h=>{n.push(h),i()},end:a}}var Rt=64,Qn=4,Zn=4096,Lt=(e,t)=>e instanceof ke?new U(13,`not a valid ${t.name}: ${e.message}`):U.from(e);function yt(e,t,n,o,r){let i,a=0,u=0,m=0,p=0,y=0,b=!0,
h=!0,S=!1,T=!1,X=()=>{},E,O=()=>!b&&!h,{messages:ee,clear:q,put:G,end:le}=mt(M=>{let s=M.length+Rt;p-=s,y+=s,h&&y*Qn>=pt&&(i?.write(a,5,P,y),y=0);try{let l=K(M),
f=$e(l);if(l.at&&(r?.(J.metadata=f.metadata),!j(l)))return;let g=at(l,f);if(g)throw g;return Oe(l,t,u)}catch(l){throw Lt(l,t)}},()=>n?z(!0):te()),J=Object.assign(
ee,{metadata:{}}),_=()=>{O()&&(X(),E?.(),i?.over(a),i=E=void 0,o())},W=()=>{b&&(b=!1,i?.write(a,7),_())},H=M=>{b=h=!1,le(M),_()},z=(M,s=Pe(!0))=>{O()||i?.reset(
a,s),q(),H(M)},F=M=>z(M,M),te=()=>{q(),S=!0},Q=M=>{if(!i||!b)return;let s=M instanceof U;i.write(a,2,l=>{let{at:f}=l;s?lt(l,M,!1):Be(l,e,M),m-=l.at-f+Rt}),s&&W()};
return{messages:J,begin(M,s,l,f){i=M,a=s,m=l,u=f},packet(M,s){if(M===2)return!h||S?void 0:p+y>=pt?F(new U(8,"the peer exceeded its credit")):(p+=s.length+Rt,G(new Uint8Array(
s)));let l=K(s);if(M===5){let f=R(l,10);T||=!f,(m+=f)>0&&X()}else if(s.length){let f=nt(R(l));H(new U(f,new TextDecoder().decode(Me(l).subarray(0,Zn)),{mayHaveRun:!T}))}else
h=!1,le(!0),_()},send:Q,async pump(M,s){try{let l=M,f=l?.[Symbol.asyncIterator]?.()??l?.[Symbol.iterator]?.();if(!f)throw $(3,`messages of a stream are an itera\
ble, not ${String(M)}`);for(E=async()=>{try{await f.return?.()}catch{}};;){for(;m<=0&&!O();)await new Promise(C=>X=C);if(O())return;let{done:g,value:k}=await f.
next();if(O())return;if(g)break;Q(k)}E=void 0,W()}catch(l){if(!n)throw E?.(),E=void 0,l;z(s?tt(l):U.from(l))}},finish:W,discard:te,fail:F,lost:H}}var er=3e4,tr=5e3,nr=20,un=2e3,cn=10,ht=class{constructor(t,{timeout:n,patience:o=tr,metadata:r,serve:i,stayConnected:a}={}){let u,m=0,p=cn,y=0,b,h=!1,S="",T=[new Set,
new Set],X=({method:{sends:s,receives:l}})=>T[s||l?1:0],E=new Set,O=[],ee=()=>{u||b||h||!(T[0].size||T[1].size||a)||(y=performance.now(),u=dn(t,q,[...E],i,O))},
q={room:s=>queueMicrotask(()=>{for(let l of T)for(let f of l){if(u!==s||!G(f,s))break;u===s&&l.delete(f)}}),closing(s,l){if(u===s){if(u=void 0,S=l,s.isUp)for(let f of T)
f.forEach(J);s.isUp&&performance.now()-y>=un?m=0:h||(clearTimeout(b),b=Re(Math.random()*Math.min(nr*2**Math.min(m++,16),un),()=>{b=void 0,ee()})),ee()}},answered:()=>void(m=
0),replied(s,l){let f=s,{method:{reply:g},options:{onMetadata:k}}=f;W(f);try{let C=K(l),Z=$e(C),ne=at(C,Z);if(ne)throw ne;C.at&&k?.(Z.metadata),f.resolve(Oe(C,g,
f.missing)),p<cn&&(p+=.1)}catch(C){f.reject(Lt(C,g))}},expired:s=>_(s),lost(s,l){let f=s;if(f.link=void 0,!f.method.idempotent||p<1)return H(f,l);p--,le(f)}},G=(s,l)=>{
let{service:f,method:g}=s;try{let k=f?l.fits(f):0;return k!==void 0?(s.missing=ct(g,k,1),s.start(s,l)&&(s.isSent=!0)):(E.add(f),m=0,l.drain(),!1)}catch(k){return H(
s,U.from(k)),!0}},le=s=>{if(!(u?.isUp&&G(s,u))){if(h)return H(s,fn(s.isSent));X(s).add(s),ee(),J(s)}},J=s=>{s.patientUntil=performance.now()+(s.options.patience??
o),_(s)},_=s=>{let{until:l,isSent:f,patientUntil:g}=s,k=performance.now(),C=X(s).has(s)&&!u?.isUp&&`no connection to the server${S&&`: ${S}`}`;clearTimeout(s.timer),
k>=l?H(s,rt(f,C?`; ${C}`:"")):k>=g&&C?H(s,We(14,C,f)):s.timer=Re((k<g?Math.min(l,g):l)-k,()=>_(s))},W=s=>{X(s).delete(s),clearTimeout(s.timer),s.options.signal?.
removeEventListener("abort",s.abort)},H=(s,l)=>{W(s),s.link?.cancel(s),s.reject(l)},z=(s,{sentTimeout:l,until:f,options:{metadata:g}})=>{(l!==void 0||r||g)&&Ke(
s,{timeout:l&&f-performance.now(),metadata:{...r,...g}})},F=(s,l)=>{z(s,l),Be(s,l.method.request,l.request)},te=(s,l)=>{let f=l.call(s,F);return f&&(s.link=l),f},
Q=(s,l,f,g,k,C,Z,ne,Ae=1/0)=>{let{signal:x}=g,A={id:0,operation:l.operation,until:performance.now()+ +(k??Ae),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,
timer:void 0,link:void 0,service:s,method:l,request:f,options:g,sentTimeout:k,start:C,resolve:Z,reject:ne,abort:x&&(()=>H(A,Pe(A.isSent)))};return Number.isNaN(
A.until)?ne($(3,"the timeout is not a number; it is in milliseconds")):x?.aborted?A.abort?.():(x?.addEventListener("abort",A.abort),k!==void 0&&_(A),(k===void 0||
k>0)&&le(A)),A},M=(s,l,f,g={})=>{let k,C=yt(l.request,l.reply,!0,()=>k&&W(k),g.onMetadata);return k=Q(s,l,f,g,g.timeout,(Z,ne)=>{let Ae=ne.open(C,Z.missing,x=>{
z(x,Z),L(x,9),P(x,Z.operation)});return Ae&&C.pump(f,l.sends),Ae},()=>{},C.fail),C};this.unary=(s,l,f,g={})=>new Promise((k,C)=>void Q(s,l,f,g,g.timeout??n,te,k,
C,er)),this.serverStreaming=(s,l,f,g)=>M(s,l,[f],g).messages,this.twoWay=(s,l,f,g)=>M(s,l,f,g).messages,this.clientStreaming=async(s,l,f,g)=>{let{messages:k}=M(
s,l,f,g),{done:C,value:Z}=await k.next();if(C)throw new U(13,"there is no reply");return k.return?.(),Z},this.name=s=>void E.add(s),this.mount=s=>void O.push(s),
this.connected=(s,l)=>new Promise((f,g)=>{Q(void 0,{},void 0,{patience:l},void 0,(k,C)=>C.isFull?!1:(s?.(C),W(k),f(C),!0),f,g)}),this.close=()=>{h=!0,clearTimeout(
b);for(let s of T)for(let l of s)H(l,fn(l.isSent));u?.drain()},a&&queueMicrotask(ee)}},fn=e=>We(9,"the channel is closed",e);function Dt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,u)=>t[r]?.(a,u)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,u=0,m=(p,y)=>{let b=o.get(p);if(!b||!(b.method.sends||b.method.receives)===y)throw $(12,`unknown\
 operation ${p}`);if(a.size>=ft||u>=ft)throw $(8,"too many calls are in progress");let{service:h,method:S}=b,T=i.get(h.name);return{...b,left:ct(S,T?ut(h,T):0,0)}};
return{progress:a,packet(p,y,b,h){let S,T=E=>r.write(p,y,O=>{E instanceof U?lt(O,E,!0):(Ke(O,{isBackward:!0}),Be(O,S.reply,E))}),X=h?p:pn(p,y);a.has(X)&&D("a re\
quest with the id of another");try{let E=K(b),{timeout:O,metadata:ee}=$e(E);h&&(ce(E,9),y=R(E,3));let q=m(y,h);({method:S}=q);let G=h||Oe(E,S.request,q.left),le=new AbortController,
J=!1,_=F=>{J||(J=!0,clearTimeout(z),F||le.abort(),a.delete(X),r.closeIfIdle())},W=h?yt(S.reply,S.request,!1,()=>_(!1)):{send(F){J||(T(F),_(!0))},fail:T,finish(){},
discard(){}},H=F=>{W.fail(F),_(!1)},z=O===void 0?void 0:Re(O,()=>H(rt(!0)));a.set(X,H),h&&r.accept(W,p,q.left),u++,rr(q,h,G,W,{signal:le.signal,metadata:ee}).finally(
()=>u--)}catch(E){let O=E instanceof ke?$(3,`malformed request: ${E.message}`):U.from(E);h?r.refuse(p,O):T(O)}},cancel(p,y){a.get(pn(p,y))?.(Pe(!0))},down(p){for(let y of a.
values())y(p)}}}}}var pn=(e,t)=>t*65536+e;async function rr({method:e,handler:t},n,o,r,i){let a=!1;try{if(e.sends)o=r.messages;else if(n){let m=await r.messages.
next();if(m.done)throw $(3,"no request");o=m.value}a=!0;let u=t(o,i);e.receives?await r.pump?.(u):(r.send(await u),r.finish())}catch(u){try{r.send(a?tt(u):U.from(
u))}catch(m){r.send(new U(13,De(m)))}}r.discard()}var Fe=65280,or=16<<20,Pt=64,ir=255,sr=65536,ar=4,bt={now:0,last:1,oldest:2},mn=e=>$([8,12,7][Y(e)-3]??3,oe(e,j(e))),yn=e=>{let t=R(e);return t>ir&&D("a topic i\
s too long"),oe(e,t)},hn=new WeakMap,je=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this,o=hn.get(t);if(o)return o;hn.
set(t,this),t.mount({packet:(r,i,a,u)=>{if(a<Fe)return!1;!i&&a===Fe+5&&(this.refused??=mn(K(u)));for(let m of i?[n.get(i)]:n.values())m?.packet(r,i,a-Fe,K(u));return!0},
down(r,i){for(let a of[...n.values()])a.down(r,i)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(
o=>o.write(0,Fe+2,r=>{Ce(r,pe(t)),re(r,Ut(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){
let{channel:i,requests:a}=this;do this.last=this.last%65535+1;while(a.has(this.last));let u=this.last;return new Promise((m,p)=>{let y,b=0,h=0,S=!1,{first:T,messages:X,
put:E,end:O,take:ee}=mt(x=>(b-=x.payload.length+Pt,x),()=>{a.delete(u)&&n!==void 0&&y?.isUp&&y.write(u,Fe+1)}),q=x=>{a.delete(u),p(x),O(x)},G=o?[]:n?.split(".")??
[],le=G[G.length-1]===">",J=x=>{let A=x.split(".");return(le?A.length>=G.length:A.length===G.length)&&G.every((I,B)=>I===">"||I==="*"||I===A[B])},_=t===0&&!o&&r!==
void 0,W=typeof r=="object";if(W&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0))throw $(3,`${r.epoch}, ${r.offset} is not a position`);let H=W||r===void 0?bt.oldest:
bt[r],z=new Map(W?[[n,{...r,offset:r.offset+1}]]:[]),F=new Map,te=0,Q="",M=!1,s=!1,l=!1,f=!1,g=!1,k=x=>{y?.write(u,Fe+x,A=>{if(n!==void 0&&Ce(A,pe(n)),x===6){L(
A,H);for(let[I,B]of z){ve(A,I);for(let w=0;w<16;w+=2)L(A,parseInt(B.epoch.slice(w,w+2),16));P(A,B.offset)}}else re(A,pe(o))})},C=x=>{i.connected(A=>{a.has(u)&&(y=
A,k(_?6:t))},x).catch(A=>{s&&A.code===9&&O(!0),q(A)})},Z=()=>{g=!0,s&&(l||!(_&&f))&&(S=!0),m(X)},ne=x=>Array.from(me(x,8),A=>A.toString(16).padStart(2,"0")).join(
""),Ae=(x,A,I)=>{if(A===5&&x&&!g&&_&&I.bytes[I.at]===ar)l=!0,k(0);else if(A===6&&x&&I.bytes[I.at]===0){Y(I),f=Y(I)===1;let B=ne(I);te=R(I,10);let w=Q!==""&&Q!==
B,V=!n?.match(/[*>]/)&&z.size>0;Q=B,Z(),l=!1,S||=V?!te:w}else if(A===7)for(;j(I);){let B=yn(I),w={epoch:ne(I),offset:R(I,10)};if(Number.isSafeInteger(w.offset)||
D("an integer is beyond 2^53"),!g||!x&&!J(B))continue;let V=F.get(B);x&&!V?(te--,V=z.get(B)??(M?{...w,offset:1}:void 0)):!x&&V?.epoch!==w.epoch&&(V=void 0),V&&f&&
(V.epoch===w.epoch&&V.offset<=w.offset?h+=w.offset-V.offset:S=!0),F.size>=sr&&(F.clear(),l=!0),F.set(B,w)}else return!1;return!0};a.set(u,{packet(x,A,I,B){if(!(x!==
y||_&&Ae(A,I,B)))if(I===2){let w=yn(B);if(!A&&(!g||!J(w)))return;let V=Me(B),Te=F.get(w);for(Te&&F.set(w,{...Te,offset:Te.offset+1}),b+=V.length+Pt,E({topic:w,payload:V,
position:Te,lagged:h,reconnected:S}),h=0,S=!1;b>or;){let qe=ee();b-=qe.payload.length+Pt;let be=T();be.lagged+=qe.lagged+1,be.reconnected||=qe.reconnected}}else
I===4?_&&f&&g||(h+=R(B,10)):A&&(j(B)?q(mn(B)):Z())},down(x,A){if(x===y){if(n===void 0||!g&&!s)return q(A);if(g)if(te>0)for(let[I,B]of F)z.set(I,B);else z=l?new Map:
F,H=l?bt.now:bt.oldest,M=!l;F=new Map,g=!1,s=!0,C(1/0)}}}),C()})}};var gt="frisbee.1";function bn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[gt,...t]);r.binaryType="arraybuffer";let i="";return r.onopen=()=>{if(r.protocol===gt)return o.
open();i=`the server does not speak ${gt}`,r.close()},r.onmessage=({data:a})=>{a instanceof ArrayBuffer?o.data(new Uint8Array(a)):r.close()},r.onerror=({message:a=""})=>void(i||=
a),r.onclose=({code:a,reason:u})=>{o.close(i||`the WebSocket was closed (${a}${u&&`, ${u}`})`)},{send:a=>r.send(a),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Bt=(e,t={})=>new ht(bn(e,t),t);var de={BUY:0,SELL:1},$t=ye("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[gn,gn,dr]),dr=ye("exchange.Deal","number:u side:e price:u amount:\
u",()=>[de]),vn=ye("exchange.Inquiry","side:e amount:u",()=>[de]),gn=ye("exchange.Level","price:u amount:u"),ur=ye("exchange.Nothing",""),Sn=ye("exchange.Offer",
"price:u called:u answered:u"),cr=ye("exchange.Order","number:u side:e price:u amount:u",()=>[de]),fr=ye("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[de]),Le=dt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:ur,reply:$t},trade:{operation:11,request:cr,reply:fr,sends:!0,receives:!0},
inquire:{operation:12,request:vn,reply:Sn}}),vt=class{constructor(t){this.channel=t,t.name(Le)}look(t,n){return this.channel.unary(Le,Le.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Le,Le.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Le,Le.methods.inquire,t,n)}},wn=dt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:vn,reply:Sn}});var Ft=240,kn=8,ae=e=>document.getElementById(e),se=(e,t)=>void(ae(e).textContent=t),he=e=>(e/100).toFixed(2),St=e=>e===de.BUY?"buy":"sell";function ie(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function pr(e,t){let n=ae(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>kn;)n.lastElementChild?.remove()}var ze=new Map,An=0,xn=0,Cn=()=>{},Vt=[];async function*mr(){for(;;){let e=Vt.shift();
e?yield e:await new Promise(t=>Cn=t)}}function yr({number:e,amount:t,price:n,left:o}){let r=ze.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===de.BUY?
1:-1;An+=i*t,xn-=i*t*n,se("held",String(An)),se("cash",he(xn));let a=[...ze.values()].reverse().slice(0,kn).map(({order:u,done:m,left:p})=>ie("tr",[ie("td",`${St(
u.side)} ${u.amount}`,St(u.side)),ie("td",he(u.price)),ie("td",String(m)),ie("td",String(p))]));ae("orders").replaceChildren(...a)}ae("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?de.SELL:de.BUY,o={number:ze.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};ze.set(o.number,{order:o,done:0,left:o.amount}),Vt.push(o),Cn()});var He=0,_t=0,Ve,Ee=[];function En(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));ae(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,ie("li",[i,ie("span",he(o)),ie("span",String(r))])}))}function hr(e){for(let{number:o,price:r}of[...e].reverse())o>_t&&Ee.push(r);Ee.splice(0,Ee.length-Ft);let[
t]=e;if(!t||t.number===_t)return;_t=t.number;let n=t.price-He;He&&n&&(se("change",`${n>0?"▲":"▼"} ${he(Math.abs(n))}`),ae("change").dataset.side=n>0?"buy":"\
sell"),He=t.price,se("last",he(He)),ae("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>ie("li",[ie("span",o===de.BUY?"bought":"sold",St(o)),ie("s\
pan",he(r)),ie("span",String(i))]))),Ht()}function Tn({bids:e,asks:t,deals:n,traders:o,orders:r}){En("asks",t),En("bids",e),t[0]&&e[0]&&se("spread",`${he(t[0].price-
e[0].price)} apart`),se("traders",String(o));let i=performance.now();(!Ve||i-Ve.at>1e3)&&(Ve&&se("rate",((r-Ve.orders)/((i-Ve.at)/1e3)).toFixed(0)),Ve={orders:r,
at:i}),hr(n)}function Ht(){let e=ae("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Ee.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=ae("state"),u=Math.min(...Ee)-2,m=Math.max(...Ee)+2,p=n-56,y=S=>S/(Ft-1)*p,b=S=>(m-S)/(m-u)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let S=0;S<5;S++){let T=u+(m-u)*S/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,b(T)),t.lineTo(p,b(T)),t.stroke(),t.globalAlpha=1,t.fillText(he(T),p+8,b(T)+4)}let h=Ft-Ee.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),Ee.
forEach((S,T)=>t.lineTo(y(h+T),b(S))),t.lineWidth=1.5,t.stroke(),t.lineTo(p,o),t.lineTo(y(h),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Ht);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Ht);var br=Dt(wn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(ae("margin").value)*100),o=He&&He+
(e===de.BUY?n:-n);return pr("asked",ie("li",`${St(e)} ${t}? You said ${he(o)}.`)),{price:o}}}),{hostname:gr}=location,In=Bt(`ws://${gr}:${document.documentElement.
dataset.port}/`,{serve:br,stayConnected:!0}),wt=new vt(In),vr=new je(In);ae("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await wt.inquire({side:de.BUY,amount:10}),a=(performance.now()-n).toFixed(0);se(
"offer",o?`${he(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){se("offer",U.from(n).message)}t.disabled=!1});async function Sr(){
for(;;){try{let e=await vr.subscribe("exchange.book"),t=wt.trade(mr()),n=(async()=>{for await(let r of t)yr(r)})();ae("state").dataset.is="open",se("state","con\
nected"),Tn(await wt.look({}));let o=(async()=>{for await(let{payload:r}of e)Tn(kt($t,r))})();await Promise.race([n,o])}catch(e){ae("state").dataset.is="failed",
se("state",U.from(e).message)}Vt.length=0;for(let e of ze.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Sr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await wt.look({},{timeout:5e3}),se("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{se("ping","–")}},2e3);
