var qn=new TextEncoder,Xn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Qt=40,ve=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
T=e=>{throw new ve(e)},X=e=>({bytes:e,at:0,depth:0,memory:0}),Ze=(e=64)=>X(new Uint8Array(e)),et=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,fe=e=>qn.encode(
e);function tt(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function U(e,t){e.at===e.bytes.
length&&tt(e,1),e.bytes[e.at++]=t}function zt(e,t){U(e,t>>8),U(e,t)}function $(e,t){for(;t>127;t=Math.floor(t/128))U(e,t|128);U(e,t)}function re(e,t){tt(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Ie(e,t){$(e,t.length),re(e,t)}function Ae(e,t){let{at:n}=e,{length:o}=t,r=o>Qt?128:0;U(e,o);for(let s=0;s<o&&r<128;s++)
U(e,r=t.charCodeAt(s));r>127&&(e.at=n,Ie(e,fe(t)))}function pe(e,t,n){U(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Ie(e,r),r.length>0}var nt=({
bytes:e,at:t})=>e.subarray(0,t),K=({bytes:e,at:t})=>e.length-t,ke=({bytes:e,at:t})=>e[t],Q=e=>e.bytes[e.at++]??T("truncated");function me(e,t){let n=Q(e);n!==t&&
T(`found byte ${n}, expected ${t}`)}function D(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=Q(e);if(r<128)return n+r*o;n+=(r-128)*o}return T("a number is too\
 long")}function Ge(e){let{at:t}=e,n=D(e,10);return(K(e)||e.bytes[t+9]>1)&&T("malformed number"),n}function ye(e,t=D(e)){return t>K(e)&&T("truncated"),e.bytes.subarray(
e.at,e.at+=t)}var $e=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function ie(e,t=D(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Qt)for(let i;s<t&&(i=n[o+s])<128;s++)
r+=String.fromCharCode(i);if(s<t){let i=ye(e,t);try{return Xn.decode(i)}catch{T("a text is not UTF-8")}}return e.at+=t,r}var N=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:i={},mayHaveRun:l=!0}=r??{};Object.assign(this,
{details:s,metadata:i,mayHaveRun:l,code:n})}static from(n){return n instanceof e?n:new e(2,Be(n),{cause:n})}};var Be=e=>e instanceof Error?e.message:String(e),P=(e,t)=>new N(e,t,{mayHaveRun:!1}),rt=e=>{let t=N.from(e);return t.mayHaveRun?t:new N(t.code,t.message,{...t,mayHaveRun:!0})},
ot=e=>e>0&&e<=16?e:2,Ke=(e,t,n)=>new N(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Pe=e=>Ke(1,"the caller cancelled the call",e),st=(e,t="")=>Ke(4,`deadline exceeded${t}`,
e);var lt=100,Wn=64<<20,Gn=12,It=8,Mt=56,kt=new Uint8Array(8),Yt=new DataView(kt.buffer);function he(e,t,n){let o;return{name:e,fields:()=>o??=Kn(t,n?.()??[])}}function Nt(e,t){let n=o=>o.toString(16).padStart(2,"0");return t[0]===18&&T(`message ${e.name} with the layout ${[...t.subarray(1,17)].map(n).join("")} cannot \
be compared`),Me(X(t),e)}function Ve(e,t,n){e.depth=lt,en(e,t,n)}function Me(e,t){return e.depth=lt,e.memory=Math.max(Wn,K(e)*Gn),tn(e,t)??nn(e,t)}function Kn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!s)throw new Error(`invalid table entry:\
 ${r}`);let[,i,l,p,m,b]=s,g=b==="m"?zn(t[o++]):b==="e"?Jn(t[o++]):dt[b],v=dt[m[1]??""],x=v?[2,v.wire,g.wire,10]:m==="*"?[1,g.wire,10]:void 0,I=l?n.get(l):void 0;
l&&!I&&n.set(l,I=[]);let R={name:l??i,of:g,isOptional:m==="?",key:v,head:x,case:i,number:+p,all:I};return I?.push(R),R})}var at=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function en(e,t,n){if(!e.depth--)throw Zt(t.name,`nests deeper than ${lt}`);U(e,8),U(e,0);let o="";try{for(let r of t.fields()){let{
all:s,name:i}=r,l=n[o=i];if(!s)jn(e,r,l);else if(e.isFlat||r===s[0]){let p=l,m=s.find(g=>g.case===p?.case);if(p&&!m)throw new Error(`has no member ${p.case}`);e.
isFlat||(U(e,3),$(e,m?m.number:0));let b=e.isFlat?r:m;b&&_e(e,b.of,b===m?p?.value:void 0)}}}catch(r){throw r instanceof N?r:Zt(`${t.name}.${o}`,r.message)}e.depth++}
function jn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=at(t)),o){let i=n,l=n,p=r?i.size:l.length;xe(p>=0,n);for(let m of o)U(e,m);if($(
e,p),r)for(let[m,b]of i)_e(e,r,m),_e(e,s,b);else for(let m of l)_e(e,s,m)}else n===void 0&&t.isOptional&&!e.isFlat?U(e,0):_e(e,s,n)}function _e(e,t,n){t.table||
U(e,t.wire),t.put(e,n===void 0?t.zero():n)}function tn(e,t){if(ke(e)===0)return void e.at++;me(e,8),Q(e),e.depth--||T(`${t.name} nests deeper than ${lt}`);let n=t.
fields();Ot(e,Mt+It*n.length);let o={},r="";for(let s of n){let{name:i,all:l,of:p}=s,m=l&&l[0]===s;if(m&&(o[i]=void 0),!l)o[i]=Qn(e,s);else if(m&&ke(e)===3){e.at++,
r+=` ${i} `;let b=D(e),g=l.find(v=>v.number===b);g?o[i]={case:g.case,value:Ct(e,g.of)}:b&&T(`${t.name}.${i} has no member ${b}`)}else if(!r.includes(` ${i} `)){
let b=je(e,p);(b instanceof Uint8Array?b.length:!Object.is(b,p.zero()))&&(o[i]={case:s.case,value:b})}}return e.depth++,o}function Qn(e,t){let{head:n,key:o,of:r}=t;
if((o||t.isOptional)&&ke(e)===0)return e.at++,at(t);if(!n)return je(e,r);for(let l of n)me(e,l);let s=D(e),i=at(t);for(;s-- >0;)Ot(e,o?Mt:It),o?i.set(je(e,o),Ct(
e,r)):i.push(Ct(e,r));return i}function je(e,{wire:t,table:n,take:o,isEnum:r}){return r&&ke(e)===12?je(e,dt.i):(n||me(e,t),o(e))}var Ct=(e,t)=>je(e,t)??nn(e,t.table);
function nn(e,t){let n={},o=t.fields();Ot(e,Mt+It*o.length);for(let r of o)n[r.name]=r.all?void 0:at(r);return n}function Ot(e,t){(e.memory-=t)<0&&T("exceeds th\
e memory limit")}var Se=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),zn=e=>Se(3,()=>{},(t,n)=>n?en(t,e,n):U(t,0),t=>tn(t,e),e),Yn=65536;function Jn(e){let t=Object.
values(e);return{...Se(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),i=r+2147483648,l=r<0&&i>=t.length;xe(s>=0||r===(r|0)&&(l||!o.isFlat),r),s>=0||l&&(o.isFlat||i<Yn)?
$(o,s<0?i:s):(o.at--,_e(o,dt.i,r))},o=>{let r=D(o)>>>0,s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&T(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}
var it=(e,t)=>Se(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),i=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(i)&&i>=0)return $(n,i);xe((e?BigInt.asIntN:
BigInt.asUintN)(64,r)===r,o);let l=e?r<<1n^r>>63n:r;for(;l>>53n;l>>=7n)U(n,Number(l&127n)|128);$(n,Number(l))},n=>{let{at:o}=n,r=D(n,10);if(r<=Number.MAX_SAFE_INTEGER)
e&&(r=r%2?(r+1)/-2:r/2);else{let s=0n;for(let i=0n;o<n.at;i+=7n)s|=BigInt(n.bytes[o++]&127)<<i;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(
Number(r))||T("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Jt=(e,t)=>Se(e,()=>0,(n,o)=>{xe(typeof o=="number",o),Yt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)U(n,kt[r])},n=>{for(let o=0;o<t;o++)kt[o]=Q(n);return Yt[t>4?"getFloat64":"getFloat32"](0)}),dt={b:Se(7,()=>!1,(e,t)=>{xe(typeof t=="boolean",t),U(e,+t)},
e=>{let t=Q(e);return t>1&&T(`a bool is ${t}`),t>0}),i:Se(12,()=>0,(e,t)=>{xe(t===(t|0),t),$(e,(t<<1^t>>31)>>>0)},e=>{let t=D(e);return t>>>1^-(t&1)}),u:Se(10,()=>0,
(e,t)=>{xe(t===t>>>0,t),$(e,t)},e=>D(e)>>>0),l:it(!0,!1),w:it(!1,!1),L:it(!0,!0),W:it(!1,!0),f:Jt(14,4),d:Jt(15,8),s:Se(5,()=>"",(e,t)=>{xe(typeof t=="string",t),
U(e,10),Ae(e,t)},e=>(me(e,10),ie(e))),y:Se(4,()=>new Uint8Array,(e,t)=>{xe(et(t),t),U(e,10),Ie(e,t)},e=>(me(e,10),new Uint8Array(ye(e))))},Zt=(e,t)=>P(3,`${e} ${t}`);
function xe(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var ut=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)}),rn=(e,t)=>t.match(/../g)?.forEach(
n=>U(e,parseInt(n,16)));function ct(e,t){Ae(e,t.name),rn(e,t.fingerprint);let n=0;for(let o of t.operations)$(e,o-n),n=o}function Ut(e){let t="";for(;t.length<32;)
t+=Q(e).toString(16).padStart(2,"0");return t}function on(e,t,n=""){for(let o of atob(n))U(e,o.charCodeAt(0));n||(U(e,0),rn(e,t))}function sn(e){let t=ie(e),n=[],
o={fingerprint:Ut(e),operations:n};for(let r=0;K(e);)n.push(r+=D(e));return[t,o]}var an=16,dn=65536,Zn=1e3,ln=256,er=61440,Lt={metadata:{}},un=e=>[e].flat(),Rt=e=>e.endsWith("-bin"),cn=(e,t)=>Rt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Rt(e)?"":t}`);function Dt(e){if(typeof e=="string")return fe(e);if(!et(e))throw P(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function $t(e,t){
let{at:n}=e;pe(e,an,()=>fn(e,t))||(e.at=n)}function fn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&pe(e,1,()=>$(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,i=0;for(let[l,p]of Object.entries(n))for(let m of un(p)){if(!cn(l,m))throw P(3,`invalid metadata entry ${l}: keys hav\
e a-z 0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=l.length+m.length+8,++i>ln||s>er)throw P(8,"too much metadata");pe(e,2,()=>{Ae(e,l),re(e,
Dt(m))})}if(o){let{code:l,details:p,mayHaveRun:m}=o;pe(e,3,()=>{$(e,l),e.at-r+p.length+32<=dn&&re(e,p)}),m||pe(e,5,()=>{})}}function ft(e,t=!1){if(ke(e)!==an)return Lt;
e.at++;let n=X(ye(e));return K(n)>dn&&T("a prefix is too long"),pt(n,t)}function pt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0;for(;K(e);){let i=Q(
e),l=X(ye(e));if(i>127){let p=`prefix item ${i} must be understood and is unknown`;throw t?P(12,p):new ve(p)}if(i!==2&&i!==7&&i<9&&(s>>i&1&&T(`prefix item ${i} \
occurs twice`),s|=1<<i),i===1)o.timeout=Ge(l)/1e3;else if(i===2){let p=ie(l),m=Rt(p)?$e(l):ie(l,K(l));(!cn(p,m)||++r>ln)&&T("invalid metadata"),n[p]=p in n?[...un(
n[p]),m]:m}else i===3?(o.code=D(l,10),o.details=$e(l)):i===5?o.isRefused=!0:i===8&&(o.text=Qe(l))}return o}var Qe=(e,t)=>new TextDecoder().decode($e(e).subarray(
0,t)),pn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new N(ot(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function mt(e,t){if(ke(e)===6)return e.
at++,me(e,5),me(e,10),pn(t,ie(e))}function mn(e){let t=pt(e);return t.code??t.isRefused?pn(t,t.text):void 0}function yn(e,t){fn(e,{status:t,metadata:t.metadata}),
pe(e,8,()=>re(e,fe(t.message.slice(0,Zn))))}function hn(e,t){$t(e,{status:t,metadata:t.metadata}),re(e,[6,5,10]),Ae(e,t.message)}var Bt=5<<20,tr=1024,bn=65536,nr=128,rr=32768,He=10,Ne=16384,gn=32768,or=Ne/2,yt=256,ht=262144,sr=1e5,ir=64<<20,vn=8<<20,ar=10,dr=65536,lr=2e3,ur=5,cr=1e4,An="t\
he server is going away",Sn=200,fr=2147483647,Oe=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),fr));function xn(e,t,n,o,r){let s=Ze(16384),i=new Map,l=new Map,p=new Set(
n),m=[],b=0,g=0,v=0,x=0,I=0,R=32767,M=[0,Bt,1/0,Ne,0],F=!1,J=!1,j,H=He,oe=0,z=!1,B=0,W=!1,q=!1,V=0,G,Z=a=>{if(!(F||!Le))try{a(Le)}catch(f){_(Be(f));try{Le.close()}catch{}}},
ee=()=>{s.at&&(W=!1,q=!0,Z(a=>a.send(nt(s))),s.at=B=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),Z(a=>{let f=a.buffered();f>ir?O("too many unsent byt\
es"):f>vn&&!w.isFull&&(w.isFull=!0,ue())}))},ue=()=>Z(a=>{if(a.buffered()>vn/2)return void Oe(ar,ue);w.isFull=!1,t.room(w)}),u=()=>{s.at!==B?(B=s.at,queueMicrotask(
u)):(z=!1,ee())},d=(a,f,h,E)=>{let{at:ne}=s;try{tt(s,He),s.at+=He,h?.(s,E);let we=s.at,Ee=we-ne-He,Te=f===3?bn:Math.max(M[1],tr);if(Ee>Te)throw P(8,`the message\
 has ${Ee} bytes of at most ${Te}`);s.at=ne;for(let De of[15,a,f,Ee>>>16,Ee])zt(s,De);s.at=we}catch(we){throw s.at=ne,we}s.at>dr?ee():z||(z=!0,B=0,queueMicrotask(
u))},c=(a,{code:f,message:h},E=7)=>d(a,E,ne=>{$(ne,f),re(ne,fe(h.slice(0,Sn)))}),y=(a,f)=>{d(a,5,$,0),c(a,f)},S=a=>{if(!F){if(V=0,j){if(re(j,a),j.at<H)return;a=
nt(j),j=void 0}try{let f=0,h=E=>a[f+E]<<8|a[f+E+1];for(;!F&&!(a.length<(H=f+He));f=H){h(0)!==15&&T("a header without its magic");let E=h(6)*65536+h(8);if(E>Bt&&
T(`a packet of ${E} bytes`),a.length<(H+=E))break;C(h(2),h(4),a.subarray(f+He,H))}f<a.length&&(H-=f,re(j=Ze(),a.subarray(f)))}catch(f){let h=f.message;w.isUp&&c(
4,new N(13,h),3),O(`the server broke the protocol: ${h}`)}}},C=(a,f,h)=>{let E=X(h),ne=f===3&&(a===5||a===6),we=ne?D(E,3):a;we>65535&&T(`stream ${we}`);let Ee=i.
get(we);if(f>=10){w.isUp||T("a packet before HELLO");let Te=a>=gn,De=m[a%Ne];if(!Te&&De?.id===a&&De.operation===f)return ge(a),t.answered(),De.isGivenUp?g--:t.replied(
De,h),A();if(r.filter(Hn=>Hn.packet(w,a,f,h)).length)return;if(Te&&se)return se.packet(a,f,h,!1)}else if(f<2){h.length&&T("a PING with a body"),f===1?w.isUp||O(
"the server is a compat peer"):W||(W=!0,d(0,1));return}else{if(f===3&&!w.isUp&&!a)return te(E);if(f===3&&a===4)return O(`closed by the server with code ${D(E,10)}\
: ${Qe(E,Sn)}`);if(f===3&&a===1)return Y(E);if(f===3&&a>=rr)T(`packet type ${a} must be understood and is unknown`);else{if(f===4)return L();if(f===6)return se?.
cancel(a,D(E));if(f===8)T("a stray hand-off");else{if(Ee&&(ne||f!==3&&f<8))return t.answered(),ne?Ee.items(a===6,E):Ee.packet(f,h);if(f===2){let Te=a-R&32767;if(a>=
32768&&Te&&Te<=16384)return R=a,se?se.packet(a,2,h,!0):y(a,P(12,"no service is served"))}}}}++oe>sr&&O("too many stray packets")},Y=a=>{for(;K(a);){let f=Ut(a),
h=[...p,...o?.services??[]].find(E=>E.fingerprint===f);d(2,3,E=>on(E,f,h?.layout))}},te=a=>{(K(a)>bn||ie(a,4)!=="fris"||!Q(a))&&T("no HELLO");let f=new Set,h=0;
try{for(;K(a);){h=Q(a);let E=X(ye(a));if(h>=nr&&T("must be understood and is unknown"),(h<7||h===8||h===34||h===35)&&(f.has(h)&&T("occurs twice"),f.add(h)),h in
M)M[h]=Ge(E);else if(h===8)Ge(E);else if(h===32||h===33){let ne=sn(E);h===32&&l.set(...ne)}}}catch(E){T(`HELLO item ${h}: ${E.message}`)}M[3]=Math.min(M[3],Ne),
w.isUp=!0,clearTimeout(Re),t.room(w)},ge=a=>{m[a%Ne]=void 0,b--===M[3]&&t.room(w)},k=(a,f)=>{i.set(f,a),a.begin(w,f,M[4])},A=()=>{J&&b===g&&!i.size&&!se?.progress.
size&&queueMicrotask(()=>O(An))},L=()=>{J||(J=!0,t.closing(w,An),A())},O=a=>{F||(ee(),Z(f=>f.close()),_(a))},_=a=>{if(F)return;F=!0,clearInterval(G),clearTimeout(
Re),t.closing(w,a),w.isUp=!1;let f=new N(14,`the connection was lost: ${a}`);for(let h of m)h&&!h.isGivenUp&&t.lost(h,f);for(let h of i.values())h.lost(f);se?.down(
f);for(let h of r)h.down(w,f)},w={isUp:!1,isFull:!1,write:d,reset:c,refuse:y,announce(a){let f=l.get(a.name),h=f?.fingerprint===a.fingerprint&&`${f.operations}`==
`${a.operations}`;if(!p.has(a)){for(let E of p)if(E.operations.some(ne=>a.operations.includes(ne)))throw P(9,`${E.name} has operations of ${a.name}: use another\
 channel`);h||d(3,3,ct,a),p.add(a)}},call(a,f){if(w.isFull||b>=M[3])return!1;do v=(v+1)%gn;while(m[v%Ne]);let h=a.id=v;m[h%Ne]=a,b++;try{d(h,a.operation,f,a)}catch(E){
throw ge(h),E}return!0},cancel(a){F||(a.isGivenUp=!0,d(a.id,6,$,a.operation),++g>=or&&L(),A())},open(a,f){if(!M[2])throw P(12,"the server does not accept stream\
s");if(w.isFull||x>=Math.min(M[2],28672))return!1;do I=I%32767+1;while(i.has(I));let h=I;i.set(h,a),x++;try{d(h,2,f)}catch(E){throw w.over(h),E}return a.begin(w,
h,M[4]),!0},accept:k,over(a){i.delete(a),a<32768&&(x--,t.room(w)),A()},drain:L,closeIfIdle:A},se=o?.on(w),Re=Oe(cr,()=>O("handshake timeout")),Je=()=>{s.isFlat=
Le?.isFlat,d(0,3,a=>{re(a,fe("fris"));let f=se?yt:0;[Bt,f,f,ht].forEach((h,E)=>pe(a,E+1,()=>$(a,h)));for(let h of o?.services??[])pe(a,32,()=>ct(a,h));for(let h of n)
pe(a,33,()=>ct(a,h))}),d(1,0),ee(),!F&&(G=setInterval(()=>{if(++V>ur)return O("keepalive timeout");(V>1||!q)&&d(0,0),q=!1;let a=performance.now();for(let f of m)
f&&f.until<=a&&!f.isGivenUp&&t.expired(f)},lr))},Le,Kt=a=>Le?a():queueMicrotask(a),jt=a=>Kt(()=>_(a));try{Le=e({open:()=>Kt(Je),data:S,close:jt})}catch(a){jt(Be(
a))}return w}function bt(e,t){let n=[],o=0,r=!1,s=()=>{},i=v=>{r||=v,s()},l=()=>n[o],p=()=>{let v=l();return v!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),v},m=()=>{n=[],o=0},b=(async function*(){try{for(;;){let v=p();if(v!==void 0){let x=e(v);x!==void 0&&(yield x)}else if(r){if(r!==!0)throw r;return}else await new Promise(
x=>s=x)}}finally{t()}})(),{return:g}=b;return b.return=()=>(t(),m(),i(!0),g.call(b,void 0)),{messages:b,first:l,take:p,clear:m,put:v=>{n.push(v),s()},end:i}}var Pt=64,pr=4,mr=4096,gt=(e,t)=>e instanceof ve?new N(13,`not a valid ${t.name}: ${e.message}`):N.from(e);function vt(e,t,n,o,r){let s,i=0,l=0,p=0,m=0,b=!0,g=!0,
v=!1,x=!1,I=!1,R=()=>{},M,F=()=>!b&&!g,{messages:J,clear:j,put:H,end:oe}=bt(d=>{let c=d.length+Pt;p-=c,m+=c,g&&m*pr>=ht&&(s?.write(i,5,$,m),m=0);try{let y=X(d),
S=mt(y,Lt);if(S)throw S;return Me(y,t)}catch(y){throw gt(y,t)}},()=>n?G(!0):ee()),z=Object.assign(J,{metadata:{}}),B=()=>{F()&&(R(),M?.(),s?.over(i),s=M=void 0,
o())},W=d=>{g=!1,oe(d),B()},q=()=>{b&&(b=!1,s?.write(i,7),B())},V=d=>{b=g=!1,oe(d),B()},G=(d,c=Pe(!0))=>{F()||s?.reset(i,c),j(),V(d)},Z=d=>G(d,d),ee=()=>{j(),v=
!0},ue=d=>{if(!(!s||!b)){if(d instanceof N)return u(6,c=>yn(c,d)),b=!1,B();s.write(i,2,c=>{let{at:y}=c;Ve(c,e,d),l-=c.at-y+Pt})}},u=(d,c)=>s?.write(d,3,y=>{$(y,
i),c(y)});return{messages:z,begin(d,c,y){s=d,i=c,l=y},packet(d,c){if(d===2)return x=!0,!g||v?void 0:p+m>=ht?Z(new N(8,"the peer exceeded its credit")):(p+=c.length+
Pt,H(new Uint8Array(c)));let y=X(c);if(d===5){let S=D(y,10);I||=!S,(l+=S)>0&&R()}else if(c.length){let S=ot(D(y));V(new N(S,Qe(y,mr),{mayHaveRun:!I}))}else W(!0)},
items(d,c){if(g){!d&&x&&T("late HEADERS"),x=!0;try{if(d)return W(mn(c)??!0);r?.(z.metadata=pt(c).metadata)}catch(y){Z(gt(y,t))}}},send:ue,async pump(d,c){try{let y=d,
S=y?.[Symbol.asyncIterator]?.()??y?.[Symbol.iterator]?.();if(!S)throw P(3,`messages of a stream are an iterable, not ${String(d)}`);for(M=async()=>{try{await S.
return?.()}catch{}},n||u(5,()=>{});;){for(;l<=0&&!F();)await new Promise(te=>R=te);if(F())return;let{done:C,value:Y}=await S.next();if(F())return;if(C)break;ue(
Y)}M=void 0,q()}catch(y){if(!n)throw M?.(),M=void 0,y;G(c?rt(y):N.from(y))}},finish:q,discard:ee,fail:Z,lost:V}}var yr=3e4,hr=5e3,br=20,wn=2e3,En=10,At=class{constructor(t,{timeout:n,reconnectTimeout:o=hr,metadata:r,serve:s,stayConnected:i}={}){let l,p=0,m=En,b=0,g,v=!1,x="",
I=[new Set,new Set],R=({method:{sends:u,receives:d}})=>I[u||d?1:0],M=new Set,F=[],J=()=>{l||g||v||!(I[0].size||I[1].size||i)||(b=performance.now(),l=xn(t,j,[...M],
s,F))},j={room:u=>queueMicrotask(()=>{for(let d of I)for(let c of d){if(l!==u||!H(c,u))break;l===u&&d.delete(c)}}),closing(u,d){if(l===u){if(l=void 0,x=d,u.isUp)
for(let c of I)c.forEach(z);u.isUp&&performance.now()-b>=wn?p=0:v||(clearTimeout(g),g=Oe(Math.random()*Math.min(br*2**Math.min(p++,16),wn),()=>{g=void 0,J()})),
J()}},answered:()=>void(p=0),replied(u,d){let c=u,{method:{reply:y},options:{onMetadata:S}}=c;W(c);try{let C=X(d),Y=ft(C),te=mt(C,Y);if(te)throw te;C.at&&S?.(Y.
metadata),c.resolve(Me(C,y)),m<En&&(m+=.1)}catch(C){c.reject(gt(C,y))}},expired:u=>B(u),lost(u,d){let c=u;if(c.link=void 0,!c.method.idempotent||m<1)return q(c,
d);m--,oe(c)}},H=(u,d)=>{let{service:c}=u;try{return c&&d.announce(c),u.start(u,d)&&(u.isSent=!0)}catch(y){return q(u,N.from(y)),!0}},oe=u=>{if(!(l?.isUp&&H(u,l))){
if(v)return q(u,Tn(u.isSent));R(u).add(u),J(),z(u)}},z=u=>{u.reconnectsUntil=performance.now()+(u.options.reconnectTimeout??o),B(u)},B=u=>{let{until:d,isSent:c,
reconnectsUntil:y}=u,S=performance.now(),C=R(u).has(u)&&!l?.isUp&&`no connection to the server${x&&`: ${x}`}`;clearTimeout(u.timer),S>=d?q(u,st(c,C?`; ${C}`:"")):
S>=y&&C?q(u,Ke(14,C,c)):u.timer=Oe((S<y?Math.min(d,y):d)-S,()=>B(u))},W=u=>{R(u).delete(u),clearTimeout(u.timer),u.options.signal?.removeEventListener("abort",u.
abort)},q=(u,d)=>{W(u),u.link?.cancel(u),u.reject(d)},V=(u,{sentTimeout:d,until:c,options:{metadata:y}})=>{(d!==void 0||r||y)&&$t(u,{timeout:d&&c-performance.now(),
metadata:{...r,...y}})},G=(u,d)=>{V(u,d),Ve(u,d.method.request,d.request)},Z=(u,d)=>{let c=d.call(u,G);return c&&(u.link=d),c},ee=(u,d,c,y,S,C,Y,te,ge=1/0)=>{let{
signal:k}=y,A={id:0,operation:d.operation,until:performance.now()+ +(S??ge),isGivenUp:!1,isSent:!1,reconnectsUntil:1/0,timer:void 0,link:void 0,service:u,method:d,
request:c,options:y,sentTimeout:S,start:C,resolve:Y,reject:te,abort:k&&(()=>q(A,Pe(A.isSent)))};return Number.isNaN(A.until)?te(P(3,"the timeout is not a number\
; it is in milliseconds")):k?.aborted?A.abort?.():(k?.addEventListener("abort",A.abort),S!==void 0&&B(A),(S===void 0||S>0)&&oe(A)),A},ue=(u,d,c,y={})=>{let S,C=vt(
d.request,d.reply,!0,()=>S&&W(S),y.onMetadata);return S=ee(u,d,c,y,y.timeout,(Y,te)=>{let ge=te.open(C,k=>{V(k,Y),U(k,9),$(k,Y.operation)});return ge&&C.pump(c,
d.sends),ge},()=>{},C.fail),C};this.unary=(u,d,c,y={})=>new Promise((S,C)=>void ee(u,d,c,y,y.timeout??n,Z,S,C,yr)),this.serverStreaming=(u,d,c,y)=>ue(u,d,[c],y).
messages,this.twoWay=(u,d,c,y)=>ue(u,d,c,y).messages,this.clientStreaming=async(u,d,c,y)=>{let{messages:S}=ue(u,d,c,y),{done:C,value:Y}=await S.next();if(C)throw new N(
13,"there is no reply");return S.return?.(),Y},this.name=u=>void M.add(u),this.mount=u=>void F.push(u),this.connected=(u,d)=>new Promise((c,y)=>{ee(void 0,{},void 0,
{reconnectTimeout:d},void 0,(S,C)=>C.isFull?!1:(u?.(C),W(S),c(C),!0),c,y)}),this.close=()=>{v=!0,clearTimeout(g);for(let u of I)for(let d of u)q(d,Tn(d.isSent));
l?.drain()},i&&queueMicrotask(J)}},Tn=e=>Ke(9,"the channel is closed",e);function _t(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(i,l)=>t[r]?.(i,l)});return{services:[
...n?.services??[],e],methods:o,on(r){let s=new Map,i=0,l=(p,m)=>{let b=o.get(p);if(!b||!(b.method.sends||b.method.receives)===m)throw P(12,`unknown operation ${p}`);
if(s.size>=yt||i>=yt)throw P(8,"too many calls are in progress");return b};return{progress:s,packet(p,m,b,g){let v,x=R=>r.write(p,m,M=>{R instanceof N?hn(M,R):Ve(
M,v.reply,R)}),I=g?p:kn(p,m);s.has(I)&&T("a request with the id of another");try{let R=X(b),{timeout:M,metadata:F}=ft(R,!0);g&&(me(R,9),m=D(R,3));let J=l(m,g);({
method:v}=J);let j=g||Me(R,v.request),H=new AbortController,oe=!1,z=V=>{oe||(oe=!0,clearTimeout(q),V||H.abort(),s.delete(I),r.closeIfIdle())},B=g?vt(v.reply,v.request,
!1,()=>z(!1)):{send(V){oe||(x(V),z(!0))},fail:x,finish(){},discard(){}},W=V=>{B.fail(V),z(!1)},q=M===void 0?void 0:Oe(M,()=>W(st(!0)));s.set(I,W),g&&r.accept(B,
p),i++,gr(J,g,j,B,{signal:H.signal,metadata:F}).finally(()=>i--)}catch(R){let M=R instanceof ve?P(3,`malformed request: ${R.message}`):N.from(R);g?r.refuse(p,M):
x(M)}},cancel(p,m){s.get(kn(p,m))?.(Pe(!0))},down(p){for(let m of s.values())m(p)}}}}}var kn=(e,t)=>t*65536+e;async function gr({method:e,handler:t},n,o,r,s){let i=!1;
try{if(e.sends)o=r.messages;else if(n){let p=await r.messages.next();if(p.done)throw P(3,"no request");o=p.value}i=!0;let l=t(o,s);e.receives?await r.pump?.(l):
(r.send(await l),r.finish())}catch(l){try{r.send(i?rt(l):N.from(l))}catch(p){r.send(new N(13,Be(p)))}}r.discard()}var qe=65280,vr=16<<20,Ft=64,Ar=255,Sr=65536,xr=4,St={now:0,last:1,oldest:2},Cn=e=>P([8,12,7][Q(e)-3]??3,ie(e,K(e))),In=e=>{let t=D(e);return t>Ar&&T("a topic i\
s too long"),ie(e,t)},Mn=new WeakMap,ze=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this,o=Mn.get(t);if(o)return o;Mn.
set(t,this),t.mount({packet:(r,s,i,l)=>{if(i<qe)return!1;!s&&i===qe+5&&(this.refused??=Cn(X(l)));for(let p of s?[n.get(s)]:n.values())p?.packet(r,s,i-qe,X(l));return!0},
down(r,s){for(let i of[...n.values()])i.down(r,s)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(
o=>o.write(0,qe+2,r=>{Ie(r,fe(t)),re(r,Dt(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){
let{channel:s,requests:i}=this;do this.last=this.last%65535+1;while(i.has(this.last));let l=this.last;return new Promise((p,m)=>{let b,g=0,v=0,x=!1,{first:I,messages:R,
put:M,end:F,take:J}=bt(k=>(g-=k.payload.length+Ft,k),()=>{i.delete(l)&&n!==void 0&&b?.isUp&&b.write(l,qe+1)}),j=k=>{i.delete(l),m(k),F(k)},H=o?[]:n?.split(".")??
[],oe=H[H.length-1]===">",z=k=>{let A=k.split(".");return(oe?A.length>=H.length:A.length===H.length)&&H.every((L,O)=>L===">"||L==="*"||L===A[O])},B=t===0&&!o&&r!==
void 0,W=typeof r=="object";if(W&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0))throw P(3,`${r.epoch}, ${r.offset} is not a position`);let q=W||r===void 0?St.oldest:
St[r],V=new Map(W?[[n,{...r,offset:r.offset+1}]]:[]),G=new Map,Z=0,ee="",ue=!1,u=!1,d=!1,c=!1,y=!1,S=k=>{b?.write(l,qe+k,A=>{if(n!==void 0&&Ie(A,fe(n)),k===6){U(
A,q);for(let[L,O]of V){Ae(A,L);for(let _=0;_<16;_+=2)U(A,parseInt(O.epoch.slice(_,_+2),16));$(A,O.offset)}}else re(A,fe(o))})},C=k=>{s.connected(A=>{i.has(l)&&(b=
A,S(B?6:t))},k).catch(A=>{u&&A.code===9&&F(!0),j(A)})},Y=()=>{y=!0,u&&(d||!(B&&c))&&(x=!0),p(R)},te=k=>Array.from(ye(k,8),A=>A.toString(16).padStart(2,"0")).join(
""),ge=(k,A,L)=>{if(A===5&&k&&!y&&B&&L.bytes[L.at]===xr)d=!0,S(0);else if(A===6&&k&&L.bytes[L.at]===0){Q(L),c=Q(L)===1;let O=te(L);Z=D(L,10);let _=ee!==""&&ee!==
O,w=!n?.match(/[*>]/)&&V.size>0;ee=O,Y(),d=!1,x||=w?!Z:_}else if(A===7)for(;K(L);){let O=In(L),_={epoch:te(L),offset:D(L,10)};if(Number.isSafeInteger(_.offset)||
T("an integer is beyond 2^53"),!y||!k&&!z(O))continue;let w=G.get(O);k&&!w?(Z--,w=V.get(O)??(ue?{..._,offset:1}:void 0)):!k&&w?.epoch!==_.epoch&&(w=void 0),w&&c&&
(w.epoch===_.epoch&&w.offset<=_.offset?v+=_.offset-w.offset:x=!0),G.size>=Sr&&(G.clear(),d=!0),G.set(O,_)}else return!1;return!0};i.set(l,{packet(k,A,L,O){if(!(k!==
b||B&&ge(A,L,O)))if(L===2){let _=In(O);if(!A&&(!y||!z(_)))return;let w=$e(O),se=G.get(_);for(se&&G.set(_,{...se,offset:se.offset+1}),g+=w.length+Ft,M({topic:_,payload:w,
position:se,lagged:v,reconnected:x}),v=0,x=!1;g>vr;){let Re=J();g-=Re.payload.length+Ft;let Je=I();Je.lagged+=Re.lagged+1,Je.reconnected||=Re.reconnected}}else L===
4?B&&c&&y||(v+=D(O,10)):A&&(K(O)?j(Cn(O)):Y())},down(k,A){if(k===b){if(n===void 0||!y&&!u)return j(A);if(y)if(Z>0)for(let[L,O]of G)V.set(L,O);else V=d?new Map:G,
q=d?St.now:St.oldest,ue=!d;G=new Map,y=!1,u=!0,C(1/0)}}}),C()})}};var xt="frisbee.1";function Nn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[xt,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===xt)return o.
open();s=`the server does not speak ${xt}`,r.close()},r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=({message:i=""})=>void(s||=
i),r.onclose=({code:i,reason:l})=>{o.close(s||`the WebSocket was closed (${i}${l&&`, ${l}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Vt=(e,t={})=>new At(Nn(e,t),t);var ce={BUY:0,SELL:1},Ht=he("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[On,On,Er]),Er=he("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ce]),Un=he("exchange.Inquiry","side:e amount:u",()=>[ce]),On=he("exchange.Level","price:u amount:u"),Tr=he("exchange.Nothing",""),Rn=he("exchange.Offer",
"price:u called:u answered:u"),kr=he("exchange.Order","number:u side:e price:u amount:u",()=>[ce]),Cr=he("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ce]),Ue=ut("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Tr,reply:Ht},trade:{operation:11,request:kr,reply:Cr,
sends:!0,receives:!0},inquire:{operation:12,request:Un,reply:Rn}}),wt=class{constructor(t){this.channel=t,t.name(Ue)}look(t,n){return this.channel.unary(Ue,Ue.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(Ue,Ue.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Ue,Ue.methods.inquire,t,n)}},Ln=ut("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Un,reply:Rn}});var Xt=240,_n=8,le=e=>document.getElementById(e),de=(e,t)=>void(le(e).textContent=t),be=e=>(e/100).toFixed(2),Et=e=>e===ce.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Ir(e,t){let n=le(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>_n;)n.lastElementChild?.remove()}var Ye=new Map,Dn=0,$n=0,Fn=()=>{},Wt=[];async function*Mr(){for(;;){let e=Wt.shift();
e?yield e:await new Promise(t=>Fn=t)}}function Nr({number:e,amount:t,price:n,left:o}){let r=Ye.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===ce.BUY?
1:-1;Dn+=s*t,$n-=s*t*n,de("held",String(Dn)),de("cash",be($n));let i=[...Ye.values()].reverse().slice(0,_n).map(({order:l,done:p,left:m})=>ae("tr",[ae("td",`${Et(
l.side)} ${l.amount}`,Et(l.side)),ae("td",be(l.price)),ae("td",String(p)),ae("td",String(m))]));le("orders").replaceChildren(...i)}le("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ce.SELL:ce.BUY,o={number:Ye.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ye.set(o.number,{order:o,done:0,left:o.amount}),Wt.push(o),Fn()});var We=0,qt=0,Xe,Ce=[];function Bn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));le(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ae("li",[s,ae("span",be(o)),ae("span",String(r))])}))}function Or(e){for(let{number:o,price:r}of[...e].reverse())o>qt&&Ce.push(r);Ce.splice(0,Ce.length-Xt);let[
t]=e;if(!t||t.number===qt)return;qt=t.number;let n=t.price-We;We&&n&&(de("change",`${n>0?"▲":"▼"} ${be(Math.abs(n))}`),le("change").dataset.side=n>0?"buy":"\
sell"),We=t.price,de("last",be(We)),le("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ae("li",[ae("span",o===ce.BUY?"bought":"sold",Et(o)),ae("s\
pan",be(r)),ae("span",String(s))]))),Gt()}function Pn({bids:e,asks:t,deals:n,traders:o,orders:r}){Bn("asks",t),Bn("bids",e),t[0]&&e[0]&&de("spread",`${be(t[0].price-
e[0].price)} apart`),de("traders",String(o));let s=performance.now();(!Xe||s-Xe.at>1e3)&&(Xe&&de("rate",((r-Xe.orders)/((s-Xe.at)/1e3)).toFixed(0)),Xe={orders:r,
at:s}),Or(n)}function Gt(){let e=le("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Ce.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),i=le("state"),l=Math.min(...Ce)-2,p=Math.max(...Ce)+2,m=n-56,b=x=>x/(Xt-1)*m,g=x=>(p-x)/(p-l)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(i).color,t.lineWidth=.5;for(let x=0;x<5;x++){let I=l+(p-l)*x/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,g(I)),t.lineTo(m,g(I)),t.stroke(),t.globalAlpha=1,t.fillText(be(I),m+8,g(I)+4)}let v=Xt-Ce.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Ce.
forEach((x,I)=>t.lineTo(b(v+I),g(x))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(b(v),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Gt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Gt);var Ur=_t(Ln,{quote:({side:e,amount:t})=>{let n=Math.round(Number(le("margin").value)*100),o=We&&We+
(e===ce.BUY?n:-n);return Ir("asked",ae("li",`${Et(e)} ${t}? You said ${be(o)}.`)),{price:o}}}),{hostname:Rr}=location,Vn=Vt(`ws://${Rr}:${document.documentElement.
dataset.port}/`,{serve:Ur,stayConnected:!0}),Tt=new wt(Vn),Lr=new ze(Vn);le("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await Tt.inquire({side:ce.BUY,amount:10}),i=(performance.now()-n).toFixed(0);de(
"offer",o?`${be(o)} is the best of ${s} of ${r}, after ${i} ms.`:`None of ${r} had a price.`)}catch(n){de("offer",N.from(n).message)}t.disabled=!1});async function Dr(){
for(;;){try{let e=await Lr.subscribe("exchange.book"),t=Tt.trade(Mr()),n=(async()=>{for await(let r of t)Nr(r)})();le("state").dataset.is="open",de("state","con\
nected"),Pn(await Tt.look({}));let o=(async()=>{for await(let{payload:r}of e)Pn(Nt(Ht,r))})();await Promise.race([n,o])}catch(e){le("state").dataset.is="failed",
de("state",N.from(e).message)}Wt.length=0;for(let e of Ye.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Dr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await Tt.look({},{timeout:5e3}),de("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{de("ping","–")}},2e3);
