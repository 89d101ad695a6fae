var Mn=new TextEncoder,Un=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Xt=40,Ce=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
D=e=>{throw new Ce(e)},G=e=>({bytes:e,at:0,depth:0,memory:0}),Je=(e=64)=>G(new Uint8Array(e)),Qe=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,me=e=>Mn.encode(
e);function Ze(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function R(e,t){e.at===e.bytes.
length&&Ze(e,1),e.bytes[e.at++]=t}function Gt(e,t){R(e,t>>8),R(e,t)}function P(e,t){for(;t>127;t=Math.floor(t/128))R(e,t|128);R(e,t)}function ie(e,t){Ze(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Ie(e,t){P(e,t.length),ie(e,t)}function ve(e,t){let{at:n}=e,{length:o}=t,r=o>Xt?128:0;R(e,o);for(let i=0;i<o&&r<128;i++)
R(e,r=t.charCodeAt(i));r>127&&(e.at=n,Ie(e,me(t)))}function ue(e,t,n){R(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Ie(e,r),r.length>0}var et=({
bytes:e,at:t})=>e.subarray(0,t),K=({bytes:e,at:t})=>e.length-t,Me=({bytes:e,at:t})=>e[t],J=e=>e.bytes[e.at++]??D("truncated");function ce(e,t){let n=J(e);n!==t&&
D(`found byte ${n}, expected ${t}`)}function L(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=J(e);if(r<128)return n+r*o;n+=(r-128)*o}return D("a number is too\
 long")}function ye(e,t=L(e)){return t>K(e)&&D("truncated"),e.bytes.subarray(e.at,e.at+=t)}var Ue=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function ne(e,t=L(
e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Xt)for(let a;i<t&&(a=n[o+i])<128;i++)r+=String.fromCharCode(a);if(i<t){let a=ye(e,t);try{return Un.decode(a)}catch{D("a t\
ext is not UTF-8")}}return e.at+=t,r}var U=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:u=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:u,code:n})}static from(n){return n instanceof e?n:new e(2,Pe(n),{cause:n})}};var Pe=e=>e instanceof Error?e.message:String(e),$=(e,t)=>new U(e,t,{mayHaveRun:!1}),tt=e=>{let t=U.from(e);return t.mayHaveRun?t:new U(t.code,t.message,{...t,mayHaveRun:!0})},
nt=e=>e>0&&e<=16?e:2,We=(e,t,n)=>new U(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Be=e=>We(1,"the caller cancelled the call",e),rt=(e,t="")=>We(4,`deadline exceeded${t}`,
e);var st=100,Nn=64<<20,On=12,xt=8,Et=56,wt=new Uint8Array(8),Kt=new DataView(wt.buffer);function he(e,t,n){let o;return{name:e,fields:()=>o??=Rn(t,n?.()??[])}}var Tt=(e,t)=>Oe(G(t),e,0);function $e(e,t,n){e.depth=st,Jt(e,t,n)}function Oe(e,t,n){return e.depth=st,e.memory=Math.max(Nn,K(e)*On),Qt(e,t,n)??Zt(e,t)}function Rn(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,u,c,m,h]=i,y=h==="m"?Pn(t[o++]):h==="e"?Bn(t[o++]):zt[h],b=zt[m[1]??""],S=b?[2,b.wire,y.wire,10]:m==="*"?[1,y.wire,10]:void 0,C=u?n.get(u):void 0;
u&&!C&&n.set(u,C=[]);let N={name:u??a,of:y,isOptional:m==="?",key:b,head:S,case:a,number:+c,all:C};return C?.push(N),N})}var Ge=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Jt(e,t,n){if(!e.depth--)throw Yt(t.name,`nests deeper than ${st}`);R(e,8),R(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,u=n[o=a];if(!i)Ln(e,r,u);else if(e.isFlat||r===i[0]){let c=u,m=i.find(y=>y.case===c?.case);if(c&&!m)throw new Error(`has no member ${c.case}`);e.
isFlat||(R(e,3),P(e,m?m.number:0));let h=e.isFlat?r:m;h&&Xe(e,h.of,h===m?c?.value:void 0)}}}catch(r){throw r instanceof U?r:Yt(`${t.name}.${o}`,r.message)}e.depth++}
function Ln(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=Ge(t)),o){let a=n,u=n,c=r?a.size:u.length;we(c>=0,n);for(let m of o)R(e,m);if(P(
e,c),r)for(let[m,h]of a)Xe(e,r,m),Xe(e,i,h);else for(let m of u)Xe(e,i,m)}else n===void 0&&t.isOptional&&!e.isFlat?R(e,0):Xe(e,i,n)}function Xe(e,t,n){t.table||
R(e,t.wire),t.put(e,n===void 0?t.zero():n)}function Qt(e,t,n){if(Me(e)===0)return void e.at++;ce(e,8),J(e),e.depth--||D(`${t.name} nests deeper than ${st}`);let o=t.
fields();kt(e,Et+xt*o.length);let r={},i="";for(let a of o){let{name:u,all:c,of:m}=a,h=c&&c[0]===a;if(h&&(r[u]=void 0),n>0&&!K(e))n--,c||(r[u]=Ge(a));else if(!c)
r[u]=Dn(e,a);else if(h&&Me(e)===3){e.at++,i+=` ${u} `;let y=L(e),b=c.find(S=>S.number===y);b?r[u]={case:b.case,value:At(e,b.of)}:y&&D(`${t.name}.${u} has no mem\
ber ${y}`)}else if(!i.includes(` ${u} `)){let y=it(e,m);(y instanceof Uint8Array?y.length:!Object.is(y,m.zero()))&&(r[u]={case:a.case,value:y})}}return e.depth++,
r}function Dn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Me(e)===0)return e.at++,Ge(t);if(!n)return it(e,r);for(let u of n)ce(e,u);let i=L(e),a=Ge(t);for(;i-- >
0;)kt(e,o?Et:xt),o?a.set(it(e,o),At(e,r)):a.push(At(e,r));return a}function it(e,{wire:t,table:n,take:o}){return n||ce(e,t),o(e)}var At=(e,t)=>it(e,t)??Zt(e,t.table);
function Zt(e,t){let n={},o=t.fields();kt(e,Et+xt*o.length);for(let r of o)n[r.name]=r.all?void 0:Ge(r);return n}function kt(e,t){(e.memory-=t)<0&&D("exceeds th\
e memory limit")}var Se=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Pn=e=>Se(3,()=>{},(t,n)=>n?Jt(t,e,n):R(t,0),t=>Qt(t,e,0),e);function Bn(e){let t=Object.
values(e);return Se(10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;we(r>=0||o===(o|0)&&o<0&&i>=t.length,o),P(n,r<0?i:r)},n=>{let o=L(n)>>>0,r=o-2147483648;
return o>=t.length&&(r>=0||t.includes(r))&&D(`an enum has the index ${o}`),t[o]??r})}var ot=(e,t)=>Se(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?
i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(a)&&a>=0)return P(n,a);we((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let u=e?r<<1n^r>>63n:r;for(;u>>53n;u>>=7n)R(n,Number(
u&127n)|128);P(n,Number(u))},n=>{let{at:o}=n,r=L(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.
bytes[o++]&127)<<a;i=BigInt.asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||D("an integer is beyond 2^53"),Number(r)):BigInt(r)}),jt=(e,t)=>Se(
e,()=>0,(n,o)=>{we(typeof o=="number",o),Kt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)R(n,wt[r])},n=>{for(let o=0;o<t;o++)wt[o]=J(n);return Kt[t>4?
"getFloat64":"getFloat32"](0)}),zt={b:Se(7,()=>!1,(e,t)=>{we(typeof t=="boolean",t),R(e,+t)},e=>{let t=J(e);return t>1&&D(`a bool is ${t}`),t>0}),i:Se(12,()=>0,
(e,t)=>{we(t===(t|0),t),P(e,(t<<1^t>>31)>>>0)},e=>{let t=L(e);return t>>>1^-(t&1)}),u:Se(10,()=>0,(e,t)=>{we(t===t>>>0,t),P(e,t)},e=>L(e)>>>0),l:ot(!0,!1),w:ot(
!1,!1),L:ot(!0,!0),W:ot(!1,!0),f:jt(14,4),d:jt(15,8),s:Se(5,()=>"",(e,t)=>{we(typeof t=="string",t),R(e,10),ve(e,t)},e=>(ce(e,10),ne(e))),y:Se(4,()=>new Uint8Array,
(e,t)=>{we(Qe(t),t),R(e,10),Ie(e,t)},e=>(ce(e,10),new Uint8Array(ye(e))))},Yt=(e,t)=>$(3,`${e} ${t}`);function we(e,t){if(!e)throw new Error(`cannot be the ${typeof t}\
 ${String(t)}`)}var It=16,en=65536,tn=256,$n=61440,_n={metadata:{}},Ct=e=>e.endsWith("-bin"),nn=(e,t)=>Ct(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.test(`${e}
${Ct(e)?"":t}`);function Mt(e){if(typeof e=="string")return me(e);if(!Qe(e))throw $(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ke(e,{
isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ue(e,It,()=>{t&&ue(e,4,()=>{}),n!==void 0&&ue(e,1,()=>P(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.
MAX_SAFE_INTEGER)));let u=0;if(Object.entries(o).forEach(([c,m],h)=>{if(!nn(c,m))throw $(3,`invalid metadata entry ${c}: keys have a-z 0-9 - _ . and values prin\
table ASCII, or bytes under -bin`);if(u+=c.length+m.length+8,h>=tn||u>$n)throw $(8,"too much metadata");ue(e,2,()=>{ve(e,c),ie(e,Mt(m))})}),r){let{code:c,details:m,
mayHaveRun:h}=r;ue(e,3,()=>{P(e,c),e.at-i+m.length+32<=en&&ie(e,m)}),h||ue(e,5,()=>{})}})||(e.at=i)}function _e(e){if(Me(e)!==It)return _n;e.at++;let t=G(ye(e));
K(t)>en&&D("a prefix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;K(t);){let i=J(t),a=G(ye(t));if(i===1)o.timeout=L(a,10)/1e3;else if(i===2){
let u=ne(a),c=Ct(u)?Ue(a):ne(a,K(a));(!nn(u,c)||u in n||++r>tn)&&D("invalid metadata"),n[u]=c}else i===3?(o.code=nt(L(a,10)),o.details=Ue(a)):i===5&&(o.isRefused=
!0)}return o}function rn(e){let t=1;for(;e[t]>127;)t++;return e[0]===It&&e[t+1]===4&&e[t+2]===0}function at(e,{metadata:t,code:n,details:o,isRefused:r}){if(Me(e)===
6)return e.at++,ce(e,5),ce(e,10),new U(n??2,ne(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function lt(e,t,n){Ke(e,{isBackward:n,status:t,metadata:t.metadata}),
ie(e,[6,5,10]),ve(e,t.message)}var dt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function ut(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw $(9,`incompatibl\
e layouts of ${e.name}`);return 1}var ct=({added:e=[0,0]},t,n)=>t*e[n];function Ut(e,t){let n=r=>r.match(/../g)?.forEach(i=>R(e,parseInt(i,16)));ve(e,t.name),n(
t.fingerprint),P(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))P(e,r-o),o=r}function on(e){let t=()=>{let o="";
for(;o.length<16;)o+=J(e).toString(16).padStart(2,"0");return o},n={service:ne(e),fingerprint:t(),compatible:[],operations:[]};for(let o=L(e);o>0;o--)n.compatible.
push(t());for(let o=0;K(e);)n.operations.push(o+=L(e));return n}var Nt=5<<20,Fn=1024,Vn=65536,Fe=10,Re=16384,Hn=Re/2,Ot=256,ft=262144,qn=1e5,Wn=64<<20,sn=8<<20,Xn=10,Gn=65536,Kn=2e3,jn=5,zn=1e4,an="the server is going away",
Yn=2147483647,Le=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),Yn));function dn(e,t,n,o,r){let i=Je(16384),a=new Map,u=new Map,c=new Map,m=[],h=0,y=0,b=0,S=0,C=0,N=32767,
T=[0,Nt,1/0,Re,0],H=!1,j=!1,z,q=Fe,re=0,Q=!1,_=0,X=!1,W=!1,F=0,Y,te=d=>{if(!(H||!fe))try{d(fe)}catch(f){B(Pe(f));try{fe.close()}catch{}}},Z=()=>{i.at&&(X=!1,W=!0,
te(d=>d.send(et(i))),i.at=_=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),te(d=>{let f=d.buffered();f>Wn?I("too many unsent bytes"):f>sn&&!w.isFull&&(w.
isFull=!0,M())}))},M=()=>te(d=>{if(d.buffered()>sn/2)return void Le(Xn,M);w.isFull=!1,t.room(w)}),s=()=>{i.at!==_?(_=i.at,queueMicrotask(s)):(Q=!1,Z())},l=(d,f,v,O)=>{
let{at:Ee}=i;try{Ze(i,Fe),i.at+=Fe,v?.(i,O);let pe=i.at,ge=pe-Ee-Fe,Ye=Math.max(T[1],Fn);if(ge>Ye)throw $(8,`the message has ${ge} bytes of at most ${Ye}`);i.at=
Ee;for(let In of[15,d,f,ge>>>16,ge])Gt(i,In);i.at=pe}catch(pe){throw i.at=Ee,pe}i.at>Gn?Z():Q||(Q=!0,_=0,queueMicrotask(s))},p=(d,{code:f,message:v})=>l(d,7,O=>{
P(O,f),ie(O,me(v.slice(0,256)))}),g=(d,f)=>{l(d,5,P,0),p(d,f)},E=d=>{if(!H){if(F=0,z){if(ie(z,d),z.at<q)return;d=et(z),z=void 0}try{let f=0,v=O=>d[f+O]<<8|d[f+O+
1];for(;!H&&!(d.length<(q=f+Fe));f=q){v(0)!==15&&D("a header without its magic");let O=v(6)*65536+v(8);if(O>Nt&&D(`a packet of ${O} bytes`),d.length<(q+=O))break;
k(v(2),v(4),d.subarray(f+Fe,q))}f<d.length&&(q-=f,ie(z=Je(),d.subarray(f)))}catch(f){I(`the server broke the protocol: ${f.message}`)}}},k=(d,f,v)=>{let O=G(v),
Ee=a.get(d);if(f>=10){w.isUp||D("a packet before HELLO");let pe=rn(v),ge=m[d%Re];if(!pe&&ge?.id===d&&ge.operation===f)return oe(d),t.answered(),ge.isGivenUp?y--:
t.replied(ge,v),A();if(r.filter(Ye=>Ye.packet(w,d,f,v)).length)return;if(pe&&V)return V.packet(d,f,v,!1)}else if(f<2){v.length&&D("a PING with a body"),f===1?w.
isUp||I("the server is a compat peer"):X||(X=!0,l(0,1));return}else{if(f===3&&!w.isUp)return ee(O);if(f===4)return x();if(f===6)return V?.cancel(d,L(O));if(f===
8)D("a stray hand-off");else{if(Ee&&f!==3&&f<8)return t.answered(),Ee.packet(f,v);if(f===2){let pe=d-N&32767;if(d>=32768&&pe&&pe<=16384)return N=d,V?V.packet(d,
2,v,!0):g(d,$(12,"no service is served"))}}}++re>qn&&I("too many stray packets")},ee=d=>{for((K(d)>Vn||ne(d,4)!=="fris"||!J(d))&&D("no HELLO");K(d);){let f=J(d),
v=G(ye(d));if(f in T)T[f]=L(v,10);else if(f===32||f===33)try{let O=on(v);(f===32?u:c).set(O.service,O)}catch{}}T[3]=Math.min(T[3],Re),w.isUp=!0,clearTimeout(ke),
t.room(w)},oe=d=>{m[d%Re]=void 0,h--===T[3]&&t.room(w)},Ae=(d,f,v)=>{a.set(f,d),d.begin(w,f,T[4],v)},A=()=>{j&&h===y&&!a.size&&!V?.progress.size&&queueMicrotask(
()=>I(an))},x=()=>{j||(j=!0,t.closing(w,an),A())},I=d=>{H||(Z(),te(f=>f.close()),B(d))},B=d=>{if(H)return;H=!0,clearInterval(Y),clearTimeout(ke),t.closing(w,d),
w.isUp=!1;let f=new U(14,`the connection was lost: ${d}`);for(let v of m)v&&!v.isGivenUp&&t.lost(v,f);for(let v of a.values())v.lost(f);V?.down(f);for(let v of r)
v.down(w,f)},w={isUp:!1,isFull:!1,write:l,reset:p,refuse:g,fits(d){let f=u.get(d.name);if(f)return f.fingerprint===d.fingerprint||n.includes(d)?ut(d,f):void 0;for(let v of u.
values())if(v.operations.some(O=>d.operations.includes(O)))throw $(12,`the server has ${v.service} instead of ${d.name}`);return 0},call(d,f){if(w.isFull||h>=T[3])
return!1;do b=b+1&65535;while(m[b%Re]);let v=d.id=b;m[v%Re]=d,h++;try{l(v,d.operation,f,d)}catch(O){throw oe(v),O}return!0},cancel(d){H||(d.isGivenUp=!0,l(d.id,
6,P,d.operation),++y>=Hn&&x(),A())},open(d,f,v){if(!T[2])throw $(12,"the server does not accept streams");if(w.isFull||S>=Math.min(T[2],28672))return!1;do C=C%32767+
1;while(a.has(C));let O=C;a.set(O,d),S++;try{l(O,2,v)}catch(Ee){throw w.over(O),Ee}return d.begin(w,O,T[4],f),!0},accept:Ae,over(d){a.delete(d),d<32768&&(S--,t.
room(w)),A()},drain:x,closeIfIdle:A},V=o?.on(w,c),ke=Le(zn,()=>I("handshake timeout")),xe=()=>{i.isFlat=fe?.isFlat,l(0,3,d=>{ie(d,me("fris"));let f=V?Ot:0;[Nt,
f,f,ft].forEach((v,O)=>ue(d,O+1,()=>P(d,v)));for(let v of o?.services??[])ue(d,32,()=>Ut(d,v));for(let v of n)ue(d,33,()=>Ut(d,v))}),l(1,0),Z(),!H&&(Y=setInterval(
()=>{if(++F>jn)return I("keepalive timeout");(F>1||!W)&&l(0,0),W=!1;let d=performance.now();for(let f of m)f&&f.until<=d&&!f.isGivenUp&&t.expired(f)},Kn))},fe,qt=d=>fe?
d():queueMicrotask(d),Wt=d=>qt(()=>B(d));try{fe=e({open:()=>qt(xe),data:E,close:Wt})}catch(d){Wt(Pe(d))}return w}function pt(e,t){let n=[],o=0,r=!1,i=()=>{},a=b=>{r||=b,i()},u=()=>n[o],c=()=>{let b=u();return b!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),b},m=()=>{n=[],o=0},h=(async function*(){try{for(;;){let b=c();if(b!==void 0){let S=e(b);S!==void 0&&(yield S)}else if(r){if(r!==!0)throw r;return}else await new Promise(
S=>i=S)}}finally{t()}})(),{return:y}=h;return h.return=()=>(t(),m(),a(!0),y.call(h,void 0)),{messages:h,first:u,take:c,clear:m,put:b=>{n.push(b),i()},end:a}}var Rt=64,Jn=4,Qn=4096,Lt=(e,t)=>e instanceof Ce?new U(13,`not a valid ${t.name}: ${e.message}`):U.from(e);function mt(e,t,n,o,r){let i,a=0,u=0,c=0,m=0,h=0,y=!0,
b=!0,S=!1,C=!1,N=()=>{},T,H=()=>!y&&!b,{messages:j,clear:z,put:q,end:re}=pt(M=>{let s=M.length+Rt;m-=s,h+=s,b&&h*Jn>=ft&&(i?.write(a,5,P,h),h=0);try{let l=G(M),
p=_e(l);if(l.at&&(r?.(Q.metadata=p.metadata),!K(l)))return;let g=at(l,p);if(g)throw g;return Oe(l,t,u)}catch(l){throw Lt(l,t)}},()=>n?F(!0):te()),Q=Object.assign(
j,{metadata:{}}),_=()=>{H()&&(N(),T?.(),i?.over(a),i=T=void 0,o())},X=()=>{y&&(y=!1,i?.write(a,7),_())},W=M=>{y=b=!1,re(M),_()},F=(M,s=Be(!0))=>{H()||i?.reset(a,
s),z(),W(M)},Y=M=>F(M,M),te=()=>{z(),S=!0},Z=M=>{if(!i||!y)return;let s=M instanceof U;i.write(a,2,l=>{let{at:p}=l;s?lt(l,M,!1):$e(l,e,M),c-=l.at-p+Rt}),s&&X()};
return{messages:Q,begin(M,s,l,p){i=M,a=s,c=l,u=p},packet(M,s){if(M===2)return!b||S?void 0:m+h>=ft?Y(new U(8,"the peer exceeded its credit")):(m+=s.length+Rt,q(new Uint8Array(
s)));let l=G(s);if(M===5){let p=L(l,10);C||=!p,(c+=p)>0&&N()}else if(s.length){let p=nt(L(l));W(new U(p,new TextDecoder().decode(Ue(l).subarray(0,Qn)),{mayHaveRun:!C}))}else
b=!1,re(!0),_()},send:Z,async pump(M,s){try{let l=M,p=l?.[Symbol.asyncIterator]?.()??l?.[Symbol.iterator]?.();if(!p)throw $(3,`messages of a stream are an itera\
ble, not ${String(M)}`);for(T=async()=>{try{await p.return?.()}catch{}};;){for(;c<=0&&!H();)await new Promise(k=>N=k);if(H())return;let{done:g,value:E}=await p.
next();if(H())return;if(g)break;Z(E)}T=void 0,X()}catch(l){if(!n)throw T?.(),T=void 0,l;F(s?tt(l):U.from(l))}},finish:X,discard:te,fail:Y,lost:W}}var Zn=3e4,er=5e3,tr=20,un=2e3,cn=10,yt=class{constructor(t,{timeout:n,patience:o=er,metadata:r,serve:i,stayConnected:a}={}){let u,c=0,m=cn,h=0,y,b=!1,S="",C=[new Set,
new Set],N=({method:{sends:s,receives:l}})=>C[s||l?1:0],T=new Set,H=[],j=()=>{u||y||b||!(C[0].size||C[1].size||a)||(h=performance.now(),u=dn(t,z,[...T],i,H))},z={
room:s=>queueMicrotask(()=>{for(let l of C)for(let p of l){if(u!==s||!q(p,s))break;u===s&&l.delete(p)}}),closing(s,l){if(u===s){if(u=void 0,S=l,s.isUp)for(let p of C)
p.forEach(Q);s.isUp&&performance.now()-h>=un?c=0:b||(clearTimeout(y),y=Le(Math.random()*Math.min(tr*2**Math.min(c++,16),un),()=>{y=void 0,j()})),j()}},answered:()=>void(c=
0),replied(s,l){let p=s,{method:{reply:g},options:{onMetadata:E}}=p;X(p);try{let k=G(l),ee=_e(k),oe=at(k,ee);if(oe)throw oe;k.at&&E?.(ee.metadata),p.resolve(Oe(
k,g,p.missing)),m<cn&&(m+=.1)}catch(k){p.reject(Lt(k,g))}},expired:s=>_(s),lost(s,l){let p=s;if(p.link=void 0,!p.method.idempotent||m<1)return W(p,l);m--,re(p)}},
q=(s,l)=>{let{service:p,method:g}=s;try{let E=p?l.fits(p):0;return E!==void 0?(s.missing=ct(g,E,1),s.start(s,l)&&(s.isSent=!0)):(T.add(p),c=0,l.drain(),!1)}catch(E){
return W(s,U.from(E)),!0}},re=s=>{if(!(u?.isUp&&q(s,u))){if(b)return W(s,fn(s.isSent));N(s).add(s),j(),Q(s)}},Q=s=>{s.patientUntil=performance.now()+(s.options.
patience??o),_(s)},_=s=>{let{until:l,isSent:p,patientUntil:g}=s,E=performance.now(),k=N(s).has(s)&&!u?.isUp&&`no connection to the server${S&&`: ${S}`}`;clearTimeout(
s.timer),E>=l?W(s,rt(p,k?`; ${k}`:"")):E>=g&&k?W(s,We(14,k,p)):s.timer=Le((E<g?Math.min(l,g):l)-E,()=>_(s))},X=s=>{N(s).delete(s),clearTimeout(s.timer),s.options.
signal?.removeEventListener("abort",s.abort)},W=(s,l)=>{X(s),s.link?.cancel(s),s.reject(l)},F=(s,{sentTimeout:l,until:p,options:{metadata:g}})=>{(l!==void 0||r||
g)&&Ke(s,{timeout:l&&p-performance.now(),metadata:{...r,...g}})},Y=(s,l)=>{F(s,l),$e(s,l.method.request,l.request)},te=(s,l)=>{let p=l.call(s,Y);return p&&(s.link=
l),p},Z=(s,l,p,g,E,k,ee,oe,Ae=1/0)=>{let{signal:A}=g,x={id:0,operation:l.operation,until:performance.now()+ +(E??Ae),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,
timer:void 0,link:void 0,service:s,method:l,request:p,options:g,sentTimeout:E,start:k,resolve:ee,reject:oe,abort:A&&(()=>W(x,Be(x.isSent)))};return Number.isNaN(
x.until)?oe($(3,"the timeout is not a number; it is in milliseconds")):A?.aborted?x.abort?.():(A?.addEventListener("abort",x.abort),E!==void 0&&_(x),(E===void 0||
E>0)&&re(x)),x},M=(s,l,p,g={})=>{let E,k=mt(l.request,l.reply,!0,()=>E&&X(E),g.onMetadata);return E=Z(s,l,p,g,g.timeout,(ee,oe)=>{let Ae=oe.open(k,ee.missing,A=>{
F(A,ee),R(A,9),P(A,ee.operation)});return Ae&&k.pump(p,l.sends),Ae},()=>{},k.fail),k};this.unary=(s,l,p,g={})=>new Promise((E,k)=>void Z(s,l,p,g,g.timeout??n,te,
E,k,Zn)),this.serverStreaming=(s,l,p,g)=>M(s,l,[p],g).messages,this.twoWay=(s,l,p,g)=>M(s,l,p,g).messages,this.clientStreaming=async(s,l,p,g)=>{let{messages:E}=M(
s,l,p,g),{done:k,value:ee}=await E.next();if(k)throw new U(13,"there is no reply");return E.return?.(),ee},this.name=s=>void T.add(s),this.mount=s=>void H.push(
s),this.connected=(s,l)=>new Promise((p,g)=>{Z(void 0,{},void 0,{patience:l},void 0,(E,k)=>k.isFull?!1:(s?.(k),X(E),p(k),!0),p,g)}),this.close=()=>{b=!0,clearTimeout(
y);for(let s of C)for(let l of s)W(l,fn(l.isSent));u?.drain()},a&&queueMicrotask(j)}},fn=e=>We(9,"the channel is closed",e);function Dt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,u)=>t[r]?.(a,u)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,u=(c,m)=>{let h=o.get(c);if(!h||!(h.method.sends||h.method.receives)===m)throw $(12,`unknown ope\
ration ${c}`);if(a.size>=Ot)throw $(8,"too many calls are in progress");let{service:y,method:b}=h,S=i.get(y.name);return{...h,left:ct(b,S?ut(y,S):0,0)}};return{
progress:a,packet(c,m,h,y){let b,S=N=>r.write(c,m,T=>{N instanceof U?lt(T,N,!0):(Ke(T,{isBackward:!0}),$e(T,b.reply,N))}),C=y?c:pn(c,m);a.has(C)&&D("a request w\
ith the id of another");try{let N=G(h),{timeout:T,metadata:H}=_e(N);y&&(ce(N,9),m=L(N,3));let j=u(m,y);({method:b}=j);let z=y||Oe(N,b.request,j.left),q=new AbortController,
re=!1,Q=F=>{re||(re=!0,clearTimeout(W),F||q.abort(),a.delete(C),r.closeIfIdle())},_=y?mt(b.reply,b.request,!1,()=>Q(!1)):{send(F){re||(S(F),Q(!0))},fail:S,finish(){},
discard(){}},X=F=>{_.fail(F),Q(!1)},W=T===void 0?void 0:Le(T,()=>X(rt(!0)));a.set(C,X),y&&r.accept(_,c,j.left),nr(j,y,z,_,{signal:q.signal,metadata:H})}catch(N){
let T=N instanceof Ce?$(3,`malformed request: ${N.message}`):U.from(N);y?r.refuse(c,T):S(T)}},cancel(c,m){a.get(pn(c,m))?.(Be(!0))},down(c){for(let m of a.values())
m(c)}}}}}var pn=(e,t)=>t*65536+e;async function nr({method:e,handler:t},n,o,r,i){let a=!1;try{if(e.sends)o=r.messages;else if(n){let c=await r.messages.next();if(c.
done)throw $(3,"no request");o=c.value}a=!0;let u=t(o,i);e.receives?await r.pump?.(u):(r.send(await u),r.finish())}catch(u){try{r.send(a?tt(u):U.from(u))}catch(c){
r.send(new U(13,Pe(c)))}}r.discard()}var Ve=65280,rr=16<<20,Pt=64,or=65536,ir=4,ht={now:0,last:1,oldest:2},mn=e=>$([8,12,7][J(e)-3]??3,ne(e,K(e))),yn=new WeakMap,je=class{constructor(t){this.channel=
t;this.requests=new Map;this.last=0;let{requests:n}=this,o=yn.get(t);if(o)return o;yn.set(t,this),t.mount({packet:(r,i,a,u)=>{if(a<Ve)return!1;!i&&a===Ve+5&&(this.
refused??=mn(G(u)));for(let c of i?[n.get(i)]:n.values())c?.packet(r,i,a-Ve,G(u));return!0},down(r,i){for(let a of[...n.values()])a.down(r,i)}})}subscribe(t,{group:n="",
from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(o=>o.write(0,Ve+2,r=>{Ie(r,me(t)),ie(r,Mt(n))}))}async sync(){await(await this.
request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){let{channel:i,requests:a}=this;do this.last=this.last%65535+1;while(a.
has(this.last));let u=this.last;return new Promise((c,m)=>{let h,y=0,b=0,S=!1,{first:C,messages:N,put:T,end:H,take:j}=pt(A=>(y-=A.payload.length+Pt,A),()=>{a.delete(
u)&&n!==void 0&&h?.isUp&&h.write(u,Ve+1)}),z=A=>{a.delete(u),m(A),H(A)},q=o?[]:n?.split(".")??[],re=q[q.length-1]===">",Q=A=>{let x=A.split(".");return(re?x.length>=
q.length:x.length===q.length)&&q.every((I,B)=>I===">"||I==="*"||I===x[B])},_=t===0&&!o&&r!==void 0,X=typeof r=="object";if(X&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.
offset>=0))throw $(3,`${r.epoch}, ${r.offset} is not a position of a message`);let W=X||r===void 0?ht.oldest:ht[r],F=new Map(X?[[n,{...r,offset:r.offset+1}]]:[]),
Y=new Map,te=0,Z="",M=!1,s=!1,l=!1,p=!1,g=!1,E=A=>{h?.write(u,Ve+A,x=>{if(n!==void 0&&Ie(x,me(n)),A===6){R(x,W);for(let[I,B]of F){ve(x,I);for(let w=0;w<16;w+=2)
R(x,parseInt(B.epoch.slice(w,w+2),16));P(x,B.offset)}}else ie(x,me(o))})},k=A=>{i.connected(x=>{a.has(u)&&(h=x,E(_?6:t))},A).catch(z)},ee=()=>{g=!0,s&&(l||!(_&&
p))&&(S=!0),c(N)},oe=A=>Array.from(ye(A,8),x=>x.toString(16).padStart(2,"0")).join(""),Ae=(A,x,I)=>{if(x===5&&A&&!g&&_&&I.bytes[I.at]===ir)l=!0,E(0);else if(x===
6&&A&&I.bytes[I.at]===0){J(I),p=J(I)===1;let B=oe(I);te=L(I,10);let w=Z!==""&&Z!==B,V=!n?.match(/[*>]/)&&F.size>0;Z=B,ee(),l=!1,S||=V?!te:w}else if(x===7)for(;K(
I);){let B=ne(I),w={epoch:oe(I),offset:L(I,10)};if(Number.isSafeInteger(w.offset)||D("an offset is beyond 2^53"),!g||!A&&!Q(B))continue;let V=Y.get(B);A&&!V?(te--,
V=F.get(B)??(M?{...w,offset:1}:void 0)):!A&&V?.epoch!==w.epoch&&(V=void 0),V&&p&&(V.epoch===w.epoch&&V.offset<=w.offset?b+=w.offset-V.offset:S=!0),Y.size>=or&&(Y.
clear(),l=!0),Y.set(B,w)}else return!1;return!0};a.set(u,{packet(A,x,I,B){if(!(A!==h||_&&Ae(x,I,B)))if(I===2){let w=ne(B);if(!x&&(!g||!Q(w)))return;let V=Ue(B),
ke=Y.get(w);ke&&Y.set(w,{...ke,offset:ke.offset+1}),y+=V.length+Pt;for(let xe;y>rr&&(xe=j());){y-=xe.payload.length+Pt;let fe=C();fe?(fe.lagged+=xe.lagged+1,fe.
reconnected||=xe.reconnected):(b+=xe.lagged+1,S||=xe.reconnected)}T({topic:w,payload:V,position:ke,lagged:b,reconnected:S}),b=0,S=!1}else I===4?_&&p&&g||(b+=L(B,
10)):x&&(K(B)?z(mn(B)):ee())},down(A,x){if(A===h){if(n===void 0||!g&&!s)return z(x);if(g)if(te>0)for(let[I,B]of Y)F.set(I,B);else F=l?new Map:Y,W=l?ht.now:ht.oldest,
M=!l;Y=new Map,g=!1,s=!0,k(1/0)}}}),k()})}};var bt="frisbee.1";function hn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[bt,...t]);r.binaryType="arraybuffer";let i="";return r.onopen=()=>{if(r.protocol===bt)return o.
open();i=`the server does not speak ${bt}`,r.close()},r.onmessage=({data:a})=>{a instanceof ArrayBuffer?o.data(new Uint8Array(a)):r.close()},r.onerror=({message:a=""})=>void(i||=
a),r.onclose=({code:a,reason:u})=>{o.close(i||`the WebSocket was closed (${a}${u&&`, ${u}`})`)},{send:a=>r.send(a),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Bt=(e,t={})=>new yt(hn(e,t),t);var de={BUY:0,SELL:1},$t=he("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[bn,bn,ar]),ar=he("exchange.Deal","number:u side:e price:u amount:\
u",()=>[de]),gn=he("exchange.Inquiry","side:e amount:u",()=>[de]),bn=he("exchange.Level","price:u amount:u"),lr=he("exchange.Nothing",""),vn=he("exchange.Offer",
"price:u called:u answered:u"),dr=he("exchange.Order","number:u side:e price:u amount:u",()=>[de]),ur=he("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[de]),De=dt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:lr,reply:$t},trade:{operation:11,request:dr,reply:ur,sends:!0,receives:!0},
inquire:{operation:12,request:gn,reply:vn}}),gt=class{constructor(t){this.channel=t,t.name(De)}look(t,n){return this.channel.unary(De,De.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(De,De.methods.trade,t,n)}inquire(t,n){return this.channel.unary(De,De.methods.inquire,t,n)}},Sn=dt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:gn,reply:vn}});var Ft=240,Tn=8,le=e=>document.getElementById(e),ae=(e,t)=>void(le(e).textContent=t),be=e=>(e/100).toFixed(2),vt=e=>e===de.BUY?"buy":"sell";function se(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function cr(e,t){let n=le(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Tn;)n.lastElementChild?.remove()}var ze=new Map,wn=0,An=0,kn=()=>{},Vt=[];async function*fr(){for(;;){let e=Vt.shift();
e?yield e:await new Promise(t=>kn=t)}}function pr({number:e,amount:t,price:n,left:o}){let r=ze.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===de.BUY?
1:-1;wn+=i*t,An-=i*t*n,ae("held",String(wn)),ae("cash",be(An));let a=[...ze.values()].reverse().slice(0,Tn).map(({order:u,done:c,left:m})=>se("tr",[se("td",`${vt(
u.side)} ${u.amount}`,vt(u.side)),se("td",be(u.price)),se("td",String(c)),se("td",String(m))]));le("orders").replaceChildren(...a)}le("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?de.SELL:de.BUY,o={number:ze.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};ze.set(o.number,{order:o,done:0,left:o.amount}),Vt.push(o),kn()});var qe=0,_t=0,He,Te=[];function xn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));le(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,se("li",[i,se("span",be(o)),se("span",String(r))])}))}function mr(e){for(let{number:o,price:r}of[...e].reverse())o>_t&&Te.push(r);Te.splice(0,Te.length-Ft);let[
t]=e;if(!t||t.number===_t)return;_t=t.number;let n=t.price-qe;qe&&n&&(ae("change",`${n>0?"▲":"▼"} ${be(Math.abs(n))}`),le("change").dataset.side=n>0?"buy":"\
sell"),qe=t.price,ae("last",be(qe)),le("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>se("li",[se("span",o===de.BUY?"bought":"sold",vt(o)),se("s\
pan",be(r)),se("span",String(i))]))),Ht()}function En({bids:e,asks:t,deals:n,traders:o,orders:r}){xn("asks",t),xn("bids",e),t[0]&&e[0]&&ae("spread",`${be(t[0].price-
e[0].price)} apart`),ae("traders",String(o));let i=performance.now();(!He||i-He.at>1e3)&&(He&&ae("rate",((r-He.orders)/((i-He.at)/1e3)).toFixed(0)),He={orders:r,
at:i}),mr(n)}function Ht(){let e=le("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Te.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=le("state"),u=Math.min(...Te)-2,c=Math.max(...Te)+2,m=n-56,h=S=>S/(Ft-1)*m,y=S=>(c-S)/(c-u)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let S=0;S<5;S++){let C=u+(c-u)*S/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,y(C)),t.lineTo(m,y(C)),t.stroke(),t.globalAlpha=1,t.fillText(be(C),m+8,y(C)+4)}let b=Ft-Te.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),Te.
forEach((S,C)=>t.lineTo(h(b+C),y(S))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(h(b),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Ht);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Ht);var yr=Dt(Sn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(le("margin").value)*100),o=qe&&qe+
(e===de.BUY?n:-n);return cr("asked",se("li",`${vt(e)} ${t}? You said ${be(o)}.`)),{price:o}}}),{hostname:hr}=location,Cn=Bt(`ws://${hr}:${document.documentElement.
dataset.port}/`,{serve:yr,stayConnected:!0}),St=new gt(Cn),br=new je(Cn);le("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await St.inquire({side:de.BUY,amount:10}),a=(performance.now()-n).toFixed(0);ae(
"offer",o?`${be(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){ae("offer",U.from(n).message)}t.disabled=!1});async function gr(){
for(;;){try{let e=await br.subscribe("exchange.book"),t=St.trade(fr()),n=(async()=>{for await(let r of t)pr(r)})();le("state").dataset.is="open",ae("state","con\
nected"),En(await St.look({}));let o=(async()=>{for await(let{payload:r}of e)En(Tt($t,r))})();await Promise.race([n,o])}catch(e){le("state").dataset.is="failed",
ae("state",U.from(e).message)}Vt.length=0;for(let e of ze.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}gr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await St.look({},{timeout:5e3}),ae("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ae("ping","–")}},2e3);
