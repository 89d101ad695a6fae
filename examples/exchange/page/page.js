var Cn=new TextEncoder,In=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Xt=40,Te=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
$=e=>{throw new Te(e)},W=e=>({bytes:e,at:0,depth:0,memory:0}),Ye=(e=64)=>W(new Uint8Array(e)),Je=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,ye=e=>Cn.encode(
e);function Qe(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function U(e,t){e.at===e.bytes.
length&&Qe(e,1),e.bytes[e.at++]=t}function Gt(e,t){U(e,t>>8),U(e,t)}function R(e,t){for(;t>127;t=Math.floor(t/128))U(e,t|128);U(e,t)}function re(e,t){Qe(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function ke(e,t){R(e,t.length),re(e,t)}function ve(e,t){let{at:n}=e,{length:o}=t,r=o>Xt?128:0;U(e,o);for(let i=0;i<o&&r<128;i++)
U(e,r=t.charCodeAt(i));r>127&&(e.at=n,ke(e,ye(t)))}function ce(e,t,n){U(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,ke(e,r),r.length>0}var Ze=({
bytes:e,at:t})=>e.subarray(0,t),X=({bytes:e,at:t})=>e.length-t,Ce=({bytes:e,at:t})=>e[t],Y=e=>e.bytes[e.at++]??$("truncated");function fe(e,t){let n=Y(e);n!==t&&
$(`found byte ${n}, expected ${t}`)}function N(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=Y(e);if(r<128)return n+r*o;n+=(r-128)*o}return $("a number is too\
 long")}function he(e,t=N(e)){return t>X(e)&&$("truncated"),e.bytes.subarray(e.at,e.at+=t)}var Ie=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function te(e,t=N(
e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Xt)for(let a;i<t&&(a=n[o+i])<128;i++)r+=String.fromCharCode(a);if(i<t){let a=he(e,t);try{return In.decode(a)}catch{$("a t\
ext is not UTF-8")}}return e.at+=t,r}var C=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:d=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:d,code:n})}static from(n){return n instanceof e?n:new e(2,Pe(n),{cause:n})}};var Pe=e=>e instanceof Error?e.message:String(e),P=(e,t)=>new C(e,t,{mayHaveRun:!1}),et=e=>{let t=C.from(e);return t.mayHaveRun?t:new C(t.code,t.message,{...t,mayHaveRun:!0})},
tt=e=>e>0&&e<=16?e:2,We=(e,t,n)=>new C(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Be=e=>We(1,"the caller cancelled the call",e),nt=(e,t="")=>We(4,`deadline exceeded${t}`,
e);var it=100,Mn=64<<20,Un=12,At=8,xt=56,St=new Uint8Array(8),Kt=new DataView(St.buffer);function be(e,t,n){let o;return{name:e,fields:()=>o??=Nn(t,n?.()??[])}}var Et=(e,t)=>Ue(W(t),e,0);function $e(e,t,n){e.depth=it,Jt(e,t,n)}function Ue(e,t,n){return e.depth=it,e.memory=Math.max(Mn,X(e)*Un),Qt(e,t,n)??Zt(e,t)}function Nn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,d,p,m,y]=i,h=y==="m"?Ln(t[o++]):y==="e"?Dn(t[o++]):zt[y],g=zt[m[1]??""],S=g?[2,g.wire,h.wire,10]:m==="*"?[1,h.wire,10]:void 0,x=d?n.get(d):void 0;
d&&!x&&n.set(d,x=[]);let L={name:d??a,of:h,isOptional:m==="?",key:g,head:S,case:a,number:+p,all:x};return x?.push(L),L})}var Ge=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Jt(e,t,n){if(!e.depth--)throw Yt(t.name,`nests deeper than ${it}`);U(e,8),U(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,d=n[o=a];if(!i)On(e,r,d);else if(e.isFlat||r===i[0]){let p=d,m=i.find(h=>h.case===p?.case);if(p&&!m)throw new Error(`has no member ${p.case}`);e.
isFlat||(U(e,3),R(e,m?m.number:0));let y=e.isFlat?r:m;y&&Xe(e,y.of,y===m?p?.value:void 0)}}}catch(r){throw r instanceof C?r:Yt(`${t.name}.${o}`,r.message)}e.depth++}
function On(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=Ge(t)),o){let a=n,d=n,p=r?a.size:d.length;we(p>=0,n);for(let m of o)U(e,m);if(R(
e,p),r)for(let[m,y]of a)Xe(e,r,m),Xe(e,i,y);else for(let m of d)Xe(e,i,m)}else n===void 0&&t.isOptional&&!e.isFlat?U(e,0):Xe(e,i,n)}function Xe(e,t,n){t.table||
U(e,t.wire),t.put(e,n===void 0?t.zero():n)}function Qt(e,t,n){if(Ce(e)===0)return void e.at++;fe(e,8),Y(e),e.depth--||$(`${t.name} nests deeper than ${it}`);let o=t.
fields();Tt(e,xt+At*o.length);let r={},i="";for(let a of o){let{name:d,all:p,of:m}=a,y=p&&p[0]===a;if(y&&(r[d]=void 0),n>0&&!X(e))n--,p||(r[d]=Ge(a));else if(!p)
r[d]=Rn(e,a);else if(y&&Ce(e)===3){e.at++,i+=` ${d} `;let h=N(e),g=p.find(S=>S.number===h);g?r[d]={case:g.case,value:wt(e,g.of)}:h&&$(`${t.name}.${d} has no mem\
ber ${h}`)}else if(!i.includes(` ${d} `)){let h=ot(e,m);(h instanceof Uint8Array?h.length:!Object.is(h,m.zero()))&&(r[d]={case:a.case,value:h})}}return e.depth++,
r}function Rn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ce(e)===0)return e.at++,Ge(t);if(!n)return ot(e,r);for(let d of n)fe(e,d);let i=N(e),a=Ge(t);for(;i-- >
0;)Tt(e,o?xt:At),o?a.set(ot(e,o),wt(e,r)):a.push(wt(e,r));return a}function ot(e,{wire:t,table:n,take:o}){return n||fe(e,t),o(e)}var wt=(e,t)=>ot(e,t)??Zt(e,t.table);
function Zt(e,t){let n={},o=t.fields();Tt(e,xt+At*o.length);for(let r of o)n[r.name]=r.all?void 0:Ge(r);return n}function Tt(e,t){(e.memory-=t)<0&&$("exceeds th\
e memory limit")}var Se=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Ln=e=>Se(3,()=>{},(t,n)=>n?Jt(t,e,n):U(t,0),t=>Qt(t,e,0),e);function Dn(e){let t=Object.
values(e);return Se(10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;we(r>=0||o===(o|0)&&o<0&&i>=t.length,o),R(n,r<0?i:r)},n=>{let o=N(n)>>>0,r=o-2147483648;
return o>=t.length&&(r>=0||t.includes(r))&&$(`an enum has the index ${o}`),t[o]??r})}var rt=(e,t)=>Se(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?
i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(a)&&a>=0)return R(n,a);we((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let d=e?r<<1n^r>>63n:r;for(;d>>53n;d>>=7n)U(n,Number(
d&127n)|128);R(n,Number(d))},n=>{let{at:o}=n,r=N(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.
bytes[o++]&127)<<a;i=BigInt.asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||$("an integer is beyond 2^53"),Number(r)):BigInt(r)}),jt=(e,t)=>Se(
e,()=>0,(n,o)=>{we(typeof o=="number",o),Kt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)U(n,St[r])},n=>{for(let o=0;o<t;o++)St[o]=Y(n);return Kt[t>4?
"getFloat64":"getFloat32"](0)}),zt={b:Se(7,()=>!1,(e,t)=>{we(typeof t=="boolean",t),U(e,+t)},e=>{let t=Y(e);return t>1&&$(`a bool is ${t}`),t>0}),i:Se(12,()=>0,
(e,t)=>{we(t===(t|0),t),R(e,(t<<1^t>>31)>>>0)},e=>{let t=N(e);return t>>>1^-(t&1)}),u:Se(10,()=>0,(e,t)=>{we(t===t>>>0,t),R(e,t)},e=>N(e)>>>0),l:rt(!0,!1),w:rt(
!1,!1),L:rt(!0,!0),W:rt(!1,!0),f:jt(14,4),d:jt(15,8),s:Se(5,()=>"",(e,t)=>{we(typeof t=="string",t),U(e,10),ve(e,t)},e=>(fe(e,10),te(e))),y:Se(4,()=>new Uint8Array,
(e,t)=>{we(Je(t),t),U(e,10),ke(e,t)},e=>(fe(e,10),new Uint8Array(he(e))))},Yt=(e,t)=>P(3,`${e} ${t}`);function we(e,t){if(!e)throw new Error(`cannot be the ${typeof t}\
 ${String(t)}`)}var Ct=16,en=65536,tn=256,Pn=61440,Bn={metadata:{}},kt=e=>e.endsWith("-bin"),nn=(e,t)=>kt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256} [ -~]*$/.test(`${e} ${kt(
e)?"":t}`);function It(e){if(typeof e=="string")return ye(e);if(!Je(e))throw P(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ke(e,{
isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ce(e,Ct,()=>{t&&ce(e,4,()=>{}),n!==void 0&&ce(e,1,()=>R(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.
MAX_SAFE_INTEGER)));let d=0;if(Object.entries(o).forEach(([p,m],y)=>{if(!nn(p,m))throw P(3,`invalid metadata entry ${p}: keys have a-z 0-9 - _ . and values prin\
table ASCII, or bytes under -bin`);if(d+=p.length+m.length+8,y>=tn||d>Pn)throw P(8,"too much metadata");ce(e,2,()=>{ve(e,p),re(e,It(m))})}),r){let{code:p,details:m,
mayHaveRun:y}=r;ce(e,3,()=>{R(e,p),e.at-i+m.length+32<=en&&re(e,m)}),y||ce(e,5,()=>{})}})||(e.at=i)}function _e(e){if(Ce(e)!==Ct)return Bn;e.at++;let t=W(he(e));
X(t)>en&&$("a prefix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;X(t);){let i=Y(t),a=W(he(t));if(i===1)o.timeout=N(a,10)/1e3;else if(i===2){
let d=te(a),p=kt(d)?Ie(a):te(a,X(a));(!nn(d,p)||d in n||++r>tn)&&$("invalid metadata"),n[d]=p}else i===3?(o.code=tt(N(a,10)),o.details=Ie(a)):i===5&&(o.isRefused=
!0)}return o}function rn(e){let t=1;for(;e[t]>127;)t++;return e[0]===Ct&&e[t+1]===4&&e[t+2]===0}function st(e,{metadata:t,code:n,details:o,isRefused:r}){if(Ce(e)===
6)return e.at++,fe(e,5),fe(e,10),new C(n??2,te(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function at(e,t,n){Ke(e,{isBackward:n,status:t,metadata:t.metadata}),
re(e,[6,5,10]),ve(e,t.message)}var lt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function dt(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw P(9,`incompatibl\
e layouts of ${e.name}`);return 1}var ut=({added:e=[0,0]},t,n)=>t*e[n];function Mt(e,t){let n=r=>r.match(/../g)?.forEach(i=>U(e,parseInt(i,16)));ve(e,t.name),n(
t.fingerprint),R(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))R(e,r-o),o=r}function on(e){let t=()=>{let o="";
for(;o.length<16;)o+=Y(e).toString(16).padStart(2,"0");return o},n={service:te(e),fingerprint:t(),compatible:[],operations:[]};for(let o=N(e);o>0;o--)n.compatible.
push(t());for(let o=0;X(e);)n.operations.push(o+=N(e));return n}var Ut=5<<20,$n=1024,_n=65536,Fe=10,Ne=16384,Fn=Ne/2,Nt=256,ct=262144,Vn=1e5,Hn=64<<20,sn=8<<20,qn=10,Wn=65536,Xn=2e3,Gn=5,Kn=1e4,an="the server is going away",
jn=2147483647,Oe=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),jn));function dn(e,t,n,o,r){let i=Ye(16384),a=new Map,d=new Map,p=new Map,m=[],y=0,h=0,g=0,S=0,x=0,L=32767,
O=[0,Ut,1/0,Ne,0],B=!1,ee=!1,G,q=Fe,ne=0,K=!1,_=0,F=!1,Q=!1,H=0,j,J=l=>{if(!(B||!me))try{l(me)}catch(f){D(Pe(f));try{me.close()}catch{}}},Z=()=>{i.at&&(F=!1,Q=!0,
J(l=>l.send(Ze(i))),i.at=_=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),J(l=>{let f=l.buffered();f>Hn?k("too many unsent bytes"):f>sn&&!A.isFull&&(A.
isFull=!0,s())}))},s=()=>J(l=>{if(l.buffered()>sn/2)return void Oe(qn,s);A.isFull=!1,t.room(A)}),c=()=>{i.at!==_?(_=i.at,queueMicrotask(c)):(K=!1,Z())},u=(l,f,v,M)=>{
let{at:Ae}=i;try{Qe(i,Fe),i.at+=Fe,v?.(i,M);let le=i.at,De=le-Ae-Fe,Wt=Math.max(O[1],$n);if(De>Wt)throw P(8,`the message has ${De} bytes of at most ${Wt}`);i.at=
Ae;for(let kn of[15,l,f,De>>>16,De])Gt(i,kn);i.at=le}catch(le){throw i.at=Ae,le}i.at>Wn?Z():K||(K=!0,_=0,queueMicrotask(c))},b=(l,{code:f,message:v})=>u(l,7,M=>{
R(M,f),re(M,ye(v.slice(0,256)))}),w=(l,f)=>{u(l,5,R,0),b(l,f)},T=l=>{if(!B){if(H=0,G){if(re(G,l),G.at<q)return;l=Ze(G),G=void 0}try{let f=0,v=M=>l[f+M]<<8|l[f+M+
1];for(;!B&&!(l.length<(q=f+Fe));f=q){v(0)!==15&&$("a header without its magic");let M=v(6)*65536+v(8);if(M>Ut&&$(`a packet of ${M} bytes`),l.length<(q+=M))break;
z(v(2),v(4),l.subarray(f+Fe,q))}f<l.length&&(q-=f,re(G=Ye(),l.subarray(f)))}catch(f){k(`the server broke the protocol: ${f.message}`)}}},z=(l,f,v)=>{let M=W(v),
Ae=a.get(l);if(f>=10)if(A.isUp||$("a packet before HELLO"),rn(v)){if(V)return V.packet(l,f,v,!1)}else{let le=m[l%Ne];if(le?.id===l&&le.operation===f)return pe(l),
t.answered(),le.isGivenUp?h--:t.replied(le,v),E();if(r.filter(De=>De.packet(A,l,f,v)).length)return}else if(f<2){v.length&&$("a PING with a body"),f===1?A.isUp||
k("the server is a compat peer"):F||(F=!0,u(0,1));return}else{if(f===3&&!A.isUp)return ae(M);if(f===4)return I();if(f===6)return V?.cancel(l,N(M));if(f===8)$("a\
 stray hand-off");else{if(Ae&&f!==3&&f<8)return t.answered(),Ae.packet(f,v);if(f===2){let le=l-L&32767;if(l>=32768&&le&&le<=16384)return L=l,V?V.packet(l,2,v,!0):
w(l,P(12,"no service is served"))}}}++ne>Vn&&k("too many stray packets")},ae=l=>{for((X(l)>_n||te(l,4)!=="fris"||!Y(l))&&$("no HELLO");X(l);){let f=Y(l),v=W(he(
l));if(f in O)O[f]=N(v,10);else if(f===32||f===33)try{let M=on(v);(f===32?d:p).set(M.service,M)}catch{}}O[3]=Math.min(O[3],Ne),A.isUp=!0,clearTimeout(Ee),t.room(
A)},pe=l=>{m[l%Ne]=void 0,y--===O[3]&&t.room(A)},ue=(l,f,v)=>{a.set(f,l),l.begin(A,f,O[4],v)},E=()=>{ee&&y===h&&!a.size&&!V?.progress.size&&queueMicrotask(()=>k(
an))},I=()=>{ee||(ee=!0,t.closing(A,an),E())},k=l=>{B||(Z(),J(f=>f.close()),D(l))},D=l=>{if(B)return;B=!0,clearInterval(j),clearTimeout(Ee),t.closing(A,l),A.isUp=
!1;let f=new C(14,`the connection was lost: ${l}`);for(let v of m)v&&!v.isGivenUp&&t.lost(v,f);for(let v of a.values())v.lost(f);V?.down(f);for(let v of r)v.down(
A,f)},A={isUp:!1,isFull:!1,write:u,reset:b,refuse:w,fits(l){let f=d.get(l.name);if(f)return f.fingerprint===l.fingerprint||n.includes(l)?dt(l,f):void 0;for(let v of d.
values())if(v.operations.some(M=>l.operations.includes(M)))throw P(12,`the server has ${v.service} instead of ${l.name}`);return 0},call(l,f){if(A.isFull||y>=O[3])
return!1;do g=g+1&65535;while(m[g%Ne]);let v=l.id=g;m[v%Ne]=l,y++;try{u(v,l.operation,f,l)}catch(M){throw pe(v),M}return!0},cancel(l){B||(l.isGivenUp=!0,u(l.id,
6,R,l.operation),++h>=Fn&&I(),E())},open(l,f,v){if(!O[2])throw P(12,"the server does not accept streams");if(A.isFull||S>=Math.min(O[2],28672))return!1;do x=x%32767+
1;while(a.has(x));let M=x;a.set(M,l),S++;try{u(M,2,v)}catch(Ae){throw A.over(M),Ae}return l.begin(A,M,O[4],f),!0},accept:ue,over(l){a.delete(l),l<32768&&(S--,t.
room(A)),E()},drain:I,closeIfIdle:E},V=o?.on(A,p),Ee=Oe(Kn,()=>k("handshake timeout")),Le=()=>{i.isFlat=me?.isFlat,u(0,3,l=>{re(l,ye("fris"));let f=V?Nt:0;[Ut,
f,f,ct].forEach((v,M)=>ce(l,M+1,()=>R(l,v)));for(let v of o?.services??[])ce(l,32,()=>Mt(l,v));for(let v of n)ce(l,33,()=>Mt(l,v))}),u(1,0),Z(),!B&&(j=setInterval(
()=>{if(++H>Gn)return k("keepalive timeout");(H>1||!Q)&&u(0,0),Q=!1;let l=performance.now();for(let f of m)f&&f.until<=l&&!f.isGivenUp&&t.expired(f)},Xn))},me,Ht=l=>me?
l():queueMicrotask(l),qt=l=>Ht(()=>D(l));try{me=e({open:()=>Ht(Le),data:T,close:qt})}catch(l){qt(Pe(l))}return A}function ft(e,t){let n=[],o=0,r=!1,i=()=>{},a=g=>{r||=g,i()},d=()=>n[o],p=()=>{let g=d();return g!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),g},m=()=>{n=[],o=0},y=(async function*(){try{for(;;){let g=p();if(g!==void 0){let S=e(g);S!==void 0&&(yield S)}else if(r){if(r!==!0)throw r;return}else await new Promise(
S=>i=S)}}finally{t()}})(),{return:h}=y;return y.return=()=>(t(),m(),a(!0),h.call(y,void 0)),{messages:y,first:d,take:p,clear:m,put:g=>{n.push(g),i()},end:a}}var Ot=64,zn=4,Yn=4096,Rt=(e,t)=>e instanceof Te?new C(13,`not a valid ${t.name}: ${e.message}`):C.from(e);function pt(e,t,n,o,r){let i,a=0,d=0,p=0,m=0,y=0,h=!0,
g=!0,S=!1,x=!1,L=()=>{},O,B=()=>!h&&!g,{messages:ee,clear:G,put:q,end:ne}=ft(s=>{let c=s.length+Ot;m-=c,y+=c,g&&y*zn>=ct&&(i?.write(a,5,R,y),y=0);try{let u=W(s),
b=_e(u);if(u.at&&(r?.(K.metadata=b.metadata),!X(u)))return;let w=st(u,b);if(w)throw w;return Ue(u,t,d)}catch(u){throw Rt(u,t)}},()=>n?H(!0):J()),K=Object.assign(
ee,{metadata:{}}),_=()=>{B()&&(L(),O?.(),i?.over(a),i=O=void 0,o())},F=()=>{h&&(h=!1,i?.write(a,7),_())},Q=s=>{h=g=!1,ne(s),_()},H=(s,c=Be(!0))=>{B()||i?.reset(
a,c),G(),Q(s)},j=s=>H(s,s),J=()=>{G(),S=!0},Z=s=>{if(!i||!h)return;let c=s instanceof C;i.write(a,2,u=>{let{at:b}=u;c?at(u,s,!1):$e(u,e,s),p-=u.at-b+Ot}),c&&F()};
return{messages:K,begin(s,c,u,b){i=s,a=c,p=u,d=b},packet(s,c){if(s===2)return!g||S?void 0:m+y>=ct?j(new C(8,"the peer exceeded its credit")):(m+=c.length+Ot,q(new Uint8Array(
c)));let u=W(c);if(s===5){let b=N(u,10);x||=!b,(p+=b)>0&&L()}else if(c.length){let b=tt(N(u));Q(new C(b,new TextDecoder().decode(Ie(u).subarray(0,Yn)),{mayHaveRun:!x}))}else
g=!1,ne(!0),_()},send:Z,async pump(s,c){try{let u=s,b=u?.[Symbol.asyncIterator]?.()??u?.[Symbol.iterator]?.();if(!b)throw P(3,`messages of a stream are an itera\
ble, not ${String(s)}`);for(O=async()=>{try{await b.return?.()}catch{}};;){for(;p<=0&&!B();)await new Promise(z=>L=z);if(B())return;let{done:w,value:T}=await b.
next();if(B())return;if(w)break;Z(T)}O=void 0,F()}catch(u){if(!n)throw O?.(),O=void 0,u;H(c?et(u):C.from(u))}},finish:F,discard:J,fail:j,lost:Q}}var Jn=3e4,Qn=5e3,Zn=20,un=2e3,cn=10,mt=class{constructor(t,{timeout:n,patience:o=Qn,metadata:r,serve:i,stayConnected:a}={}){let d,p=0,m=cn,y=0,h,g=!1,S="",x=[new Set,
new Set],L=({method:{sends:s,receives:c}})=>x[s||c?1:0],O=new Set,B=[],ee=()=>{d||h||g||!(x[0].size||x[1].size||a)||(y=performance.now(),d=dn(t,G,[...O],i,B))},
G={room:s=>queueMicrotask(()=>{for(let c of x)for(let u of c){if(d!==s||!q(u,s))break;d===s&&c.delete(u)}}),closing(s,c){d===s&&(d=void 0,S=c,s.isUp&&performance.
now()-y>=un?p=0:g||(clearTimeout(h),h=Oe(Math.random()*Math.min(Zn*2**Math.min(p++,16),un),()=>{h=void 0,ee()})),ee())},answered:()=>void(p=0),replied(s,c){let u=s,
{method:{reply:b},options:{onMetadata:w}}=u;_(u);try{let T=W(c),z=_e(T),ae=st(T,z);if(ae)throw ae;T.at&&w?.(z.metadata),u.resolve(Ue(T,b,u.missing)),m<cn&&(m+=.1)}catch(T){
u.reject(Rt(T,b))}},expired:s=>K(s),lost(s,c){let u=s;if(u.link=void 0,!u.method.idempotent||m<1)return F(u,c);m--,ne(u)}},q=(s,c)=>{let{service:u,method:b}=s;try{
let w=u?c.fits(u):0;return w!==void 0?(s.missing=ut(b,w,1),s.start(s,c)&&(s.isSent=!0)):(O.add(u),p=0,c.drain(),!1)}catch(w){return F(s,C.from(w)),!0}},ne=s=>{if(!(d?.
isUp&&q(s,d))){if(g)return F(s,fn(s.isSent));s.patientUntil=performance.now()+(s.options.patience??o),L(s).add(s),ee(),K(s)}},K=s=>{let{until:c,isSent:u,patientUntil:b}=s,
w=performance.now(),T=L(s).has(s)&&!d?.isUp&&`no connection to the server${S&&`: ${S}`}`;clearTimeout(s.timer),w>=c?F(s,nt(u,T?`; ${T}`:"")):w>=b&&T?F(s,We(14,T,
u)):s.timer=Oe((w<b?Math.min(c,b):c)-w,()=>K(s))},_=s=>{L(s).delete(s),clearTimeout(s.timer),s.options.signal?.removeEventListener("abort",s.abort)},F=(s,c)=>{_(
s),s.link?.cancel(s),s.reject(c)},Q=(s,{sentTimeout:c,until:u,options:{metadata:b}})=>{(c!==void 0||r||b)&&Ke(s,{timeout:c&&u-performance.now(),metadata:{...r,...b}})},
H=(s,c)=>{Q(s,c),$e(s,c.method.request,c.request)},j=(s,c)=>{let u=c.call(s,H);return u&&(s.link=c),u},J=(s,c,u,b,w,T,z,ae,pe=1/0)=>{let{signal:ue}=b,E={id:0,operation:c.
operation,until:performance.now()+ +(w??pe),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,timer:void 0,link:void 0,service:s,method:c,request:u,options:b,sentTimeout:w,
start:T,resolve:z,reject:ae,abort:ue&&(()=>F(E,Be(E.isSent)))};return Number.isNaN(E.until)?ae(P(3,"the timeout is not a number; it is in milliseconds")):ue?.aborted?
E.abort?.():(ue?.addEventListener("abort",E.abort),w!==void 0&&K(E),(w===void 0||w>0)&&ne(E)),E},Z=(s,c,u,b={})=>{let w,T=pt(c.request,c.reply,!0,()=>w&&_(w),b.
onMetadata);return w=J(s,c,u,b,b.timeout,(z,ae)=>{let pe=ae.open(T,z.missing,ue=>{Q(ue,z),U(ue,9),R(ue,z.operation)});return pe&&T.pump(u,c.sends),pe},()=>{},T.
fail),T};this.unary=(s,c,u,b={})=>new Promise((w,T)=>void J(s,c,u,b,b.timeout??n,j,w,T,Jn)),this.serverStreaming=(s,c,u,b)=>Z(s,c,[u],b).messages,this.twoWay=(s,c,u,b)=>Z(
s,c,u,b).messages,this.clientStreaming=async(s,c,u,b)=>{let{messages:w}=Z(s,c,u,b),{done:T,value:z}=await w.next();if(T)throw new C(13,"there is no reply");return w.
return?.(),z},this.name=s=>void O.add(s),this.mount=s=>void B.push(s),this.connected=(s,c)=>new Promise((u,b)=>{J(void 0,{},void 0,{patience:c},void 0,(w,T)=>T.
isFull?!1:(s?.(T),_(w),u(T),!0),u,b)}),this.close=()=>{g=!0,clearTimeout(h);for(let s of x)for(let c of s)F(c,fn(c.isSent));d?.drain()},a&&queueMicrotask(ee)}},
fn=e=>We(9,"the channel is closed",e);function Lt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,d)=>t[r]?.(a,d)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,d=(p,m)=>{let y=o.get(p);if(!y||!(y.method.sends||y.method.receives)===m)throw P(12,`unknown ope\
ration ${p}`);if(a.size>=Nt)throw P(8,"too many calls are in progress");let{service:h,method:g}=y,S=i.get(h.name);return{...y,left:ut(g,S?dt(h,S):0,0)}};return{
progress:a,packet(p,m,y,h){let g,S=x=>r.write(p,m,L=>{x instanceof C?at(L,x,!0):(Ke(L,{isBackward:!0}),$e(L,g.reply,x))});try{let x=W(y),{timeout:L,metadata:O}=_e(
x);h&&(fe(x,9),m=N(x,3));let B=d(m,h);({method:g}=B);let ee=h||Ue(x,g.request,B.left),G=h?p+65536:p,q=new AbortController,ne=!1,K=H=>{ne||(ne=!0,clearTimeout(Q),
H||q.abort(),a.delete(G),r.closeIfIdle())},_=h?pt(g.reply,g.request,!1,()=>K(!1)):{send(H){ne||(S(H),K(!0))},fail:S,finish(){},discard(){}},F=H=>{_.fail(H),K(!1)},
Q=L===void 0?void 0:Oe(L,()=>F(nt(!0)));a.set(G,{operation:m,stop:F}),h&&r.accept(_,p,B.left),er(B,h,ee,_,{signal:q.signal,metadata:O})}catch(x){let L=x instanceof
Te?P(3,`malformed request: ${x.message}`):C.from(x);h?r.refuse(p,L):S(L)}},cancel(p,m){let y=a.get(p);y?.operation===m&&y.stop(Be(!0))},down(p){for(let m of a.values())
m.stop(p)}}}}}async function er({method:e,handler:t},n,o,r,i){let a=!1;try{if(e.sends)o=r.messages;else if(n){let p=await r.messages.next();if(p.done)throw P(3,
"no request");o=p.value}a=!0;let d=t(o,i);e.receives?await r.pump?.(d):(r.send(await d),r.finish())}catch(d){try{r.send(a?et(d):C.from(d))}catch(p){r.send(new C(
13,Pe(p)))}}r.discard()}var Ve=65280,tr=16<<20,Dt=64,nr=65536,rr=4,yt={now:0,last:1,oldest:2},pn=e=>P([8,12,7][Y(e)-3]??3,te(e,X(e))),je=class{constructor(t){this.channel=t;this.requests=
new Map;this.last=0;let{requests:n}=this;t.mount({packet:(o,r,i,a)=>{if(i<Ve)return!1;!r&&i===Ve+5&&(this.refused??=pn(W(a)));for(let d of r?[n.get(r)]:n.values())
d?.packet(o,r,i-Ve,W(a));return!0},down(o,r){for(let i of[...n.values()])i.down(o,r)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){
await this.channel.connected(o=>o.write(0,Ve+2,r=>{ke(r,ye(t)),re(r,It(n))}))}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=
void 0,t)throw t}request(t,n,o="",r){let{channel:i,requests:a}=this;do this.last=this.last%65535+1;while(a.has(this.last));let d=this.last;return new Promise((p,m)=>{
let y,h=0,g=0,S=!1,{first:x,messages:L,put:O,end:B,take:ee}=ft(E=>(h-=E.payload.length+Dt,E),()=>{a.delete(d)&&n!==void 0&&y?.isUp&&y.write(d,Ve+1)}),G=E=>{a.delete(
d),m(E),B(E)},q=o?[]:n?.split(".")??[],ne=q[q.length-1]===">",K=E=>{let I=E.split(".");return(ne?I.length>=q.length:I.length===q.length)&&q.every((k,D)=>k===">"||
k==="*"||k===I[D])},_=t===0&&!o&&r!==void 0,F=typeof r=="object";if(F&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0))throw P(3,`${r.epoch}, ${r.offset} is not a\
 position of a message`);let Q=F||r===void 0?yt.oldest:yt[r],H=new Map(F?[[n,{...r,offset:r.offset+1}]]:[]),j=new Map,J=0,Z="",s=!1,c=!1,u=!1,b=!1,w=!1,T=E=>{y?.
write(d,Ve+E,I=>{if(n!==void 0&&ke(I,ye(n)),E===6){U(I,Q);for(let[k,D]of H){ve(I,k);for(let A=0;A<16;A+=2)U(I,parseInt(D.epoch.slice(A,A+2),16));R(I,D.offset)}}else
re(I,ye(o))})},z=E=>{i.connected(I=>{a.has(d)&&(y=I,T(_?6:t))},E).catch(G)},ae=()=>{w=!0,c&&(u||!(_&&b))&&(S=!0),p(L)},pe=E=>Array.from(he(E,8),I=>I.toString(16).
padStart(2,"0")).join(""),ue=(E,I,k)=>{if(I===5&&E&&!w&&_&&k.bytes[k.at]===rr)u=!0,T(0);else if(I===6&&E&&k.bytes[k.at]===0){Y(k),b=Y(k)===1;let D=pe(k);J=N(k,10);
let A=Z!==""&&Z!==D,V=!n?.match(/[*>]/)&&H.size>0;Z=D,ae(),u=!1,S||=V?!J:A}else if(I===7)for(;X(k);){let D=te(k),A={epoch:pe(k),offset:N(k,10)};if(Number.isSafeInteger(
A.offset)||$("an offset is beyond 2^53"),!w||!E&&!K(D))continue;let V=j.get(D);E&&!V?(J--,V=H.get(D)??(s?{...A,offset:1}:void 0)):!E&&V?.epoch!==A.epoch&&(V=void 0),
V&&b&&(V.epoch===A.epoch&&V.offset<=A.offset?g+=A.offset-V.offset:S=!0),j.size>=nr&&(j.clear(),u=!0),j.set(D,A)}else return!1;return!0};a.set(d,{packet(E,I,k,D){
if(!(E!==y||_&&ue(I,k,D)))if(k===2){let A=te(D);if(!I&&(!w||!K(A)))return;let V=Ie(D),Ee=j.get(A);Ee&&j.set(A,{...Ee,offset:Ee.offset+1}),h+=V.length+Dt;for(let Le;h>
tr&&(Le=ee());){h-=Le.payload.length+Dt;let me=x();g+=Le.lagged+1,S||=Le.reconnected,me&&(me.lagged+=g,me.reconnected||=S,g=0,S=!1)}O({topic:A,payload:V,position:Ee,
lagged:g,reconnected:S}),g=0,S=!1}else k===4?_&&b&&w||(g+=N(D,10)):I&&(X(D)?G(pn(D)):ae())},down(E,I){if(E===y){if(n===void 0||!w&&!c)return G(I);if(w)if(J>0)for(let[
k,D]of j)H.set(k,D);else H=u?new Map:j,Q=u?yt.now:yt.oldest,s=!u;j=new Map,w=!1,c=!0,z(1/0)}}}),z()})}};var ht="frisbee.1";function mn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[ht,...t]);r.binaryType="arraybuffer";let i="";return r.onopen=()=>{if(r.protocol===ht)return o.
open();i=`the server does not speak ${ht}`,r.close()},r.onmessage=({data:a})=>{a instanceof ArrayBuffer?o.data(new Uint8Array(a)):r.close()},r.onerror=({message:a=""})=>void(i||=
a),r.onclose=({code:a,reason:d})=>{o.close(i||`the WebSocket was closed (${a}${d&&`, ${d}`})`)},{send:a=>r.send(a),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Pt=(e,t={})=>new mt(mn(e,t),t);var de={BUY:0,SELL:1},Bt=be("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[yn,yn,ir]),ir=be("exchange.Deal","number:u side:e price:u amount:\
u",()=>[de]),hn=be("exchange.Inquiry","side:e amount:u",()=>[de]),yn=be("exchange.Level","price:u amount:u"),sr=be("exchange.Nothing",""),bn=be("exchange.Offer",
"price:u called:u answered:u"),ar=be("exchange.Order","number:u side:e price:u amount:u",()=>[de]),lr=be("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[de]),Re=lt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:sr,reply:Bt},trade:{operation:11,request:ar,reply:lr,sends:!0,receives:!0},
inquire:{operation:12,request:hn,reply:bn}}),bt=class{constructor(t){this.channel=t,t.name(Re)}look(t,n){return this.channel.unary(Re,Re.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(Re,Re.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Re,Re.methods.inquire,t,n)}},gn=lt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:hn,reply:bn}});var _t=240,xn=8,se=e=>document.getElementById(e),ie=(e,t)=>void(se(e).textContent=t),ge=e=>(e/100).toFixed(2),gt=e=>e===de.BUY?"buy":"sell";function oe(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function dr(e,t){let n=se(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>xn;)n.lastElementChild?.remove()}var ze=new Map,vn=0,Sn=0,En=()=>{},Ft=[];async function*ur(){for(;;){let e=Ft.shift();
e?yield e:await new Promise(t=>En=t)}}function cr({number:e,amount:t,price:n,left:o}){let r=ze.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===de.BUY?
1:-1;vn+=i*t,Sn-=i*t*n,ie("held",String(vn)),ie("cash",ge(Sn));let a=[...ze.values()].reverse().slice(0,xn).map(({order:d,done:p,left:m})=>oe("tr",[oe("td",`${gt(
d.side)} ${d.amount}`,gt(d.side)),oe("td",ge(d.price)),oe("td",String(p)),oe("td",String(m))]));se("orders").replaceChildren(...a)}se("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?de.SELL:de.BUY,o={number:ze.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};ze.set(o.number,{order:o,done:0,left:o.amount}),Ft.push(o),En()});var qe=0,$t=0,He,xe=[];function wn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));se(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,oe("li",[i,oe("span",ge(o)),oe("span",String(r))])}))}function fr(e){for(let{number:o,price:r}of[...e].reverse())o>$t&&xe.push(r);xe.splice(0,xe.length-_t);let[
t]=e;if(!t||t.number===$t)return;$t=t.number;let n=t.price-qe;qe&&n&&(ie("change",`${n>0?"▲":"▼"} ${ge(Math.abs(n))}`),se("change").dataset.side=n>0?"buy":"\
sell"),qe=t.price,ie("last",ge(qe)),se("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>oe("li",[oe("span",o===de.BUY?"bought":"sold",gt(o)),oe("s\
pan",ge(r)),oe("span",String(i))]))),Vt()}function An({bids:e,asks:t,deals:n,traders:o,orders:r}){wn("asks",t),wn("bids",e),t[0]&&e[0]&&ie("spread",`${ge(t[0].price-
e[0].price)} apart`),ie("traders",String(o));let i=performance.now();(!He||i-He.at>1e3)&&(He&&ie("rate",((r-He.orders)/((i-He.at)/1e3)).toFixed(0)),He={orders:r,
at:i}),fr(n)}function Vt(){let e=se("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||xe.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=se("state"),d=Math.min(...xe)-2,p=Math.max(...xe)+2,m=n-56,y=S=>S/(_t-1)*m,h=S=>(p-S)/(p-d)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let S=0;S<5;S++){let x=d+(p-d)*S/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,h(x)),t.lineTo(m,h(x)),t.stroke(),t.globalAlpha=1,t.fillText(ge(x),m+8,h(x)+4)}let g=_t-xe.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),xe.
forEach((S,x)=>t.lineTo(y(g+x),h(S))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(y(g),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Vt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Vt);var pr=Lt(gn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(se("margin").value)*100),o=qe&&qe+
(e===de.BUY?n:-n);return dr("asked",oe("li",`${gt(e)} ${t}? You said ${ge(o)}.`)),{price:o}}}),{hostname:mr}=location,Tn=Pt(`ws://${mr}:${document.documentElement.
dataset.port}/`,{serve:pr,stayConnected:!0}),vt=new bt(Tn),yr=new je(Tn);se("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await vt.inquire({side:de.BUY,amount:10}),a=(performance.now()-n).toFixed(0);ie(
"offer",o?`${ge(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){ie("offer",C.from(n).message)}t.disabled=!1});async function hr(){
for(;;){try{let e=await yr.subscribe("exchange.book"),t=vt.trade(ur()),n=(async()=>{for await(let r of t)cr(r)})();se("state").dataset.is="open",ie("state","con\
nected"),An(await vt.look({}));let o=(async()=>{for await(let{payload:r}of e)An(Et(Bt,r))})();await Promise.race([n,o])}catch(e){se("state").dataset.is="failed",
ie("state",C.from(e).message)}Ft.length=0;for(let e of ze.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}hr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await vt.look({},{timeout:5e3}),ie("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ie("ping","–")}},2e3);
