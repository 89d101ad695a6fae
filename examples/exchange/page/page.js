var qn=new TextEncoder,Xn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Qt=40,Ae=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
T=e=>{throw new Ae(e)},X=e=>({bytes:e,at:0,depth:0,memory:0}),Ze=(e=64)=>X(new Uint8Array(e)),et=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,fe=e=>qn.encode(
e);function tt(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function U(e,t){e.at===e.bytes.
length&&tt(e,1),e.bytes[e.at++]=t}function zt(e,t){U(e,t>>8),U(e,t)}function D(e,t){for(;t>127;t=Math.floor(t/128))U(e,t|128);U(e,t)}function re(e,t){tt(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Ne(e,t){D(e,t.length),re(e,t)}function Se(e,t){let{at:n}=e,{length:o}=t,r=o>Qt?128:0;U(e,o);for(let s=0;s<o&&r<128;s++)
U(e,r=t.charCodeAt(s));r>127&&(e.at=n,Ne(e,fe(t)))}function pe(e,t,n){U(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Ne(e,r),r.length>0}var nt=({
bytes:e,at:t})=>e.subarray(0,t),K=({bytes:e,at:t})=>e.length-t,Ce=({bytes:e,at:t})=>e[t],Q=e=>e.bytes[e.at++]??T("truncated");function me(e,t){let n=Q(e);n!==t&&
T(`found byte ${n}, expected ${t}`)}function L(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=Q(e);if(r<128)return n+r*o;n+=(r-128)*o}return T("a number is too\
 long")}function Oe(e){let{at:t}=e,n=L(e,10);return(K(e)||e.bytes[t+9]>1)&&T("malformed number"),n}function he(e,t=L(e)){return t>K(e)&&T("truncated"),e.bytes.subarray(
e.at,e.at+=t)}var Be=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function ie(e,t=L(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Qt)for(let i;s<t&&(i=n[o+s])<128;s++)
r+=String.fromCharCode(i);if(s<t){let i=he(e,t);try{return Xn.decode(i)}catch{T("a text is not UTF-8")}}return e.at+=t,r}var O=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:i={},mayHaveRun:d=!0}=r??{};Object.assign(this,
{details:s,metadata:i,mayHaveRun:d,code:n})}static from(n){return n instanceof e?n:new e(2,Pe(n),{cause:n})}};var Pe=e=>e instanceof Error?e.message:String(e),B=(e,t)=>new O(e,t,{mayHaveRun:!1}),rt=e=>{let t=O.from(e);return t.mayHaveRun?t:new O(t.code,t.message,{...t,mayHaveRun:!0})},
ot=e=>e>0&&e<=16?e:2,je=(e,t,n)=>new O(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),_e=e=>je(1,"the caller cancelled the call",e),st=(e,t="")=>je(4,`deadline exceeded${t}`,
e);var dt=100,Wn=64<<20,Gn=12,It=8,Mt=56,kt=new Uint8Array(8),Yt=new DataView(kt.buffer);function be(e,t,n){let o;return{name:e,fields:()=>o??=Kn(t,n?.()??[])}}function Nt(e,t){let n=o=>o.toString(16).padStart(2,"0");return t[0]===18&&T(`message ${e.name} with the layout ${[...t.subarray(1,17)].map(n).join("")} cannot \
be compared`),Ue(X(t),e)}function He(e,t,n){e.depth=dt,en(e,t,n)}function Ue(e,t){return e.depth=dt,e.memory=Math.max(Wn,K(e)*Gn),tn(e,t)??nn(e,t)}function Kn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!s)throw new Error(`invalid table entry:\
 ${r}`);let[,i,d,p,m,b]=s,g=b==="m"?zn(t[o++]):b==="e"?Jn(t[o++]):lt[b],A=lt[m[1]??""],w=A?[2,A.wire,g.wire,10]:m==="*"?[1,g.wire,10]:void 0,M=d?n.get(d):void 0;
d&&!M&&n.set(d,M=[]);let R={name:d??i,of:g,isOptional:m==="?",key:A,head:w,case:i,number:+p,all:M};return M?.push(R),R})}var at=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function en(e,t,n){if(!e.depth--)throw Zt(t.name,`nests deeper than ${dt}`);U(e,8),U(e,0);let o="";try{for(let r of t.fields()){let{
all:s,name:i}=r,d=n[o=i];if(!s)jn(e,r,d);else if(e.isFlat||r===s[0]){let p=d,m=s.find(g=>g.case===p?.case);if(p&&!m)throw new Error(`has no member ${p.case}`);e.
isFlat||(U(e,3),D(e,m?m.number:0));let b=e.isFlat?r:m;b&&Fe(e,b.of,b===m?p?.value:void 0)}}}catch(r){throw r instanceof O?r:Zt(`${t.name}.${o}`,r.message)}e.depth++}
function jn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=at(t)),o){let i=n,d=n,p=r?i.size:d.length;we(p>=0,n);for(let m of o)U(e,m);if(D(
e,p),r)for(let[m,b]of i)Fe(e,r,m),Fe(e,s,b);else for(let m of d)Fe(e,s,m)}else n===void 0&&t.isOptional&&!e.isFlat?U(e,0):Fe(e,s,n)}function Fe(e,t,n){t.table||
U(e,t.wire),t.put(e,n===void 0?t.zero():n)}function tn(e,t){if(Ce(e)===0)return void e.at++;me(e,8),Q(e),e.depth--||T(`${t.name} nests deeper than ${dt}`);let n=t.
fields();Ot(e,Mt+It*n.length);let o={},r="";for(let s of n){let{name:i,all:d,of:p}=s,m=d&&d[0]===s;if(m&&(o[i]=void 0),!d)o[i]=Qn(e,s);else if(m&&Ce(e)===3){e.at++,
r+=` ${i} `;let b=L(e),g=d.find(A=>A.number===b);g?o[i]={case:g.case,value:Ct(e,g.of)}:b&&T(`${t.name}.${i} has no member ${b}`)}else if(!r.includes(` ${i} `)){
let b=Qe(e,p);(b instanceof Uint8Array?b.length:!Object.is(b,p.zero()))&&(o[i]={case:s.case,value:b})}}return e.depth++,o}function Qn(e,t){let{head:n,key:o,of:r}=t;
if((o||t.isOptional)&&Ce(e)===0)return e.at++,at(t);if(!n)return Qe(e,r);for(let d of n)me(e,d);let s=L(e),i=at(t);for(;s-- >0;)Ot(e,o?Mt:It),o?i.set(Qe(e,o),Ct(
e,r)):i.push(Ct(e,r));return i}function Qe(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Ce(e)===12?Qe(e,lt.i):(n||me(e,t),o(e))}var Ct=(e,t)=>Qe(e,t)??nn(e,t.table);
function nn(e,t){let n={},o=t.fields();Ot(e,Mt+It*o.length);for(let r of o)n[r.name]=r.all?void 0:at(r);return n}function Ot(e,t){(e.memory-=t)<0&&T("exceeds th\
e memory limit")}var xe=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),zn=e=>xe(3,()=>{},(t,n)=>n?en(t,e,n):U(t,0),t=>tn(t,e),e),Yn=65536;function Jn(e){let t=Object.
values(e);return{...xe(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),i=r+2147483648,d=r<0&&i>=t.length;we(s>=0||r===(r|0)&&(d||!o.isFlat),r),s>=0||d&&(o.isFlat||i<Yn)?
D(o,s<0?i:s):(o.at--,Fe(o,lt.i,r))},o=>{let r=L(o)>>>0,s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&T(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}
var it=(e,t)=>xe(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),i=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(i)&&i>=0)return D(n,i);we((e?BigInt.asIntN:
BigInt.asUintN)(64,r)===r,o);let d=e?r<<1n^r>>63n:r;for(;d>>53n;d>>=7n)U(n,Number(d&127n)|128);D(n,Number(d))},n=>{let{at:o}=n,r=L(n,10);if(r<=Number.MAX_SAFE_INTEGER)
e&&(r=r%2?(r+1)/-2:r/2);else{let s=0n;for(let i=0n;o<n.at;i+=7n)s|=BigInt(n.bytes[o++]&127)<<i;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(
Number(r))||T("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Jt=(e,t)=>xe(e,()=>0,(n,o)=>{we(typeof o=="number",o),Yt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)U(n,kt[r])},n=>{for(let o=0;o<t;o++)kt[o]=Q(n);return Yt[t>4?"getFloat64":"getFloat32"](0)}),lt={b:xe(7,()=>!1,(e,t)=>{we(typeof t=="boolean",t),U(e,+t)},
e=>{let t=Q(e);return t>1&&T(`a bool is ${t}`),t>0}),i:xe(12,()=>0,(e,t)=>{we(t===(t|0),t),D(e,(t<<1^t>>31)>>>0)},e=>{let t=L(e);return t>>>1^-(t&1)}),u:xe(10,()=>0,
(e,t)=>{we(t===t>>>0,t),D(e,t)},e=>L(e)>>>0),l:it(!0,!1),w:it(!1,!1),L:it(!0,!0),W:it(!1,!0),f:Jt(14,4),d:Jt(15,8),s:xe(5,()=>"",(e,t)=>{we(typeof t=="string",t),
U(e,10),Se(e,t)},e=>(me(e,10),ie(e))),y:xe(4,()=>new Uint8Array,(e,t)=>{we(et(t),t),U(e,10),Ne(e,t)},e=>(me(e,10),new Uint8Array(he(e))))},Zt=(e,t)=>B(3,`${e} ${t}`);
function we(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var ut=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)}),rn=(e,t)=>t.match(/../g)?.forEach(
n=>U(e,parseInt(n,16)));function ct(e,t){Se(e,t.name),rn(e,t.fingerprint);let n=0;for(let o of t.operations)D(e,o-n),n=o}function Ut(e){let t="";for(;t.length<32;)
t+=Q(e).toString(16).padStart(2,"0");return t}function on(e,t,n=""){for(let o of atob(n))U(e,o.charCodeAt(0));n||(U(e,0),rn(e,t))}function sn(e){let t=ie(e),n=[],
o={fingerprint:Ut(e),operations:n};for(let r=0;K(e);)n.push(r+=L(e));return[t,o]}var an=16,ln=65536,Zn=1e3,dn=256,er=61440,Lt={metadata:{}},un=e=>[e].flat(),Rt=e=>e.endsWith("-bin"),cn=(e,t)=>Rt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Rt(e)?"":t}`);function Dt(e){if(typeof e=="string")return fe(e);if(!et(e))throw B(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function $t(e,t){
let{at:n}=e;pe(e,an,()=>fn(e,t))||(e.at=n)}function fn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&pe(e,1,()=>D(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,i=0;for(let[d,p]of Object.entries(n))for(let m of un(p)){if(!cn(d,m))throw B(3,`invalid metadata entry ${d}: keys hav\
e a-z 0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=d.length+m.length+8,++i>dn||s>er)throw B(8,"too much metadata");pe(e,2,()=>{Se(e,d),re(e,
Dt(m))})}if(o){let{code:d,details:p,mayHaveRun:m}=o;pe(e,3,()=>{D(e,d),e.at-r+p.length+32<=ln&&re(e,p)}),m||pe(e,5,()=>{})}}function ft(e,t=!1){if(Ce(e)!==an)return Lt;
e.at++;let n=X(he(e));return K(n)>ln&&T("a prefix is too long"),pt(n,t)}function pt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0;for(;K(e);){let i=Q(
e),d=X(he(e));if(i>127){let p=`prefix item ${i} must be understood and is unknown`;throw t?B(12,p):new Ae(p)}if(i!==2&&i!==7&&i<9&&(s>>i&1&&T(`prefix item ${i} \
occurs twice`),s|=1<<i),i===1)o.timeout=Oe(d)/1e3;else if(i===2){let p=ie(d),m=Rt(p)?Be(d):ie(d,K(d));(!cn(p,m)||++r>dn)&&T("invalid metadata"),n[p]=p in n?[...un(
n[p]),m]:m}else i===3?(o.code=L(d,10),o.details=Be(d)):i===5?o.isRefused=!0:i===8&&(o.text=ze(d))}return o}var ze=(e,t)=>new TextDecoder().decode(Be(e).subarray(
0,t)),pn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new O(ot(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function mt(e,t){if(Ce(e)===6)return e.
at++,me(e,5),me(e,10),pn(t,ie(e))}function mn(e){let t=pt(e);return t.code??t.isRefused?pn(t,t.text):void 0}function yn(e,t){fn(e,{status:t,metadata:t.metadata}),
pe(e,8,()=>re(e,fe(t.message.slice(0,Zn))))}function hn(e,t){$t(e,{status:t,metadata:t.metadata}),re(e,[6,5,10]),Se(e,t.message)}var Bt=5<<20,tr=1024,bn=65536,nr=128,rr=32768,qe=10,Re=16384,gn=32768,or=Re/2,yt=256,ht=262144,sr=1e5,ir=64<<20,vn=8<<20,ar=10,lr=65536,dr=2e3,ur=5,cr=1e4,An="t\
he server is going away",Sn=200,fr=2147483647,Le=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),fr));function xn(e,t,n,o,r){let s=Ze(16384),i=new Map,d=new Map,p=new Set(
n),m=[],b=0,g=0,A=0,w=0,M=0,R=32767,I=[0,Bt,1/0,Re,0],F=!1,J=!1,j,H=qe,oe=0,z=!1,P=0,W=!1,q=!1,_=0,G,Z=a=>{if(!(F||!ve))try{a(ve)}catch(f){$(Pe(f));try{ve.close()}catch{}}},
ee=()=>{s.at&&(W=!1,q=!0,Z(a=>a.send(nt(s))),s.at=P=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),Z(a=>{let f=a.buffered();f>ir?k("too many unsent byt\
es"):f>vn&&!v.isFull&&(v.isFull=!0,se())}))},se=()=>Z(a=>{if(a.buffered()>vn/2)return void Le(ar,se);v.isFull=!1,t.room(v)}),u=()=>{s.at!==P?(P=s.at,queueMicrotask(
u)):(z=!1,ee())},l=(a,f,h,E)=>{let{at:ne}=s;try{tt(s,qe),s.at+=qe,h?.(s,E);let Ee=s.at,Te=Ee-ne-qe,ke=f===3?bn:Math.max(I[1],tr);if(Te>ke)throw B(8,`the message\
 has ${Te} bytes of at most ${ke}`);s.at=ne;for(let $e of[15,a,f,Te>>>16,Te])zt(s,$e);s.at=Ee}catch(Ee){throw s.at=ne,Ee}s.at>lr?ee():z||(z=!0,P=0,queueMicrotask(
u))},c=(a,{code:f,message:h},E=7)=>l(a,E,ne=>{D(ne,f),re(ne,fe(h.slice(0,Sn)))}),y=(a,f)=>{l(a,5,D,0),c(a,f)},S=a=>{if(!F){if(_=0,j){if(re(j,a),j.at<H)return;a=
nt(j),j=void 0}try{let f=0,h=E=>a[f+E]<<8|a[f+E+1];for(;!F&&!(a.length<(H=f+qe));f=H){h(0)!==15&&T("a header without its magic");let E=h(6)*65536+h(8);if(E>Bt&&
T(`a packet of ${E} bytes`),a.length<(H+=E))break;C(h(2),h(4),a.subarray(f+qe,H))}f<a.length&&(H-=f,re(j=Ze(),a.subarray(f)))}catch(f){let h=f.message;v.isUp&&c(
4,new O(13,h),3),k(`the server broke the protocol: ${h}`)}}},C=(a,f,h)=>{let E=X(h),ne=f===3&&(a===5||a===6),Ee=ne?L(E,3):a;Ee>65535&&T(`stream ${Ee}`);let Te=i.
get(Ee);if(f>=10){v.isUp||T("a packet before HELLO");let ke=a>=gn,$e=m[a%Re];if(!ke&&$e?.id===a&&$e.operation===f)return ye(a),t.answered(),$e.isGivenUp?g--:t.replied(
$e,h),x();if(r.filter(Hn=>Hn.packet(v,a,f,h)).length)return;if(ke&&V)return V.packet(a,f,h,!1)}else if(f<2){h.length&&T("a PING with a body"),f===1?v.isUp||k("t\
he server is a compat peer"):W||(W=!0,l(0,1));return}else{if(f===3&&!v.isUp&&!a)return te(E);if(f===3&&a===4)return k(`closed by the server with code ${L(E,10)}\
: ${ze(E,Sn)}`);if(f===3&&a===1)return Y(E);if(f===3&&a>=rr)T(`packet type ${a} must be understood and is unknown`);else{if(f===4)return N();if(f===6)return V?.
cancel(a,L(E));if(f===8)T("a stray hand-off");else{if(Te&&(ne||f!==3&&f<8))return t.answered(),ne?Te.items(a===6,E):Te.packet(f,h);if(f===2){let ke=a-R&32767;if(a>=
32768&&ke&&ke<=16384)return R=a,V?V.packet(a,2,h,!0):y(a,B(12,"no service is served"))}}}}++oe>sr&&k("too many stray packets")},Y=a=>{for(;K(a);){let f=Ut(a),h=[
...p,...o?.services??[]].find(E=>E.fingerprint===f);l(2,3,E=>on(E,f,h?.layout))}},te=a=>{(K(a)>bn||ie(a,4)!=="fris"||!Q(a))&&T("no HELLO");let f=new Set,h=0;try{
for(;K(a);){h=Q(a);let E=X(he(a));if(h>=nr&&T("must be understood and is unknown"),(h<7||h===8||h===34||h===35)&&(f.has(h)&&T("occurs twice"),f.add(h)),h in I)I[h]=
Oe(E);else if(h===8)Oe(E);else if(h===32||h===33){let ne=sn(E);h===32&&d.set(...ne)}}}catch(E){T(`HELLO item ${h}: ${E.message}`)}I[3]=Math.min(I[3],Re),v.isUp=
!0,clearTimeout(Me),t.room(v)},ye=a=>{m[a%Re]=void 0,b--===I[3]&&t.room(v)},ce=(a,f)=>{i.set(f,a),a.begin(v,f,I[4])},x=()=>{J&&b===g&&!i.size&&!V?.progress.size&&
queueMicrotask(()=>k(An))},N=()=>{J||(J=!0,t.closing(v,An),x())},k=a=>{F||(ee(),Z(f=>f.close()),$(a))},$=a=>{if(F)return;F=!0,clearInterval(G),clearTimeout(Me),
t.closing(v,a),v.isUp=!1;let f=new O(14,`the connection was lost: ${a}`);for(let h of m)h&&!h.isGivenUp&&t.lost(h,f);for(let h of i.values())h.lost(f);V?.down(f);
for(let h of r)h.down(v,f)},v={isUp:!1,isFull:!1,write:l,reset:c,refuse:y,announce(a){let f=d.get(a.name),h=f?.fingerprint===a.fingerprint&&`${f.operations}`==`${a.
operations}`;if(!p.has(a)){for(let E of p)if(E.operations.some(ne=>a.operations.includes(ne)))throw B(9,`${E.name} has operations of ${a.name}: use another chan\
nel`);h||l(3,3,ct,a),p.add(a)}},call(a,f){if(v.isFull||b>=I[3])return!1;do A=(A+1)%gn;while(m[A%Re]);let h=a.id=A;m[h%Re]=a,b++;try{l(h,a.operation,f,a)}catch(E){
throw ye(h),E}return!0},cancel(a){F||(a.isGivenUp=!0,l(a.id,6,D,a.operation),++g>=or&&N(),x())},open(a,f){if(!I[2])throw B(12,"the server does not accept stream\
s");if(v.isFull||w>=Math.min(I[2],28672))return!1;do M=M%32767+1;while(i.has(M));let h=M;i.set(h,a),w++;try{l(h,2,f)}catch(E){throw v.over(h),E}return a.begin(v,
h,I[4]),!0},accept:ce,over(a){i.delete(a),a<32768&&(w--,t.room(v)),x()},drain:N,closeIfIdle:x},V=o?.on(v),Me=Le(cr,()=>k("handshake timeout")),Ke=()=>{s.isFlat=
ve?.isFlat,l(0,3,a=>{re(a,fe("fris"));let f=V?yt:0;[Bt,f,f,ht].forEach((h,E)=>pe(a,E+1,()=>D(a,h)));for(let h of o?.services??[])pe(a,32,()=>ct(a,h));for(let h of n)
pe(a,33,()=>ct(a,h))}),l(1,0),ee(),!F&&(G=setInterval(()=>{if(++_>ur)return k("keepalive timeout");(_>1||!q)&&l(0,0),q=!1;let a=performance.now();for(let f of m)
f&&f.until<=a&&!f.isGivenUp&&t.expired(f)},dr))},ve,Kt=a=>ve?a():queueMicrotask(a),jt=a=>Kt(()=>$(a));try{ve=e({open:()=>Kt(Ke),data:S,close:jt})}catch(a){jt(Pe(
a))}return v}function bt(e,t){let n=[],o=0,r=!1,s=()=>{},i=A=>{r||=A,s()},d=()=>n[o],p=()=>{let A=d();return A!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),A},m=()=>{n=[],o=0},b=(async function*(){try{for(;;){let A=p();if(A!==void 0){let w=e(A);w!==void 0&&(yield w)}else if(r){if(r!==!0)throw r;return}else await new Promise(
w=>s=w)}}finally{t()}})(),{return:g}=b;return b.return=()=>(t(),m(),i(!0),g.call(b,void 0)),{messages:b,first:d,take:p,clear:m,put:A=>{n.push(A),s()},end:i}}var Pt=64,pr=4,mr=4096,gt=(e,t)=>e instanceof Ae?new O(13,`not a valid ${t.name}: ${e.message}`):O.from(e);function vt(e,t,n,o,r){let s,i=0,d=0,p=0,m=0,b=!0,g=!0,
A=!1,w=!1,M=!1,R=()=>{},I,F=()=>!b&&!g,{messages:J,clear:j,put:H,end:oe}=bt(l=>{let c=l.length+Pt;p-=c,m+=c,g&&m*pr>=ht&&(s?.write(i,5,D,m),m=0);try{let y=X(l),
S=mt(y,Lt);if(S)throw S;return Ue(y,t)}catch(y){throw gt(y,t)}},()=>n?G(!0):ee()),z=Object.assign(J,{metadata:{}}),P=()=>{F()&&(R(),I?.(),s?.over(i),s=I=void 0,
o())},W=l=>{g=!1,oe(l),P()},q=()=>{b&&(b=!1,s?.write(i,7),P())},_=l=>{b=g=!1,oe(l),P()},G=(l,c=_e(!0))=>{F()||s?.reset(i,c),j(),_(l)},Z=l=>G(l,l),ee=()=>{j(),A=
!0},se=l=>{if(!(!s||!b)){if(l instanceof O)return u(6,c=>yn(c,l)),b=!1,P();s.write(i,2,c=>{let{at:y}=c;He(c,e,l),d-=c.at-y+Pt})}},u=(l,c)=>s?.write(l,3,y=>{D(y,
i),c(y)});return{messages:z,begin(l,c,y){s=l,i=c,d=y},packet(l,c){if(l===2)return w=!0,!g||A?void 0:p+m>=ht?Z(new O(8,"the peer exceeded its credit")):(p+=c.length+
Pt,H(new Uint8Array(c)));let y=X(c);if(l===5){let S=Oe(y);M||=!S,(d+=S)>0&&R()}else if(c.length){let S=ot(L(y,10));_(new O(S,ze(y,mr),{mayHaveRun:!M}))}else W(!0)},
items(l,c){if(g){!l&&w&&T("late HEADERS"),w=!0;try{if(l)return W(mn(c)??!0);r?.(z.metadata=pt(c).metadata)}catch(y){Z(gt(y,t))}}},send:se,async pump(l,c){try{let y=l,
S=y?.[Symbol.asyncIterator]?.()??y?.[Symbol.iterator]?.();if(!S)throw B(3,`messages of a stream are an iterable, not ${String(l)}`);for(I=async()=>{try{await S.
return?.()}catch{}},n||u(5,()=>{});;){for(;d<=0&&!F();)await new Promise(te=>R=te);if(F())return;let{done:C,value:Y}=await S.next();if(F())return;if(C)break;se(
Y)}I=void 0,q()}catch(y){if(!n)throw I?.(),I=void 0,y;G(c?rt(y):O.from(y))}},finish:q,discard:ee,fail:Z,lost:_}}var yr=3e4,hr=5e3,br=20,wn=2e3,En=10,At=class{constructor(t,{timeout:n,reconnectTimeout:o=hr,metadata:r,serve:s,stayConnected:i}={}){let d,p=0,m=En,b=0,g,A=!1,w="",
M=[new Set,new Set],R=({method:{sends:u,receives:l}})=>M[u||l?1:0],I=new Set,F=[],J=()=>{d||g||A||!(M[0].size||M[1].size||i)||(b=performance.now(),d=xn(t,j,[...I],
s,F))},j={room:u=>queueMicrotask(()=>{for(let l of M)for(let c of l){if(d!==u||!H(c,u))break;d===u&&l.delete(c)}}),closing(u,l){if(d===u){if(d=void 0,w=l,u.isUp)
for(let c of M)c.forEach(z);u.isUp&&performance.now()-b>=wn?p=0:A||(clearTimeout(g),g=Le(Math.random()*Math.min(br*2**Math.min(p++,16),wn),()=>{g=void 0,J()})),
J()}},answered:()=>void(p=0),replied(u,l){let c=u,{method:{reply:y},options:{onMetadata:S}}=c;W(c);try{let C=X(l),Y=ft(C),te=mt(C,Y);if(te)throw te;C.at&&S?.(Y.
metadata),c.resolve(Ue(C,y)),m<En&&(m+=.1)}catch(C){c.reject(gt(C,y))}},expired:u=>P(u),lost(u,l){let c=u;if(c.link=void 0,!c.method.idempotent||m<1)return q(c,
l);m--,oe(c)}},H=(u,l)=>{let{service:c}=u;try{return c&&l.announce(c),u.start(u,l)&&(u.isSent=!0)}catch(y){return q(u,O.from(y)),!0}},oe=u=>{if(!(d?.isUp&&H(u,d))){
if(A)return q(u,Tn(u.isSent));R(u).add(u),J(),z(u)}},z=u=>{u.reconnectsUntil=performance.now()+(u.options.reconnectTimeout??o),P(u)},P=u=>{let{until:l,isSent:c,
reconnectsUntil:y}=u,S=performance.now(),C=R(u).has(u)&&!d?.isUp&&`no connection to the server${w&&`: ${w}`}`;clearTimeout(u.timer),S>=l?q(u,st(c,C?`; ${C}`:"")):
S>=y&&C?q(u,je(14,C,c)):u.timer=Le((S<y?Math.min(l,y):l)-S,()=>P(u))},W=u=>{R(u).delete(u),clearTimeout(u.timer),u.options.signal?.removeEventListener("abort",u.
abort)},q=(u,l)=>{W(u),u.link?.cancel(u),u.reject(l)},_=(u,{sentTimeout:l,until:c,options:{metadata:y}})=>{(l!==void 0||r||y)&&$t(u,{timeout:l&&c-performance.now(),
metadata:{...r,...y}})},G=(u,l)=>{_(u,l),He(u,l.method.request,l.request)},Z=(u,l)=>{let c=l.call(u,G);return c&&(u.link=l),c},ee=(u,l,c,y,S,C,Y,te,ye=1/0)=>{let{
signal:ce}=y,x={id:0,operation:l.operation,until:performance.now()+ +(S??ye),isGivenUp:!1,isSent:!1,reconnectsUntil:1/0,timer:void 0,link:void 0,service:u,method:l,
request:c,options:y,sentTimeout:S,start:C,resolve:Y,reject:te,abort:ce&&(()=>q(x,_e(x.isSent)))};return Number.isNaN(x.until)?te(B(3,"the timeout is not a numbe\
r; it is in milliseconds")):ce?.aborted?x.abort?.():(ce?.addEventListener("abort",x.abort),S!==void 0&&P(x),(S===void 0||S>0)&&oe(x)),x},se=(u,l,c,y={})=>{let S,
C=vt(l.request,l.reply,!0,()=>S&&W(S),y.onMetadata);return S=ee(u,l,c,y,y.timeout,(Y,te)=>{let ye=te.open(C,ce=>{_(ce,Y),U(ce,9),D(ce,Y.operation)});return ye&&
C.pump(c,l.sends),ye},()=>{},C.fail),C};this.unary=(u,l,c,y={})=>new Promise((S,C)=>void ee(u,l,c,y,y.timeout??n,Z,S,C,yr)),this.serverStreaming=(u,l,c,y)=>se(u,
l,[c],y).messages,this.twoWay=(u,l,c,y)=>se(u,l,c,y).messages,this.clientStreaming=async(u,l,c,y)=>{let{messages:S}=se(u,l,c,y),{done:C,value:Y}=await S.next();
if(C)throw new O(13,"there is no reply");return S.return?.(),Y},this.name=u=>void I.add(u),this.mount=u=>void F.push(u),this.connected=(u,l)=>new Promise((c,y)=>{
ee(void 0,{},void 0,{reconnectTimeout:l},void 0,(S,C)=>C.isFull?!1:(u?.(C),W(S),c(C),!0),c,y)}),this.close=()=>{A=!0,clearTimeout(g);for(let u of M)for(let l of u)
q(l,Tn(l.isSent));d?.drain()},i&&queueMicrotask(J)}},Tn=e=>je(9,"the channel is closed",e);function _t(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(i,d)=>t[r]?.(i,d)});return{services:[
...n?.services??[],e],methods:o,on(r){let s=new Map,i=0,d=(p,m)=>{let b=o.get(p);if(!b||!(b.method.sends||b.method.receives)===m)throw B(12,`unknown operation ${p}`);
if(s.size>=yt||i>=yt)throw B(8,"too many calls are in progress");return b};return{progress:s,packet(p,m,b,g){let A,w=R=>r.write(p,m,I=>{R instanceof O?hn(I,R):He(
I,A.reply,R)}),M=g?p:kn(p,m);s.has(M)&&T("a request with the id of another");try{let R=X(b),{timeout:I,metadata:F}=ft(R,!0);g&&(me(R,9),m=L(R,3));let J=d(m,g);if(I===
0)throw B(4,"deadline exceeded");({method:A}=J);let j=g||Ue(R,A.request),H=new AbortController,oe=!1,z=_=>{oe||(oe=!0,clearTimeout(q),_||H.abort(),s.delete(M),r.
closeIfIdle())},P=g?vt(A.reply,A.request,!1,()=>z(!1)):{send(_){oe||(w(_),z(!0))},fail:w,finish(){},discard(){}},W=_=>{P.fail(_),z(!1)},q=I===void 0?void 0:Le(I,
()=>W(st(!0)));s.set(M,W),g&&r.accept(P,p),i++,gr(J,g,j,P,{signal:H.signal,metadata:F}).finally(()=>i--)}catch(R){let I=R instanceof Ae?B(3,`malformed request: ${R.
message}`):O.from(R);g?r.refuse(p,I):w(I)}},cancel(p,m){s.get(kn(p,m))?.(_e(!0))},down(p){for(let m of s.values())m(p)}}}}}var kn=(e,t)=>t*65536+e;async function gr({
method:e,handler:t},n,o,r,s){let i=!1;try{if(e.sends)o=r.messages;else if(n){let p=await r.messages.next();if(p.done)throw B(3,"no request");o=p.value}i=!0;let d=t(
o,s);e.receives?await r.pump?.(d):(r.send(await d),r.finish())}catch(d){try{r.send(i?rt(d):O.from(d))}catch(p){r.send(new O(13,Pe(p)))}}r.discard()}var Xe=65280,vr=16<<20,Ft=64,Ar=255,Sr=65536,xr=4,St={now:0,last:1,oldest:2},Cn=e=>B([8,12,7][Q(e)-3]??3,ie(e,K(e))),In=e=>{let t=L(e);return t>Ar&&T("a topic i\
s too long"),ie(e,t)},Mn=new WeakMap,Ye=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this,o=Mn.get(t);if(o)return o;Mn.
set(t,this),t.mount({packet:(r,s,i,d)=>{if(i<Xe)return!1;!s&&i===Xe+5&&(this.refused??=Cn(X(d)));for(let p of s?[n.get(s)]:n.values())p?.packet(r,s,i-Xe,X(d));return!0},
down(r,s){for(let i of[...n.values()])i.down(r,s)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(
o=>o.write(0,Xe+2,r=>{Ne(r,fe(t)),re(r,Dt(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){
let{channel:s,requests:i}=this;do this.last=this.last%65535+1;while(i.has(this.last));let d=this.last;return new Promise((p,m)=>{let b,g=0,A=0,w=!1,{first:M,messages:R,
put:I,end:F,take:J}=bt(x=>(g-=x.payload.length+Ft,x),()=>{i.delete(d)&&n!==void 0&&b?.isUp&&b.write(d,Xe+1)}),j=x=>{i.delete(d),m(x),F(x)},H=o?[]:n?.split(".")??
[],oe=H[H.length-1]===">",z=x=>{let N=x.split(".");return(oe?N.length>=H.length:N.length===H.length)&&H.every((k,$)=>k===">"||k==="*"||k===N[$])},P=t===0&&!o&&r!==
void 0,W=typeof r=="object";if(W&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0))throw B(3,`${r.epoch}, ${r.offset} is not a position`);let q=W||r===void 0?St.oldest:
St[r],_=new Map(W?[[n,{...r,offset:r.offset+1}]]:[]),G=new Map,Z=0,ee="",se=!1,u=!1,l=!1,c=!1,y=!1,S=x=>{b?.write(d,Xe+x,N=>{if(n!==void 0&&Ne(N,fe(n)),x===6){U(
N,q);for(let[k,$]of _){Se(N,k);for(let v=0;v<16;v+=2)U(N,parseInt($.epoch.slice(v,v+2),16));D(N,$.offset)}}else re(N,fe(o))})},C=()=>{let x=_.size>0;return _=new Map,
q=St.now,se=!1,l=!0,x},Y=x=>{s.connected(N=>{if(i.has(d)){b=N;try{S(P?6:t)}catch(k){if(!u||!C())throw k;S(6)}}},x).catch(N=>{u&&N.code===9&&F(!0),j(N)})},te=()=>{
y=!0,u&&(l||!(P&&c))&&(w=!0),p(R)},ye=x=>Array.from(he(x,8),N=>N.toString(16).padStart(2,"0")).join(""),ce=(x,N,k)=>{if(N===5&&x&&!y&&P&&k.bytes[k.at]===xr)l=!0,
S(0);else if(N===5&&x&&!y&&u&&C())S(6);else if(N===6&&x&&k.bytes[k.at]===0){Q(k),c=Q(k)===1;let $=ye(k);Z=L(k,10);let v=ee!==""&&ee!==$,V=!n?.match(/[*>]/)&&_.size>
0;ee=$,te(),l=!1,w||=V?!Z:v}else if(N===7)for(;K(k);){let $=In(k),v={epoch:ye(k),offset:L(k,10)};if(Number.isSafeInteger(v.offset)||T("an integer is beyond 2^53"),
!y||!x&&!z($))continue;let V=G.get($);x&&!V?(Z--,V=_.get($)??(se?{...v,offset:1}:void 0)):!x&&V?.epoch!==v.epoch&&(V=void 0),V&&c&&(V.epoch===v.epoch&&V.offset<=
v.offset?A+=v.offset-V.offset:w=!0),G.size>=Sr&&(G.clear(),l=!0),G.set($,v)}else return!1;return!0};i.set(d,{packet(x,N,k,$){if(!(x!==b||P&&ce(N,k,$)))if(k===2){
let v=In($);if(!N&&(!y||!z(v)))return;let V=Be($),Me=G.get(v);for(Me&&G.set(v,{...Me,offset:Me.offset+1}),g+=V.length+Ft,I({topic:v,payload:V,position:Me,lagged:A,
reconnected:w}),A=0,w=!1;g>vr;){let Ke=J();g-=Ke.payload.length+Ft;let ve=M();ve.lagged+=Ke.lagged+1,ve.reconnected||=Ke.reconnected}}else k===4?P&&c&&y||(A+=L(
$,10)):N&&(K($)?j(Cn($)):te())},down(x,N){if(x===b){if(n===void 0||!y&&!u)return j(N);if(y)if(Z>0)for(let[k,$]of G)_.set(k,$);else l?C():(_=G,q=St.oldest,se=!0);
G=new Map,y=!1,u=!0,Y(1/0)}}}),Y()})}};var xt="frisbee.1";function Nn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[xt,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===xt)return o.
open();s=`the server does not speak ${xt}`,r.close()},r.onmessage=({data:i})=>{i instanceof ArrayBuffer?o.data(new Uint8Array(i)):r.close()},r.onerror=({message:i=""})=>void(s||=
i),r.onclose=({code:i,reason:d})=>{o.close(s||`the WebSocket was closed (${i}${d&&`, ${d}`})`)},{send:i=>r.send(i),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Vt=(e,t={})=>new At(Nn(e,t),t);var ue={BUY:0,SELL:1},Ht=be("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[On,On,Er]),Er=be("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ue]),Un=be("exchange.Inquiry","side:e amount:u",()=>[ue]),On=be("exchange.Level","price:u amount:u"),Tr=be("exchange.Nothing",""),Rn=be("exchange.Offer",
"price:u called:u answered:u"),kr=be("exchange.Order","number:u side:e price:u amount:u",()=>[ue]),Cr=be("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ue]),De=ut("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Tr,reply:Ht},trade:{operation:11,request:kr,reply:Cr,
sends:!0,receives:!0},inquire:{operation:12,request:Un,reply:Rn}}),wt=class{constructor(t){this.channel=t,t.name(De)}look(t,n){return this.channel.unary(De,De.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(De,De.methods.trade,t,n)}inquire(t,n){return this.channel.unary(De,De.methods.inquire,t,n)}},Ln=ut("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Un,reply:Rn}});var Xt=240,_n=8,de=e=>document.getElementById(e),le=(e,t)=>void(de(e).textContent=t),ge=e=>(e/100).toFixed(2),Et=e=>e===ue.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Ir(e,t){let n=de(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>_n;)n.lastElementChild?.remove()}var Je=new Map,Dn=0,$n=0,Fn=()=>{},Wt=[];async function*Mr(){for(;;){let e=Wt.shift();
e?yield e:await new Promise(t=>Fn=t)}}function Nr({number:e,amount:t,price:n,left:o}){let r=Je.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===ue.BUY?
1:-1;Dn+=s*t,$n-=s*t*n,le("held",String(Dn)),le("cash",ge($n));let i=[...Je.values()].reverse().slice(0,_n).map(({order:d,done:p,left:m})=>ae("tr",[ae("td",`${Et(
d.side)} ${d.amount}`,Et(d.side)),ae("td",ge(d.price)),ae("td",String(p)),ae("td",String(m))]));de("orders").replaceChildren(...i)}de("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ue.SELL:ue.BUY,o={number:Je.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Je.set(o.number,{order:o,done:0,left:o.amount}),Wt.push(o),Fn()});var Ge=0,qt=0,We,Ie=[];function Bn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));de(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ae("li",[s,ae("span",ge(o)),ae("span",String(r))])}))}function Or(e){for(let{number:o,price:r}of[...e].reverse())o>qt&&Ie.push(r);Ie.splice(0,Ie.length-Xt);let[
t]=e;if(!t||t.number===qt)return;qt=t.number;let n=t.price-Ge;Ge&&n&&(le("change",`${n>0?"▲":"▼"} ${ge(Math.abs(n))}`),de("change").dataset.side=n>0?"buy":"\
sell"),Ge=t.price,le("last",ge(Ge)),de("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ae("li",[ae("span",o===ue.BUY?"bought":"sold",Et(o)),ae("s\
pan",ge(r)),ae("span",String(s))]))),Gt()}function Pn({bids:e,asks:t,deals:n,traders:o,orders:r}){Bn("asks",t),Bn("bids",e),t[0]&&e[0]&&le("spread",`${ge(t[0].price-
e[0].price)} apart`),le("traders",String(o));let s=performance.now();(!We||s-We.at>1e3)&&(We&&le("rate",((r-We.orders)/((s-We.at)/1e3)).toFixed(0)),We={orders:r,
at:s}),Or(n)}function Gt(){let e=de("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Ie.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),i=de("state"),d=Math.min(...Ie)-2,p=Math.max(...Ie)+2,m=n-56,b=w=>w/(Xt-1)*m,g=w=>(p-w)/(p-d)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(i).color,t.lineWidth=.5;for(let w=0;w<5;w++){let M=d+(p-d)*w/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,g(M)),t.lineTo(m,g(M)),t.stroke(),t.globalAlpha=1,t.fillText(ge(M),m+8,g(M)+4)}let A=Xt-Ie.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Ie.
forEach((w,M)=>t.lineTo(b(A+M),g(w))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(b(A),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Gt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Gt);var Ur=_t(Ln,{quote:({side:e,amount:t})=>{let n=Math.round(Number(de("margin").value)*100),o=Ge&&Ge+
(e===ue.BUY?n:-n);return Ir("asked",ae("li",`${Et(e)} ${t}? You said ${ge(o)}.`)),{price:o}}}),{hostname:Rr}=location,Vn=Vt(`ws://${Rr}:${document.documentElement.
dataset.port}/`,{serve:Ur,stayConnected:!0}),Tt=new wt(Vn),Lr=new Ye(Vn);de("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await Tt.inquire({side:ue.BUY,amount:10}),i=(performance.now()-n).toFixed(0);le(
"offer",o?`${ge(o)} is the best of ${s} of ${r}, after ${i} ms.`:`None of ${r} had a price.`)}catch(n){le("offer",O.from(n).message)}t.disabled=!1});async function Dr(){
for(;;){try{let e=await Lr.subscribe("exchange.book"),t=Tt.trade(Mr()),n=(async()=>{for await(let r of t)Nr(r)})();de("state").dataset.is="open",le("state","con\
nected"),Pn(await Tt.look({}));let o=(async()=>{for await(let{payload:r}of e)Pn(Nt(Ht,r))})();await Promise.race([n,o])}catch(e){de("state").dataset.is="failed",
le("state",O.from(e).message)}Wt.length=0;for(let e of Je.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Dr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await Tt.look({},{timeout:5e3}),le("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{le("ping","–")}},2e3);
