var Wn=new TextEncoder,Gn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),zt=40,ve=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
k=e=>{throw new ve(e)},Y=e=>({bytes:e,at:0,depth:0,memory:0}),et=(e=64)=>Y(new Uint8Array(e)),tt=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,fe=e=>Wn.encode(
e);function nt(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function R(e,t){e.at===e.bytes.
length&&nt(e,1),e.bytes[e.at++]=t}function Yt(e,t){R(e,t>>8),R(e,t)}function D(e,t){for(;t>127;t=Math.floor(t/128))R(e,t|128);R(e,t)}function re(e,t){nt(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Me(e,t){D(e,t.length),re(e,t)}function Ae(e,t){let{at:n}=e,{length:o}=t,r=o>zt?128:0;R(e,o);for(let s=0;s<o&&r<128;s++)
R(e,r=t.charCodeAt(s));r>127&&(e.at=n,Me(e,fe(t)))}function pe(e,t,n){R(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Me(e,r),r.length>0}var rt=({
bytes:e,at:t})=>e.subarray(0,t),K=({bytes:e,at:t})=>e.length-t,ke=({bytes:e,at:t})=>e[t],j=e=>e.bytes[e.at++]??k("truncated");function me(e,t){let n=j(e);n!==t&&
k(`found byte ${n}, expected ${t}`)}function U(e,t=5){let n=0;for(let o=1,r=t;r-- >0;o*=128){let s=j(e);if(n+=(s&127)*o,s<128)return t>5?n:n>>>0}return k("a num\
ber is too long")}function Ne(e){let{at:t}=e,n=U(e,10);return(K(e)||e.bytes[t+9]>1)&&k("malformed number"),n}function $e(e,t=U(e)){return t>K(e)&&k("truncated"),
e.bytes.subarray(e.at,e.at+=t)}var je=e=>Y($e(e,U(e,10))),Be=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function ie(e,t=U(e)){let{bytes:n,at:o}=e,r="",s=0;
if(t<=zt)for(let d;s<t&&(d=n[o+s])<128;s++)r+=String.fromCharCode(d);if(s<t){let d=$e(e,t);try{return Gn.decode(d)}catch{k("a text is not UTF-8")}}return e.at+=
t,r}var O=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:d={},mayHaveRun:a=!0}=r??{};Object.assign(this,
{details:s,metadata:d,mayHaveRun:a,code:n})}static from(n){return n instanceof e?n:new e(2,Pe(n),{cause:n})}};var Pe=e=>e instanceof Error?e.message:String(e),B=(e,t)=>new O(e,t,{mayHaveRun:!1}),ot=e=>{let t=O.from(e);return t.mayHaveRun?t:new O(t.code,t.message,{...t,mayHaveRun:!0})},
st=e=>e>0&&e<=16?e:2,Qe=(e,t,n)=>new O(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),_e=e=>Qe(1,"the caller cancelled the call",e),it=(e,t="")=>Qe(4,`deadline exceeded${t}`,
e);var ut=100,Kn=64<<20,jn=12,Mt=8,Nt=56,Ct=new Uint8Array(8),Jt=new DataView(Ct.buffer);function he(e,t,n){let o;return{name:e,fields:()=>o??=Qn(t,n?.()??[])}}function Ot(e,t){let n=o=>o.toString(16).padStart(2,"0");return t[0]===18&&k(`message ${e.name} with the layout ${[...t.subarray(1,17)].map(n).join("")} cannot \
be compared`),Oe(Y(t),e)}function He(e,t,n){e.depth=ut,tn(e,t,n)}function Oe(e,t){return e.depth=ut,e.memory=Math.max(Kn,K(e)*jn),nn(e,t)??rn(e,t)}function Qn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!s)throw new Error(`invalid table entry:\
 ${r}`);let[,d,a,m,c,b]=s,g=b==="m"?Jn(t[o++]):b==="e"?er(t[o++]):dt[b],S=dt[c[1]??""],w=S?[2,S.wire,g.wire,10]:c==="*"?[1,g.wire,10]:void 0,N=a?n.get(a):void 0;
a&&!N&&n.set(a,N=[]);let L={name:a??d,of:g,isOptional:c==="?",key:S,head:w,case:d,number:+m,all:N};return N?.push(L),L})}var lt=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function tn(e,t,n){if(!e.depth--)throw en(t.name,`nests deeper than ${ut}`);R(e,8),R(e,0);let o="";try{for(let r of t.fields()){let{
all:s,name:d}=r,a=n[o=d];if(!s)zn(e,r,a);else if(e.isFlat||r===s[0]){let m=a,c=s.find(g=>g.case===m?.case);if(m&&!c)throw new Error(`has no member ${m.case}`);e.
isFlat||(R(e,3),D(e,c?c.number:0));let b=e.isFlat?r:c;b&&Fe(e,b.of,b===c?m?.value:void 0)}}}catch(r){throw r instanceof O?r:en(`${t.name}.${o}`,r.message)}e.depth++}
function zn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=lt(t)),o){let d=n,a=n,m=r?d.size:a.length;xe(m>=0,n);for(let c of o)R(e,c);if(D(
e,m),r)for(let[c,b]of d)Fe(e,r,c),Fe(e,s,b);else for(let c of a)Fe(e,s,c)}else n===void 0&&t.isOptional&&!e.isFlat?R(e,0):Fe(e,s,n)}function Fe(e,t,n){t.table||
R(e,t.wire),t.put(e,n===void 0?t.zero():n)}function nn(e,t){if(ke(e)===0)return void e.at++;me(e,8),j(e),e.depth--||k(`${t.name} nests deeper than ${ut}`);let n=t.
fields();Ut(e,Nt+Mt*n.length);let o={},r="";for(let s of n){let{name:d,all:a,of:m}=s,c=a&&a[0]===s;if(c&&(o[d]=void 0),!a)o[d]=Yn(e,s);else if(c&&ke(e)===3){e.at++,
r+=` ${d} `;let b=U(e),g=a.find(S=>S.number===b);g?o[d]={case:g.case,value:It(e,g.of)}:b&&k(`${t.name}.${d} has no member ${b}`)}else if(!r.includes(` ${d} `)){
let b=ze(e,m);(b instanceof Uint8Array?b.length:!Object.is(b,m.zero()))&&(o[d]={case:s.case,value:b})}}return e.depth++,o}function Yn(e,t){let{head:n,key:o,of:r}=t;
if((o||t.isOptional)&&ke(e)===0)return e.at++,lt(t);if(!n)return ze(e,r);for(let a of n)me(e,a);let s=U(e),d=lt(t);for(;s-- >0;)Ut(e,o?Nt:Mt),o?d.set(ze(e,o),It(
e,r)):d.push(It(e,r));return d}function ze(e,{wire:t,table:n,take:o,isEnum:r}){return r&&ke(e)===12?ze(e,dt.i):(n||me(e,t),o(e))}var It=(e,t)=>ze(e,t)??rn(e,t.table);
function rn(e,t){let n={},o=t.fields();Ut(e,Nt+Mt*o.length);for(let r of o)n[r.name]=r.all?void 0:lt(r);return n}function Ut(e,t){(e.memory-=t)<0&&k("exceeds th\
e memory limit")}var Se=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Jn=e=>Se(3,()=>{},(t,n)=>n?tn(t,e,n):R(t,0),t=>nn(t,e),e),Zn=65536;function er(e){let t=Object.
values(e);return{...Se(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),d=r+2147483648,a=r<0&&d>=t.length;xe(s>=0||r===(r|0)&&(a||!o.isFlat),r),s>=0||a&&(o.isFlat||d<Zn)?
D(o,s<0?d:s):(o.at--,Fe(o,dt.i,r))},o=>{let r=U(o),s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&k(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}
var at=(e,t)=>Se(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),d=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(d)&&d>=0)return D(n,d);xe((e?BigInt.asIntN:
BigInt.asUintN)(64,r)===r,o);let a=e?r<<1n^r>>63n:r;for(;a>>53n;a>>=7n)R(n,Number(a&127n)|128);D(n,Number(a))},n=>{let{at:o}=n,r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)
e&&(r=r%2?(r+1)/-2:r/2);else{let s=0n;for(let d=0n;o<n.at;d+=7n)s|=BigInt(n.bytes[o++]&127)<<d;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(
Number(r))||k("an integer is beyond 2^53"),Number(r)):BigInt(r)}),Zt=(e,t)=>Se(e,()=>0,(n,o)=>{xe(typeof o=="number",o),Jt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)R(n,Ct[r])},n=>{for(let o=0;o<t;o++)Ct[o]=j(n);return Jt[t>4?"getFloat64":"getFloat32"](0)}),dt={b:Se(7,()=>!1,(e,t)=>{xe(typeof t=="boolean",t),R(e,+t)},
e=>{let t=j(e);return t>1&&k(`a bool is ${t}`),t>0}),i:Se(12,()=>0,(e,t)=>{xe(t===(t|0),t),D(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>1^-(t&1)}),u:Se(10,()=>0,
(e,t)=>{xe(t===t>>>0,t),D(e,t)},e=>U(e)),l:at(!0,!1),w:at(!1,!1),L:at(!0,!0),W:at(!1,!0),f:Zt(14,4),d:Zt(15,8),s:Se(5,()=>"",(e,t)=>{xe(typeof t=="string",t),R(
e,10),Ae(e,t)},e=>(me(e,10),ie(e))),y:Se(4,()=>new Uint8Array,(e,t)=>{xe(tt(t),t),R(e,10),Me(e,t)},e=>(me(e,10),new Uint8Array($e(e))))},en=(e,t)=>B(3,`${e} ${t}`);
function xe(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var ct=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)}),on=(e,t)=>t.match(/../g)?.forEach(
n=>R(e,parseInt(n,16)));function ft(e,t){Ae(e,t.name),on(e,t.fingerprint);let n=0;for(let o of t.operations)D(e,o-n),n=o}function Rt(e){let t="";for(;t.length<32;)
t+=j(e).toString(16).padStart(2,"0");return t}function sn(e,t,n=""){for(let o of atob(n))R(e,o.charCodeAt(0));n||(R(e,0),on(e,t))}function an(e){let t=ie(e,U(e,
10)),n=[],o={fingerprint:Rt(e),operations:n};for(let r=0;K(e);)n.push(r+=U(e,10));return[t,o]}var ln=16,dn=65536,tr=1e3,un=256,cn=61440,Dt={metadata:{}},fn=e=>[e].flat(),Lt=e=>e.endsWith("-bin"),pn=(e,t)=>Lt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Lt(e)?"":t}`);function $t(e){if(typeof e=="string")return fe(e);if(!tt(e))throw B(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Bt(e,t){
let{at:n}=e;pe(e,ln,()=>mn(e,t))||(e.at=n)}function mn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&pe(e,1,()=>D(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,d=0;for(let[a,m]of Object.entries(n))for(let c of fn(m)){if(!pn(a,c))throw B(3,`invalid metadata entry ${a}: keys hav\
e a-z 0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=a.length+c.length+8,++d>un||s>cn)throw B(8,"too much metadata");pe(e,2,()=>{Ae(e,a),re(e,
$t(c))})}if(o){let{code:a,details:m,mayHaveRun:c}=o;pe(e,3,()=>{D(e,a),e.at-r+m.length+32<=dn&&re(e,m)}),c||pe(e,5,()=>{})}}function pt(e,t=!1){if(ke(e)!==ln)return Dt;
e.at++;let n=je(e);return K(n)>dn&&k("a prefix is too long"),mt(n,t)}function mt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0,d=0;for(;K(e);){let a=j(
e),m=je(e);if(a>127){let c=`prefix item ${a} must be understood and is unknown`;throw t?B(12,c):new ve(c)}if([1,3,5,6,8].includes(a)&&(d>>a&1&&k(`prefix item ${a}\
 occurs twice`),d|=1<<a),a===1)o.timeout=Ne(m)/1e3;else if(a===2){let c=ie(m,U(m,10)),b=Lt(c)?Be(m):ie(m,K(m));s+=c.length+b.length+8,(!pn(c,b)||++r>un||s>cn)&&
k("invalid metadata"),n[c]=c in n?[...fn(n[c]),b]:b}else a===3?(o.code=U(m,10),o.details=Be(m)):a===5?o.isRefused=!0:a===8&&(o.text=Ye(m))}return o}var Ye=(e,t)=>new TextDecoder().
decode(Be(e).subarray(0,t)),yn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new O(st(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function yt(e,t){
if(ke(e)===6)return e.at++,me(e,5),me(e,10),yn(t,ie(e))}function hn(e){let t=mt(e);return t.code??t.isRefused?yn(t,t.text):void 0}function bn(e,t){mn(e,{status:t,
metadata:t.metadata}),pe(e,8,()=>re(e,fe(t.message.slice(0,tr))))}function gn(e,t){Bt(e,{status:t,metadata:t.metadata}),re(e,[6,5,10]),Ae(e,t.message)}var Pt=5<<20,nr=1024,vn=65536,rr=128,or=32768,qe=10,Ue=16384,An=32768,sr=Ue/2,ht=256,bt=262144,ir=1e5,ar=64<<20,Sn=8<<20,lr=10,dr=65536,ur=2e3,cr=5,fr=1e4,xn="t\
he server is going away",wn=200,pr=2147483647,Re=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),pr));function En(e,t,n,o,r){let s=et(16384),d=new Map,a=new Map,m=new Set(
n),c=[],b=0,g=0,S=0,w=0,N=0,L=32767,I=[0,Pt,1/0,Ue,0],F=!1,J=!1,G,H=qe,oe=0,Q=!1,P=0,X=!1,q=!1,_=0,W,Z=i=>{if(!(F||!ge))try{i(ge)}catch(p){$(Pe(p));try{ge.close()}catch{}}},
ee=()=>{s.at&&(X=!1,q=!0,Z(i=>i.send(rt(s))),s.at=P=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),Z(i=>{let p=i.buffered();p>ar?E("too many unsent byt\
es"):p>Sn&&!v.isFull&&(v.isFull=!0,se())}))},se=()=>Z(i=>{if(i.buffered()>Sn/2)return void Re(lr,se);v.isFull=!1,t.room(v)}),u=()=>{s.at!==P?(P=s.at,queueMicrotask(
u)):(Q=!1,ee())},l=(i,p,h,T)=>{let{at:ne}=s;try{nt(s,qe),s.at+=qe,h?.(s,T);let we=s.at,Ee=we-ne-qe,Te=p===3?vn:Math.max(I[1],nr);if(Ee>Te)throw B(8,`the message\
 has ${Ee} bytes of at most ${Te}`);s.at=ne;for(let De of[15,i,p,Ee>>>16,Ee])Yt(s,De);s.at=we}catch(we){throw s.at=ne,we}s.at>dr?ee():Q||(Q=!0,P=0,queueMicrotask(
u))},f=(i,{code:p,message:h},T=7)=>l(i,T,ne=>{D(ne,p),re(ne,fe(h.slice(0,wn)))}),y=(i,p)=>{l(i,5,D,0),f(i,p)},x=i=>{if(!F){if(_=0,G){if(re(G,i),G.at<H)return;i=
rt(G),G=void 0}try{let p=0,h=T=>i[p+T]<<8|i[p+T+1];for(;!F&&!(i.length<(H=p+qe));p=H){h(0)!==15&&k("a header without its magic");let T=h(6)*65536+h(8);if(T>(h(4)===
3?vn:Pt)&&k(`a packet of ${T} bytes`),i.length<(H+=T))break;C(h(2),h(4),i.subarray(p+qe,H))}p<i.length&&(H-=p,re(G=et(),i.subarray(p)))}catch(p){let h=p.message;
v.isUp&&f(4,new O(13,h),3),E(`the server broke the protocol: ${h}`)}}},C=(i,p,h)=>{let T=Y(h),ne=p===3&&(i===5||i===6),we=ne?U(T,10):i;we>65535&&k(`stream ${we}`);
let Ee=d.get(we);if(p>=10){v.isUp||k("a packet before HELLO");let Te=i>=An,De=c[i%Ue];if(!Te&&De?.id===i&&De.operation===p)return ye(i),t.answered(),De.isGivenUp?
g--:t.replied(De,h),A();if(r.filter(Xn=>Xn.packet(v,i,p,h)).length)return;if(Te&&V)return V.packet(i,p,h,!1)}else if(p<2){h.length&&k("a PING with a body"),p===
1?v.isUp||E("the server is a compat peer"):X||(X=!0,l(0,1));return}else{if(p===3&&!v.isUp&&!i)return te(T);if(p===3&&i===4)return E(`closed by the server with c\
ode ${U(T,10)}: ${Ye(T,wn)}`);if(p===3&&i===1)return z(T);if(p===3&&i>=or)k(`packet type ${i} must be understood and is unknown`);else{if(p===4)return M();if(p===
6)return V?.cancel(i,U(T,10));if(p===8)k("a stray hand-off");else{if(Ee&&(ne||p!==3&&p<8))return t.answered(),ne?Ee.items(i===6,T):Ee.packet(p,h);if(p===2){let Te=i-
L&32767;if(i>=32768&&Te&&Te<=16384)return L=i,V?V.packet(i,2,h,!0):y(i,B(12,"no service is served"))}}}}++oe>ir&&E("too many stray packets")},z=i=>{for(;K(i);){
let p=Rt(i),h=[...m,...o?.services??[]].find(T=>T.fingerprint===p);l(2,3,T=>sn(T,p,h?.layout))}},te=i=>{(ie(i,4)!=="fris"||!j(i))&&k("no HELLO");let p=new Set,h=0;
try{for(;K(i);){h=j(i);let T=je(i);if(h>=rr&&k("must be understood and is unknown"),(h&&h<7||h===8||h===34||h===35)&&(p.has(h)&&k("occurs twice"),p.add(h)),h&&h in
I)I[h]=Ne(T);else if(h===8)Ne(T);else if(h===32||h===33){let ne=an(T);h===32&&a.set(...ne)}}}catch(T){k(`HELLO item ${h}: ${T.message}`)}I[3]=Math.min(I[3],Ue),
v.isUp=!0,clearTimeout(Ie),t.room(v)},ye=i=>{c[i%Ue]=void 0,b--===I[3]&&t.room(v)},ce=(i,p)=>{d.set(p,i),i.begin(v,p,I[4])},A=()=>{J&&b===g&&!d.size&&!V?.progress.
size&&queueMicrotask(()=>E(xn))},M=()=>{J||(J=!0,t.closing(v,xn),A())},E=i=>{F||(ee(),Z(p=>p.close()),$(i))},$=i=>{if(F)return;F=!0,clearInterval(W),clearTimeout(
Ie),t.closing(v,i),v.isUp=!1;let p=new O(14,`the connection was lost: ${i}`);for(let h of c)h&&!h.isGivenUp&&t.lost(h,p);for(let h of d.values())h.lost(p);V?.down(
p);for(let h of r)h.down(v,p)},v={isUp:!1,isFull:!1,write:l,reset:f,refuse:y,announce(i){let p=a.get(i.name),h=p?.fingerprint===i.fingerprint&&`${p.operations}`==
`${i.operations}`;if(!m.has(i)){for(let T of m)if(T.operations.some(ne=>i.operations.includes(ne)))throw B(9,`${T.name} has operations of ${i.name}: use another\
 channel`);h||l(3,3,ft,i),m.add(i)}},call(i,p){if(v.isFull||b>=I[3])return!1;do S=(S+1)%An;while(c[S%Ue]);let h=i.id=S;c[h%Ue]=i,b++;try{l(h,i.operation,p,i)}catch(T){
throw ye(h),T}return!0},cancel(i){F||(i.isGivenUp=!0,l(i.id,6,D,i.operation),++g>=sr&&M(),A())},open(i,p){if(!I[2])throw B(12,"the server does not accept stream\
s");if(v.isFull||w>=Math.min(I[2],28672))return!1;do N=N%32767+1;while(d.has(N));let h=N;d.set(h,i),w++;try{l(h,2,p)}catch(T){throw v.over(h),T}return i.begin(v,
h,I[4]),!0},accept:ce,over(i){d.delete(i),i<32768&&(w--,t.room(v)),A()},drain:M,closeIfIdle:A},V=o?.on(v),Ie=Re(fr,()=>E("handshake timeout")),Ke=()=>{s.isFlat=
ge?.isFlat,l(0,3,i=>{re(i,fe("fris"));let p=V?ht:0;[Pt,p,p,bt].forEach((h,T)=>pe(i,T+1,()=>D(i,h)));for(let h of o?.services??[])pe(i,32,()=>ft(i,h));for(let h of n)
pe(i,33,()=>ft(i,h))}),l(1,0),ee(),!F&&(W=setInterval(()=>{if(++_>cr)return E("keepalive timeout");(_>1||!q)&&l(0,0),q=!1;let i=performance.now();for(let p of c)
p&&p.until<=i&&!p.isGivenUp&&t.expired(p)},ur))},ge,jt=i=>ge?i():queueMicrotask(i),Qt=i=>jt(()=>$(i));try{ge=e({open:()=>jt(Ke),data:x,close:Qt})}catch(i){Qt(Pe(
i))}return v}function gt(e,t){let n=[],o=0,r=!1,s=()=>{},d=S=>{r||=S,s()},a=()=>n[o],m=()=>{let S=a();return S!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),S},c=()=>{n=[],o=0},b=(async function*(){try{for(;;){let S=m();if(S!==void 0){let w=e(S);w!==void 0&&(yield w)}else if(r){if(r!==!0)throw r;return}else await new Promise(
w=>s=w)}}finally{t()}})(),{return:g}=b;return b.return=()=>(t(),c(),d(!0),g.call(b,void 0)),{messages:b,first:a,take:m,clear:c,put:S=>{n.push(S),s()},end:d}}var _t=64,mr=4,yr=4096,vt=(e,t)=>e instanceof ve?new O(13,`not a valid ${t.name}: ${e.message}`):O.from(e);function At(e,t,n,o,r){let s,d=0,a=0,m=0,c=0,b=!0,g=!0,
S=!1,w=!1,N=!1,L=()=>{},I,F=()=>!b&&!g,{messages:J,clear:G,put:H,end:oe}=gt(l=>{let f=l.length+_t;m-=f,c+=f,g&&c*mr>=bt&&(s?.write(d,5,D,c),c=0);try{let y=Y(l),
x=yt(y,Dt);if(x)throw x;return Oe(y,t)}catch(y){throw vt(y,t)}},()=>n?W(!0):ee()),Q=Object.assign(J,{metadata:{}}),P=()=>{F()&&(L(),I?.(),s?.over(d),s=I=void 0,
o())},X=l=>{g=!1,oe(l),P()},q=()=>{b&&(b=!1,s?.write(d,7),P())},_=l=>{b=g=!1,oe(l),P()},W=(l,f=_e(!0))=>{F()||s?.reset(d,f),G(),_(l)},Z=l=>W(l,l),ee=()=>{G(),S=
!0},se=l=>{if(!(!s||!b)){if(l instanceof O)return u(6,f=>bn(f,l)),b=!1,P();s.write(d,2,f=>{let{at:y}=f;He(f,e,l),a-=f.at-y+_t})}},u=(l,f)=>s?.write(l,3,y=>{D(y,
d),f(y)});return{messages:Q,begin(l,f,y){s=l,d=f,a=y},packet(l,f){if(l===2)return w=!0,!g||S?void 0:m+c>=bt?Z(new O(8,"the peer exceeded its credit")):(m+=f.length+
_t,H(new Uint8Array(f)));let y=Y(f);if(l===5){let x=Ne(y);N||=!x,(a+=x)>0&&L()}else if(f.length){let x=st(U(y,10));_(new O(x,Ye(y,yr),{mayHaveRun:!N}))}else X(!0)},
items(l,f){if(g){!l&&w&&k("late HEADERS"),w=!0;try{if(l)return X(hn(f)??!0);r?.(Q.metadata=mt(f).metadata)}catch(y){Z(vt(y,t))}}},send:se,async pump(l,f){try{let y=l,
x=y?.[Symbol.asyncIterator]?.()??y?.[Symbol.iterator]?.();if(!x)throw B(3,`messages of a stream are an iterable, not ${String(l)}`);for(I=async()=>{try{await x.
return?.()}catch{}},n||u(5,()=>{});;){for(;a<=0&&!F();)await new Promise(te=>L=te);if(F())return;let{done:C,value:z}=await x.next();if(F())return;if(C)break;se(
z)}I=void 0,q()}catch(y){if(!n)throw I?.(),I=void 0,y;W(f?ot(y):O.from(y))}},finish:q,discard:ee,fail:Z,lost:_}}var hr=3e4,br=5e3,gr=20,Tn=2e3,kn=10,St=class{constructor(t,{timeout:n,reconnectTimeout:o=br,metadata:r,serve:s,stayConnected:d}={}){let a,m=0,c=kn,b=0,g,S=!1,w="",
N=[new Set,new Set],L=({method:{sends:u,receives:l}})=>N[u||l?1:0],I=new Set,F=[],J=()=>{a||g||S||!(N[0].size||N[1].size||d)||(b=performance.now(),a=En(t,G,[...I],
s,F))},G={room:u=>queueMicrotask(()=>{for(let l of N)for(let f of l){if(a!==u||!H(f,u))break;a===u&&l.delete(f)}}),closing(u,l){if(a===u){if(a=void 0,w=l,u.isUp)
for(let f of N)f.forEach(Q);u.isUp&&performance.now()-b>=Tn?m=0:S||(clearTimeout(g),g=Re(Math.random()*Math.min(gr*2**Math.min(m++,16),Tn),()=>{g=void 0,J()})),
J()}},answered:()=>void(m=0),replied(u,l){let f=u,{method:{reply:y},options:{onMetadata:x}}=f;X(f);try{let C=Y(l),z=pt(C),te=yt(C,z);if(te)throw te;C.at&&x?.(z.
metadata),f.resolve(Oe(C,y)),c<kn&&(c+=.1)}catch(C){f.reject(vt(C,y))}},expired:u=>P(u),lost(u,l){let f=u;if(f.link=void 0,!f.method.idempotent||c<1)return q(f,
l);c--,oe(f)}},H=(u,l)=>{let{service:f}=u;try{return f&&l.announce(f),u.start(u,l)&&(u.isSent=!0)}catch(y){return q(u,O.from(y)),!0}},oe=u=>{if(!(a?.isUp&&H(u,a))){
if(S)return q(u,Cn(u.isSent));L(u).add(u),J(),Q(u)}},Q=u=>{u.reconnectsUntil=performance.now()+(u.options.reconnectTimeout??o),P(u)},P=u=>{let{until:l,isSent:f,
reconnectsUntil:y}=u,x=performance.now(),C=L(u).has(u)&&!a?.isUp&&`no connection to the server${w&&`: ${w}`}`;clearTimeout(u.timer),x>=l?q(u,it(f,C?`; ${C}`:"")):
x>=y&&C?q(u,Qe(14,C,f)):u.timer=Re((x<y?Math.min(l,y):l)-x,()=>P(u))},X=u=>{L(u).delete(u),clearTimeout(u.timer),u.options.signal?.removeEventListener("abort",u.
abort)},q=(u,l)=>{X(u),u.link?.cancel(u),u.reject(l)},_=(u,{sentTimeout:l,until:f,options:{metadata:y}})=>{(l!==void 0||r||y)&&Bt(u,{timeout:l&&f-performance.now(),
metadata:{...r,...y}})},W=(u,l)=>{_(u,l),He(u,l.method.request,l.request)},Z=(u,l)=>{let f=l.call(u,W);return f&&(u.link=l),f},ee=(u,l,f,y,x,C,z,te,ye=1/0)=>{let{
signal:ce}=y,A={id:0,operation:l.operation,until:performance.now()+ +(x??ye),isGivenUp:!1,isSent:!1,reconnectsUntil:1/0,timer:void 0,link:void 0,service:u,method:l,
request:f,options:y,sentTimeout:x,start:C,resolve:z,reject:te,abort:ce&&(()=>q(A,_e(A.isSent)))};return Number.isNaN(A.until)?te(B(3,"the timeout is not a numbe\
r; it is in milliseconds")):ce?.aborted?A.abort?.():(ce?.addEventListener("abort",A.abort),x!==void 0&&P(A),(x===void 0||x>0)&&oe(A)),A},se=(u,l,f,y={})=>{let x,
C=At(l.request,l.reply,!0,()=>x&&X(x),y.onMetadata);return x=ee(u,l,f,y,y.timeout,(z,te)=>{let ye=te.open(C,ce=>{_(ce,z),R(ce,9),D(ce,z.operation)});return ye&&
C.pump(f,l.sends),ye},()=>{},C.fail),C};this.unary=(u,l,f,y={})=>new Promise((x,C)=>void ee(u,l,f,y,y.timeout??n,Z,x,C,hr)),this.serverStreaming=(u,l,f,y)=>se(u,
l,[f],y).messages,this.twoWay=(u,l,f,y)=>se(u,l,f,y).messages,this.clientStreaming=async(u,l,f,y)=>{let{messages:x}=se(u,l,f,y),{done:C,value:z}=await x.next();
if(C)throw new O(13,"there is no reply");return x.return?.(),z},this.name=u=>void I.add(u),this.mount=u=>void F.push(u),this.connected=(u,l)=>new Promise((f,y)=>{
ee(void 0,{},void 0,{reconnectTimeout:l},void 0,(x,C)=>C.isFull?!1:(u?.(C),X(x),f(C),!0),f,y)}),this.close=()=>{S=!0,clearTimeout(g);for(let u of N)for(let l of u)
q(l,Cn(l.isSent));a?.drain()},d&&queueMicrotask(J)}},Cn=e=>Qe(9,"the channel is closed",e);function Ft(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(d,a)=>t[r]?.(d,a)});return{services:[
...n?.services??[],e],methods:o,on(r){let s=new Map,d=0,a=(m,c)=>{let b=o.get(m);if(!b||!(b.method.sends||b.method.receives)===c)throw B(12,`unknown operation ${m}`);
if(s.size>=ht||d>=ht)throw B(8,"too many calls are in progress");return b};return{progress:s,packet(m,c,b,g){let S,w=L=>r.write(m,c,I=>{L instanceof O?gn(I,L):He(
I,S.reply,L)}),N=g?m:In(m,c);s.has(N)&&k("a request with the id of another");try{let L=Y(b),{timeout:I,metadata:F}=pt(L,!0);g&&(me(L,9),c=U(L,3));let J=a(c,g);if(I===
0)throw B(4,"deadline exceeded");({method:S}=J);let G=g||Oe(L,S.request),H=new AbortController,oe=!1,Q=_=>{oe||(oe=!0,clearTimeout(q),_||H.abort(),s.delete(N),r.
closeIfIdle())},P=g?At(S.reply,S.request,!1,()=>Q(!1)):{send(_){oe||(w(_),Q(!0))},fail:w,finish(){},discard(){}},X=_=>{P.fail(_),Q(!1)},q=I===void 0?void 0:Re(I,
()=>X(it(!0)));s.set(N,X),g&&r.accept(P,m),d++,vr(J,g,G,P,{signal:H.signal,metadata:F}).finally(()=>d--)}catch(L){let I=L instanceof ve?B(3,`malformed request: ${L.
message}`):O.from(L);g?r.refuse(m,I):w(I)}},cancel(m,c){s.get(In(m,c))?.(_e(!0))},down(m){for(let c of s.values())c(m)}}}}}var In=(e,t)=>t*65536+e;async function vr({
method:e,handler:t},n,o,r,s){let d=!1;try{if(e.sends)o=r.messages;else if(n){let m=await r.messages.next();if(m.done)throw B(3,"no request");o=m.value}d=!0;let a=t(
o,s);e.receives?await r.pump?.(a):(r.send(await a),r.finish())}catch(a){try{r.send(d?ot(a):O.from(a))}catch(m){r.send(new O(13,Pe(m)))}}r.discard()}var Xe=65280,Ar=16<<20,Vt=64,Sr=255,xr=65536,wr=4,xt={now:0,last:1,oldest:2},Mn=e=>B([8,12,7][j(e)-3]??3,ie(e,K(e))),Nn=e=>{let t=U(e,10);return t>Sr&&k("a topi\
c is too long"),ie(e,t)},On=new WeakMap,Je=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this,o=On.get(t);if(o)return o;
On.set(t,this),t.mount({packet:(r,s,d,a)=>{if(d<Xe)return!1;!s&&d===Xe+5&&(this.refused??=Mn(Y(a)));for(let m of s?[n.get(s)]:n.values())m?.packet(r,s,d-Xe,Y(a));
return!0},down(r,s){for(let d of[...n.values()])d.down(r,s)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.
connected(o=>o.write(0,Xe+2,r=>{Me(r,fe(t)),re(r,$t(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){
let{channel:s,requests:d}=this;do this.last=this.last%65535+1;while(d.has(this.last));let a=this.last;return new Promise((m,c)=>{let b,g=0,S=0,w=!1,{first:N,messages:L,
put:I,end:F,take:J}=gt(A=>(g-=A.payload.length+Vt,A),()=>{d.delete(a)&&n!==void 0&&b?.isUp&&b.write(a,Xe+1)}),G=A=>{d.delete(a),c(A),F(A)},H=o?[]:n?.split(".")??
[],oe=H[H.length-1]===">",Q=A=>{let M=A.split(".");return(oe?M.length>=H.length:M.length===H.length)&&H.every((E,$)=>E===">"||E==="*"||E===M[$])},P=t===0&&!o&&r!==
void 0,X=typeof r=="object";if(X&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0))throw B(3,`${r.epoch}, ${r.offset} is not a position`);let q=X||r===void 0?xt.oldest:
xt[r],_=new Map(X?[[n,{...r,offset:r.offset+1}]]:[]),W=new Map,Z=0,ee="",se=!1,u=!1,l=!1,f=!1,y=!1,x=A=>{b?.write(a,Xe+A,M=>{if(n!==void 0&&Me(M,fe(n)),A===6){R(
M,q);for(let[E,$]of _){Ae(M,E);for(let v=0;v<16;v+=2)R(M,parseInt($.epoch.slice(v,v+2),16));D(M,$.offset)}}else re(M,fe(o))})},C=()=>{let A=_.size>0;return _=new Map,
q=xt.now,se=!1,l=!0,A},z=A=>{s.connected(M=>{if(d.has(a)){b=M;try{x(P?6:t)}catch(E){if(!u||!C())throw E;x(6)}}},A).catch(M=>{u&&M.code===9&&F(!0),G(M)})},te=()=>{
y=!0,u&&(l||!(P&&f))&&(w=!0),m(L)},ye=A=>Array.from($e(A,8),M=>M.toString(16).padStart(2,"0")).join(""),ce=(A,M,E)=>{if(M===5&&A&&!y&&P&&E.bytes[E.at]===wr)l=!0,
x(0);else if((M===5||M===6&&E.bytes[E.at])&&A&&!y&&u&&C())x(6);else if(M===6&&A&&E.bytes[E.at]===0){j(E),f=j(E)===1;let $=ye(E);Z=U(E,10);let v=ee!==""&&ee!==$,
V=!n?.match(/[*>]/)&&_.size>0;ee=$,te(),l=!1,w||=V?!Z:v}else if(M===7)for(;K(E);){let $=Nn(E),v={epoch:ye(E),offset:U(E,10)};if(Number.isSafeInteger(v.offset)||
k("an integer is beyond 2^53"),!y||!A&&!Q($))continue;let V=W.get($);A&&!V?(Z--,V=_.get($)??(se?{...v,offset:1}:void 0)):!A&&V?.epoch!==v.epoch&&(V=void 0),V&&f&&
(A||!l)&&(V.epoch===v.epoch&&V.offset<=v.offset?S+=v.offset-V.offset:w=!0),W.size>=xr&&(W.clear(),l=!0),W.set($,v)}else return!1;return!0};d.set(a,{packet(A,M,E,$){
if(!(A!==b||P&&ce(M,E,$)))if(E===2){let v=Nn($);if(!M&&(!y||!Q(v)))return;let V=Be($),Ie=W.get(v);for(Ie&&W.set(v,{...Ie,offset:Ie.offset+1}),g+=V.length+Vt,I({
topic:v,payload:V,position:Ie,lagged:S,reconnected:w}),S=0,w=!1;g>Ar;){let Ke=J();g-=Ke.payload.length+Vt;let ge=N();ge.lagged+=Ke.lagged+1,ge.reconnected||=Ke.
reconnected}}else E===4?y&&!(P&&f&&!l)&&(S+=U($,10)):M&&(K($)?G(Mn($)):te())},down(A,M){if(A===b){if(n===void 0||!y&&!u)return G(M);if(y)if(Z>0)for(let[E,$]of W)
_.set(E,$);else l?C():(_=W,q=xt.oldest,se=!0);W=new Map,y=!1,u=!0,z(1/0)}}}),z()})}};var wt="frisbee.1";function Un(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[wt,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===wt)return o.
open();s=`the server does not speak ${wt}`,r.close()},r.onmessage=({data:d})=>{d instanceof ArrayBuffer?o.data(new Uint8Array(d)):r.close()},r.onerror=({message:d=""})=>void(s||=
d),r.onclose=({code:d,reason:a})=>{o.close(s||`the WebSocket was closed (${d}${a&&`, ${a}`})`)},{send:d=>r.send(d),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Ht=(e,t={})=>new St(Un(e,t),t);var ue={BUY:0,SELL:1},qt=he("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[Rn,Rn,Tr]),Tr=he("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ue]),Ln=he("exchange.Inquiry","side:e amount:u",()=>[ue]),Rn=he("exchange.Level","price:u amount:u"),kr=he("exchange.Nothing",""),Dn=he("exchange.Offer",
"price:u called:u answered:u"),Cr=he("exchange.Order","number:u side:e price:u amount:u",()=>[ue]),Ir=he("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ue]),Le=ct("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:kr,reply:qt},trade:{operation:11,request:Cr,reply:Ir,
sends:!0,receives:!0},inquire:{operation:12,request:Ln,reply:Dn}}),Et=class{constructor(t){this.channel=t,t.name(Le)}look(t,n){return this.channel.unary(Le,Le.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(Le,Le.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Le,Le.methods.inquire,t,n)}},$n=ct("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Ln,reply:Dn}});var Wt=240,Vn=8,de=e=>document.getElementById(e),le=(e,t)=>void(de(e).textContent=t),be=e=>(e/100).toFixed(2),Tt=e=>e===ue.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Mr(e,t){let n=de(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Vn;)n.lastElementChild?.remove()}var Ze=new Map,Bn=0,Pn=0,Hn=()=>{},Gt=[];async function*Nr(){for(;;){let e=Gt.shift();
e?yield e:await new Promise(t=>Hn=t)}}function Or({number:e,amount:t,price:n,left:o}){let r=Ze.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===ue.BUY?
1:-1;Bn+=s*t,Pn-=s*t*n,le("held",String(Bn)),le("cash",be(Pn));let d=[...Ze.values()].reverse().slice(0,Vn).map(({order:a,done:m,left:c})=>ae("tr",[ae("td",`${Tt(
a.side)} ${a.amount}`,Tt(a.side)),ae("td",be(a.price)),ae("td",String(m)),ae("td",String(c))]));de("orders").replaceChildren(...d)}de("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ue.SELL:ue.BUY,o={number:Ze.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};Ze.set(o.number,{order:o,done:0,left:o.amount}),Gt.push(o),Hn()});var Ge=0,Xt=0,We,Ce=[];function _n(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));de(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ae("li",[s,ae("span",be(o)),ae("span",String(r))])}))}function Ur(e){for(let{number:o,price:r}of[...e].reverse())o>Xt&&Ce.push(r);Ce.splice(0,Ce.length-Wt);let[
t]=e;if(!t||t.number===Xt)return;Xt=t.number;let n=t.price-Ge;Ge&&n&&(le("change",`${n>0?"▲":"▼"} ${be(Math.abs(n))}`),de("change").dataset.side=n>0?"buy":"\
sell"),Ge=t.price,le("last",be(Ge)),de("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ae("li",[ae("span",o===ue.BUY?"bought":"sold",Tt(o)),ae("s\
pan",be(r)),ae("span",String(s))]))),Kt()}function Fn({bids:e,asks:t,deals:n,traders:o,orders:r}){_n("asks",t),_n("bids",e),t[0]&&e[0]&&le("spread",`${be(t[0].price-
e[0].price)} apart`),le("traders",String(o));let s=performance.now();(!We||s-We.at>1e3)&&(We&&le("rate",((r-We.orders)/((s-We.at)/1e3)).toFixed(0)),We={orders:r,
at:s}),Ur(n)}function Kt(){let e=de("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Ce.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),d=de("state"),a=Math.min(...Ce)-2,m=Math.max(...Ce)+2,c=n-56,b=w=>w/(Wt-1)*c,g=w=>(m-w)/(m-a)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(d).color,t.lineWidth=.5;for(let w=0;w<5;w++){let N=a+(m-a)*w/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,g(N)),t.lineTo(c,g(N)),t.stroke(),t.globalAlpha=1,t.fillText(be(N),c+8,g(N)+4)}let S=Wt-Ce.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Ce.
forEach((w,N)=>t.lineTo(b(S+N),g(w))),t.lineWidth=1.5,t.stroke(),t.lineTo(c,o),t.lineTo(b(S),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Kt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Kt);var Rr=Ft($n,{quote:({side:e,amount:t})=>{let n=Math.round(Number(de("margin").value)*100),o=Ge&&Ge+
(e===ue.BUY?n:-n);return Mr("asked",ae("li",`${Tt(e)} ${t}? You said ${be(o)}.`)),{price:o}}}),{hostname:Lr}=location,qn=Ht(`ws://${Lr}:${document.documentElement.
dataset.port}/`,{serve:Rr,stayConnected:!0}),kt=new Et(qn),Dr=new Je(qn);de("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await kt.inquire({side:ue.BUY,amount:10}),d=(performance.now()-n).toFixed(0);le(
"offer",o?`${be(o)} is the best of ${s} of ${r}, after ${d} ms.`:`None of ${r} had a price.`)}catch(n){le("offer",O.from(n).message)}t.disabled=!1});async function $r(){
for(;;){try{let e=await Dr.subscribe("exchange.book"),t=kt.trade(Nr()),n=(async()=>{for await(let r of t)Or(r)})();de("state").dataset.is="open",le("state","con\
nected"),Fn(await kt.look({}));let o=(async()=>{for await(let{payload:r}of e)Fn(Ot(qt,r))})();await Promise.race([n,o])}catch(e){de("state").dataset.is="failed",
le("state",O.from(e).message)}Gt.length=0;for(let e of Ze.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}$r();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await kt.look({},{timeout:5e3}),le("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{le("ping","–")}},2e3);
