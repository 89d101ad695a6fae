var In=new TextEncoder,Mn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Xt=40,Ce=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
L=e=>{throw new Ce(e)},G=e=>({bytes:e,at:0,depth:0,memory:0}),Je=(e=64)=>G(new Uint8Array(e)),Qe=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,me=e=>In.encode(
e);function Ze(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function N(e,t){e.at===e.bytes.
length&&Ze(e,1),e.bytes[e.at++]=t}function Gt(e,t){N(e,t>>8),N(e,t)}function D(e,t){for(;t>127;t=Math.floor(t/128))N(e,t|128);N(e,t)}function ie(e,t){Ze(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}function Ie(e,t){D(e,t.length),ie(e,t)}function ve(e,t){let{at:n}=e,{length:o}=t,r=o>Xt?128:0;N(e,o);for(let i=0;i<o&&r<128;i++)
N(e,r=t.charCodeAt(i));r>127&&(e.at=n,Ie(e,me(t)))}function ue(e,t,n){N(e,t);let{at:o}=e;n();let r=e.bytes.slice(o,e.at);return e.at=o,Ie(e,r),r.length>0}var et=({
bytes:e,at:t})=>e.subarray(0,t),K=({bytes:e,at:t})=>e.length-t,Me=({bytes:e,at:t})=>e[t],Y=e=>e.bytes[e.at++]??L("truncated");function ce(e,t){let n=Y(e);n!==t&&
L(`found byte ${n}, expected ${t}`)}function O(e,t=5){let n=0;for(let o=1;t-- >0;o*=128){let r=Y(e);if(r<128)return n+r*o;n+=(r-128)*o}return L("a number is too\
 long")}function ye(e,t=O(e)){return t>K(e)&&L("truncated"),e.bytes.subarray(e.at,e.at+=t)}var Ue=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function ne(e,t=O(
e)){let{bytes:n,at:o}=e,r="",i=0;if(t<=Xt)for(let a;i<t&&(a=n[o+i])<128;i++)r+=String.fromCharCode(a);if(i<t){let a=ye(e,t);try{return Mn.decode(a)}catch{L("a t\
ext is not UTF-8")}}return e.at+=t,r}var M=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:i=new Uint8Array,metadata:a={},mayHaveRun:u=!0}=r??{};Object.assign(this,
{details:i,metadata:a,mayHaveRun:u,code:n})}static from(n){return n instanceof e?n:new e(2,Pe(n),{cause:n})}};var Pe=e=>e instanceof Error?e.message:String(e),$=(e,t)=>new M(e,t,{mayHaveRun:!1}),tt=e=>{let t=M.from(e);return t.mayHaveRun?t:new M(t.code,t.message,{...t,mayHaveRun:!0})},
nt=e=>e>0&&e<=16?e:2,We=(e,t,n)=>new M(e,n?t:`not sent: ${t}`,{mayHaveRun:n}),Be=e=>We(1,"the caller cancelled the call",e),rt=(e,t="")=>We(4,`deadline exceeded${t}`,
e);var st=100,Un=64<<20,Nn=12,xt=8,Et=56,wt=new Uint8Array(8),Kt=new DataView(wt.buffer);function he(e,t,n){let o;return{name:e,fields:()=>o??=On(t,n?.()??[])}}var Tt=(e,t)=>Oe(G(t),e,0);function $e(e,t,n){e.depth=st,Jt(e,t,n)}function Oe(e,t,n){return e.depth=st,e.memory=Math.max(Un,K(e)*Nn),Qt(e,t,n)??Zt(e,t)}function On(e,t){
let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let i=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(r);if(!i)throw new Error(`invalid table entry:\
 ${r}`);let[,a,u,c,m,y]=i,h=y==="m"?Dn(t[o++]):y==="e"?Pn(t[o++]):zt[y],b=zt[m[1]??""],S=b?[2,b.wire,h.wire,10]:m==="*"?[1,h.wire,10]:void 0,A=u?n.get(u):void 0;
u&&!A&&n.set(u,A=[]);let P={name:u??a,of:h,isOptional:m==="?",key:b,head:S,case:a,number:+c,all:A};return A?.push(P),P})}var Ge=({head:e,key:t,isOptional:n,of:o})=>t?
new Map:e?[]:n?void 0:o.zero();function Jt(e,t,n){if(!e.depth--)throw Yt(t.name,`nests deeper than ${st}`);N(e,8),N(e,0);let o="";try{for(let r of t.fields()){let{
all:i,name:a}=r,u=n[o=a];if(!i)Rn(e,r,u);else if(e.isFlat||r===i[0]){let c=u,m=i.find(h=>h.case===c?.case);if(c&&!m)throw new Error(`has no member ${c.case}`);e.
isFlat||(N(e,3),D(e,m?m.number:0));let y=e.isFlat?r:m;y&&Xe(e,y.of,y===m?c?.value:void 0)}}}catch(r){throw r instanceof M?r:Yt(`${t.name}.${o}`,r.message)}e.depth++}
function Rn(e,t,n){let{head:o,key:r,of:i}=t;if(n===void 0&&(o||t.isOptional)&&(n=Ge(t)),o){let a=n,u=n,c=r?a.size:u.length;we(c>=0,n);for(let m of o)N(e,m);if(D(
e,c),r)for(let[m,y]of a)Xe(e,r,m),Xe(e,i,y);else for(let m of u)Xe(e,i,m)}else n===void 0&&t.isOptional&&!e.isFlat?N(e,0):Xe(e,i,n)}function Xe(e,t,n){t.table||
N(e,t.wire),t.put(e,n===void 0?t.zero():n)}function Qt(e,t,n){if(Me(e)===0)return void e.at++;ce(e,8),Y(e),e.depth--||L(`${t.name} nests deeper than ${st}`);let o=t.
fields();kt(e,Et+xt*o.length);let r={},i="";for(let a of o){let{name:u,all:c,of:m}=a,y=c&&c[0]===a;if(y&&(r[u]=void 0),n>0&&!K(e))n--,c||(r[u]=Ge(a));else if(!c)
r[u]=Ln(e,a);else if(y&&Me(e)===3){e.at++,i+=` ${u} `;let h=O(e),b=c.find(S=>S.number===h);b?r[u]={case:b.case,value:At(e,b.of)}:h&&L(`${t.name}.${u} has no mem\
ber ${h}`)}else if(!i.includes(` ${u} `)){let h=it(e,m);(h instanceof Uint8Array?h.length:!Object.is(h,m.zero()))&&(r[u]={case:a.case,value:h})}}return e.depth++,
r}function Ln(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Me(e)===0)return e.at++,Ge(t);if(!n)return it(e,r);for(let u of n)ce(e,u);let i=O(e),a=Ge(t);for(;i-- >
0;)kt(e,o?Et:xt),o?a.set(it(e,o),At(e,r)):a.push(At(e,r));return a}function it(e,{wire:t,table:n,take:o}){return n||ce(e,t),o(e)}var At=(e,t)=>it(e,t)??Zt(e,t.table);
function Zt(e,t){let n={},o=t.fields();kt(e,Et+xt*o.length);for(let r of o)n[r.name]=r.all?void 0:Ge(r);return n}function kt(e,t){(e.memory-=t)<0&&L("exceeds th\
e memory limit")}var Se=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Dn=e=>Se(3,()=>{},(t,n)=>n?Jt(t,e,n):N(t,0),t=>Qt(t,e,0),e);function Pn(e){let t=Object.
values(e);return Se(10,()=>t[0],(n,o)=>{let r=t.indexOf(o),i=o+2147483648;we(r>=0||o===(o|0)&&o<0&&i>=t.length,o),D(n,r<0?i:r)},n=>{let o=O(n)>>>0,r=o-2147483648;
return o>=t.length&&(r>=0||t.includes(r))&&L(`an enum has the index ${o}`),t[o]??r})}var ot=(e,t)=>Se(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),i=Number(r),a=e?
i<0?-2*i-1:2*i:i;if(Number.isSafeInteger(a)&&a>=0)return D(n,a);we((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let u=e?r<<1n^r>>63n:r;for(;u>>53n;u>>=7n)N(n,Number(
u&127n)|128);D(n,Number(u))},n=>{let{at:o}=n,r=O(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let i=0n;for(let a=0n;o<n.at;a+=7n)i|=BigInt(n.
bytes[o++]&127)<<a;i=BigInt.asUintN(64,i),r=e?i>>1n^-(i&1n):i}return t?(Number.isSafeInteger(Number(r))||L("an integer is beyond 2^53"),Number(r)):BigInt(r)}),jt=(e,t)=>Se(
e,()=>0,(n,o)=>{we(typeof o=="number",o),Kt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)N(n,wt[r])},n=>{for(let o=0;o<t;o++)wt[o]=Y(n);return Kt[t>4?
"getFloat64":"getFloat32"](0)}),zt={b:Se(7,()=>!1,(e,t)=>{we(typeof t=="boolean",t),N(e,+t)},e=>{let t=Y(e);return t>1&&L(`a bool is ${t}`),t>0}),i:Se(12,()=>0,
(e,t)=>{we(t===(t|0),t),D(e,(t<<1^t>>31)>>>0)},e=>{let t=O(e);return t>>>1^-(t&1)}),u:Se(10,()=>0,(e,t)=>{we(t===t>>>0,t),D(e,t)},e=>O(e)>>>0),l:ot(!0,!1),w:ot(
!1,!1),L:ot(!0,!0),W:ot(!1,!0),f:jt(14,4),d:jt(15,8),s:Se(5,()=>"",(e,t)=>{we(typeof t=="string",t),N(e,10),ve(e,t)},e=>(ce(e,10),ne(e))),y:Se(4,()=>new Uint8Array,
(e,t)=>{we(Qe(t),t),N(e,10),Ie(e,t)},e=>(ce(e,10),new Uint8Array(ye(e))))},Yt=(e,t)=>$(3,`${e} ${t}`);function we(e,t){if(!e)throw new Error(`cannot be the ${typeof t}\
 ${String(t)}`)}var It=16,en=65536,tn=256,Bn=61440,$n={metadata:{}},Ct=e=>e.endsWith("-bin"),nn=(e,t)=>Ct(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.test(`${e}
${Ct(e)?"":t}`);function Mt(e){if(typeof e=="string")return me(e);if(!Qe(e))throw $(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ke(e,{
isBackward:t,timeout:n,metadata:o={},status:r}){let{at:i}=e;ue(e,It,()=>{t&&ue(e,4,()=>{}),n!==void 0&&ue(e,1,()=>D(e,Math.min(Math.max(0,Math.round(n*1e3)),Number.
MAX_SAFE_INTEGER)));let u=0;if(Object.entries(o).forEach(([c,m],y)=>{if(!nn(c,m))throw $(3,`invalid metadata entry ${c}: keys have a-z 0-9 - _ . and values prin\
table ASCII, or bytes under -bin`);if(u+=c.length+m.length+8,y>=tn||u>Bn)throw $(8,"too much metadata");ue(e,2,()=>{ve(e,c),ie(e,Mt(m))})}),r){let{code:c,details:m,
mayHaveRun:y}=r;ue(e,3,()=>{D(e,c),e.at-i+m.length+32<=en&&ie(e,m)}),y||ue(e,5,()=>{})}})||(e.at=i)}function _e(e){if(Me(e)!==It)return $n;e.at++;let t=G(ye(e));
K(t)>en&&L("a prefix is too long");let n=Object.create(null),o={metadata:n},r=0;for(;K(t);){let i=Y(t),a=G(ye(t));if(i===1)o.timeout=O(a,10)/1e3;else if(i===2){
let u=ne(a),c=Ct(u)?Ue(a):ne(a,K(a));(!nn(u,c)||u in n||++r>tn)&&L("invalid metadata"),n[u]=c}else i===3?(o.code=nt(O(a,10)),o.details=Ue(a)):i===5&&(o.isRefused=
!0)}return o}function rn(e){let t=1;for(;e[t]>127;)t++;return e[0]===It&&e[t+1]===4&&e[t+2]===0}function at(e,{metadata:t,code:n,details:o,isRefused:r}){if(Me(e)===
6)return e.at++,ce(e,5),ce(e,10),new M(n??2,ne(e),{metadata:t,mayHaveRun:!r,...o&&{details:o}})}function lt(e,t,n){Ke(e,{isBackward:n,status:t,metadata:t.metadata}),
ie(e,[6,5,10]),ve(e,t.message)}var dt=(e,t,n,o)=>({name:e,fingerprint:t,compatible:n,methods:o,operations:Object.values(o).map(({operation:r})=>r)});function ut(e,t){if(e.fingerprint===t.fingerprint||t.compatible.includes(e.fingerprint))return 0;if(!e.compatible.includes(t.fingerprint))throw $(9,`incompatibl\
e layouts of ${e.name}`);return 1}var ct=({added:e=[0,0]},t,n)=>t*e[n];function Ut(e,t){let n=r=>r.match(/../g)?.forEach(i=>N(e,parseInt(i,16)));ve(e,t.name),n(
t.fingerprint),D(e,t.compatible.length),t.compatible.forEach(n);let o=0;for(let r of[...t.operations].sort((i,a)=>i-a))D(e,r-o),o=r}function on(e){let t=()=>{let o="";
for(;o.length<16;)o+=Y(e).toString(16).padStart(2,"0");return o},n={service:ne(e),fingerprint:t(),compatible:[],operations:[]};for(let o=O(e);o>0;o--)n.compatible.
push(t());for(let o=0;K(e);)n.operations.push(o+=O(e));return n}var Nt=5<<20,_n=1024,Fn=65536,Fe=10,Re=16384,Vn=Re/2,Ot=256,ft=262144,Hn=1e5,qn=64<<20,sn=8<<20,Wn=10,Xn=65536,Gn=2e3,Kn=5,jn=1e4,an="the server is going away",
zn=2147483647,Le=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),zn));function dn(e,t,n,o,r){let i=Je(16384),a=new Map,u=new Map,c=new Map,m=[],y=0,h=0,b=0,S=0,A=0,P=32767,
R=[0,Nt,1/0,Re,0],_=!1,ee=!1,j,q=Fe,re=0,J=!1,F=0,X=!1,W=!1,V=0,z,te=d=>{if(!(_||!fe))try{d(fe)}catch(f){B(Pe(f));try{fe.close()}catch{}}},Q=()=>{i.at&&(X=!1,W=
!0,te(d=>d.send(et(i))),i.at=F=0,i.bytes.length>1<<20&&(i.bytes=new Uint8Array(16384)),te(d=>{let f=d.buffered();f>qn?C("too many unsent bytes"):f>sn&&!w.isFull&&
(w.isFull=!0,I())}))},I=()=>te(d=>{if(d.buffered()>sn/2)return void Le(Wn,I);w.isFull=!1,t.room(w)}),s=()=>{i.at!==F?(F=i.at,queueMicrotask(s)):(J=!1,Q())},l=(d,f,v,U)=>{
let{at:Ee}=i;try{Ze(i,Fe),i.at+=Fe,v?.(i,U);let pe=i.at,ge=pe-Ee-Fe,Ye=Math.max(R[1],_n);if(ge>Ye)throw $(8,`the message has ${ge} bytes of at most ${Ye}`);i.at=
Ee;for(let Cn of[15,d,f,ge>>>16,ge])Gt(i,Cn);i.at=pe}catch(pe){throw i.at=Ee,pe}i.at>Xn?Q():J||(J=!0,F=0,queueMicrotask(s))},p=(d,{code:f,message:v})=>l(d,7,U=>{
D(U,f),ie(U,me(v.slice(0,256)))}),g=(d,f)=>{l(d,5,D,0),p(d,f)},T=d=>{if(!_){if(V=0,j){if(ie(j,d),j.at<q)return;d=et(j),j=void 0}try{let f=0,v=U=>d[f+U]<<8|d[f+U+
1];for(;!_&&!(d.length<(q=f+Fe));f=q){v(0)!==15&&L("a header without its magic");let U=v(6)*65536+v(8);if(U>Nt&&L(`a packet of ${U} bytes`),d.length<(q+=U))break;
k(v(2),v(4),d.subarray(f+Fe,q))}f<d.length&&(q-=f,ie(j=Je(),d.subarray(f)))}catch(f){C(`the server broke the protocol: ${f.message}`)}}},k=(d,f,v)=>{let U=G(v),
Ee=a.get(d);if(f>=10){w.isUp||L("a packet before HELLO");let pe=rn(v),ge=m[d%Re];if(!pe&&ge?.id===d&&ge.operation===f)return oe(d),t.answered(),ge.isGivenUp?h--:
t.replied(ge,v),x();if(r.filter(Ye=>Ye.packet(w,d,f,v)).length)return;if(pe&&H)return H.packet(d,f,v,!1)}else if(f<2){v.length&&L("a PING with a body"),f===1?w.
isUp||C("the server is a compat peer"):X||(X=!0,l(0,1));return}else{if(f===3&&!w.isUp)return Z(U);if(f===4)return E();if(f===6)return H?.cancel(d,O(U));if(f===8)
L("a stray hand-off");else{if(Ee&&f!==3&&f<8)return t.answered(),Ee.packet(f,v);if(f===2){let pe=d-P&32767;if(d>=32768&&pe&&pe<=16384)return P=d,H?H.packet(d,2,
v,!0):g(d,$(12,"no service is served"))}}}++re>Hn&&C("too many stray packets")},Z=d=>{for((K(d)>Fn||ne(d,4)!=="fris"||!Y(d))&&L("no HELLO");K(d);){let f=Y(d),v=G(
ye(d));if(f in R)R[f]=O(v,10);else if(f===32||f===33)try{let U=on(v);(f===32?u:c).set(U.service,U)}catch{}}R[3]=Math.min(R[3],Re),w.isUp=!0,clearTimeout(ke),t.room(
w)},oe=d=>{m[d%Re]=void 0,y--===R[3]&&t.room(w)},Ae=(d,f,v)=>{a.set(f,d),d.begin(w,f,R[4],v)},x=()=>{ee&&y===h&&!a.size&&!H?.progress.size&&queueMicrotask(()=>C(
an))},E=()=>{ee||(ee=!0,t.closing(w,an),x())},C=d=>{_||(Q(),te(f=>f.close()),B(d))},B=d=>{if(_)return;_=!0,clearInterval(z),clearTimeout(ke),t.closing(w,d),w.isUp=
!1;let f=new M(14,`the connection was lost: ${d}`);for(let v of m)v&&!v.isGivenUp&&t.lost(v,f);for(let v of a.values())v.lost(f);H?.down(f);for(let v of r)v.down(
w,f)},w={isUp:!1,isFull:!1,write:l,reset:p,refuse:g,fits(d){let f=u.get(d.name);if(f)return f.fingerprint===d.fingerprint||n.includes(d)?ut(d,f):void 0;for(let v of u.
values())if(v.operations.some(U=>d.operations.includes(U)))throw $(12,`the server has ${v.service} instead of ${d.name}`);return 0},call(d,f){if(w.isFull||y>=R[3])
return!1;do b=b+1&65535;while(m[b%Re]);let v=d.id=b;m[v%Re]=d,y++;try{l(v,d.operation,f,d)}catch(U){throw oe(v),U}return!0},cancel(d){_||(d.isGivenUp=!0,l(d.id,
6,D,d.operation),++h>=Vn&&E(),x())},open(d,f,v){if(!R[2])throw $(12,"the server does not accept streams");if(w.isFull||S>=Math.min(R[2],28672))return!1;do A=A%32767+
1;while(a.has(A));let U=A;a.set(U,d),S++;try{l(U,2,v)}catch(Ee){throw w.over(U),Ee}return d.begin(w,U,R[4],f),!0},accept:Ae,over(d){a.delete(d),d<32768&&(S--,t.
room(w)),x()},drain:E,closeIfIdle:x},H=o?.on(w,c),ke=Le(jn,()=>C("handshake timeout")),xe=()=>{i.isFlat=fe?.isFlat,l(0,3,d=>{ie(d,me("fris"));let f=H?Ot:0;[Nt,
f,f,ft].forEach((v,U)=>ue(d,U+1,()=>D(d,v)));for(let v of o?.services??[])ue(d,32,()=>Ut(d,v));for(let v of n)ue(d,33,()=>Ut(d,v))}),l(1,0),Q(),!_&&(z=setInterval(
()=>{if(++V>Kn)return C("keepalive timeout");(V>1||!W)&&l(0,0),W=!1;let d=performance.now();for(let f of m)f&&f.until<=d&&!f.isGivenUp&&t.expired(f)},Gn))},fe,qt=d=>fe?
d():queueMicrotask(d),Wt=d=>qt(()=>B(d));try{fe=e({open:()=>qt(xe),data:T,close:Wt})}catch(d){Wt(Pe(d))}return w}function pt(e,t){let n=[],o=0,r=!1,i=()=>{},a=b=>{r||=b,i()},u=()=>n[o],c=()=>{let b=u();return b!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),b},m=()=>{n=[],o=0},y=(async function*(){try{for(;;){let b=c();if(b!==void 0){let S=e(b);S!==void 0&&(yield S)}else if(r){if(r!==!0)throw r;return}else await new Promise(
S=>i=S)}}finally{t()}})(),{return:h}=y;return y.return=()=>(t(),m(),a(!0),h.call(y,void 0)),{messages:y,first:u,take:c,clear:m,put:b=>{n.push(b),i()},end:a}}var Rt=64,Yn=4,Jn=4096,Lt=(e,t)=>e instanceof Ce?new M(13,`not a valid ${t.name}: ${e.message}`):M.from(e);function mt(e,t,n,o,r){let i,a=0,u=0,c=0,m=0,y=0,h=!0,
b=!0,S=!1,A=!1,P=()=>{},R,_=()=>!h&&!b,{messages:ee,clear:j,put:q,end:re}=pt(I=>{let s=I.length+Rt;m-=s,y+=s,b&&y*Yn>=ft&&(i?.write(a,5,D,y),y=0);try{let l=G(I),
p=_e(l);if(l.at&&(r?.(J.metadata=p.metadata),!K(l)))return;let g=at(l,p);if(g)throw g;return Oe(l,t,u)}catch(l){throw Lt(l,t)}},()=>n?V(!0):te()),J=Object.assign(
ee,{metadata:{}}),F=()=>{_()&&(P(),R?.(),i?.over(a),i=R=void 0,o())},X=()=>{h&&(h=!1,i?.write(a,7),F())},W=I=>{h=b=!1,re(I),F()},V=(I,s=Be(!0))=>{_()||i?.reset(
a,s),j(),W(I)},z=I=>V(I,I),te=()=>{j(),S=!0},Q=I=>{if(!i||!h)return;let s=I instanceof M;i.write(a,2,l=>{let{at:p}=l;s?lt(l,I,!1):$e(l,e,I),c-=l.at-p+Rt}),s&&X()};
return{messages:J,begin(I,s,l,p){i=I,a=s,c=l,u=p},packet(I,s){if(I===2)return!b||S?void 0:m+y>=ft?z(new M(8,"the peer exceeded its credit")):(m+=s.length+Rt,q(new Uint8Array(
s)));let l=G(s);if(I===5){let p=O(l,10);A||=!p,(c+=p)>0&&P()}else if(s.length){let p=nt(O(l));W(new M(p,new TextDecoder().decode(Ue(l).subarray(0,Jn)),{mayHaveRun:!A}))}else
b=!1,re(!0),F()},send:Q,async pump(I,s){try{let l=I,p=l?.[Symbol.asyncIterator]?.()??l?.[Symbol.iterator]?.();if(!p)throw $(3,`messages of a stream are an itera\
ble, not ${String(I)}`);for(R=async()=>{try{await p.return?.()}catch{}};;){for(;c<=0&&!_();)await new Promise(k=>P=k);if(_())return;let{done:g,value:T}=await p.
next();if(_())return;if(g)break;Q(T)}R=void 0,X()}catch(l){if(!n)throw R?.(),R=void 0,l;V(s?tt(l):M.from(l))}},finish:X,discard:te,fail:z,lost:W}}var Qn=3e4,Zn=5e3,er=20,un=2e3,cn=10,yt=class{constructor(t,{timeout:n,patience:o=Zn,metadata:r,serve:i,stayConnected:a}={}){let u,c=0,m=cn,y=0,h,b=!1,S="",A=[new Set,
new Set],P=({method:{sends:s,receives:l}})=>A[s||l?1:0],R=new Set,_=[],ee=()=>{u||h||b||!(A[0].size||A[1].size||a)||(y=performance.now(),u=dn(t,j,[...R],i,_))},
j={room:s=>queueMicrotask(()=>{for(let l of A)for(let p of l){if(u!==s||!q(p,s))break;u===s&&l.delete(p)}}),closing(s,l){if(u===s){if(u=void 0,S=l,s.isUp)for(let p of A)
p.forEach(J);s.isUp&&performance.now()-y>=un?c=0:b||(clearTimeout(h),h=Le(Math.random()*Math.min(er*2**Math.min(c++,16),un),()=>{h=void 0,ee()})),ee()}},answered:()=>void(c=
0),replied(s,l){let p=s,{method:{reply:g},options:{onMetadata:T}}=p;X(p);try{let k=G(l),Z=_e(k),oe=at(k,Z);if(oe)throw oe;k.at&&T?.(Z.metadata),p.resolve(Oe(k,g,
p.missing)),m<cn&&(m+=.1)}catch(k){p.reject(Lt(k,g))}},expired:s=>F(s),lost(s,l){let p=s;if(p.link=void 0,!p.method.idempotent||m<1)return W(p,l);m--,re(p)}},q=(s,l)=>{
let{service:p,method:g}=s;try{let T=p?l.fits(p):0;return T!==void 0?(s.missing=ct(g,T,1),s.start(s,l)&&(s.isSent=!0)):(R.add(p),c=0,l.drain(),!1)}catch(T){return W(
s,M.from(T)),!0}},re=s=>{if(!(u?.isUp&&q(s,u))){if(b)return W(s,fn(s.isSent));P(s).add(s),ee(),J(s)}},J=s=>{s.patientUntil=performance.now()+(s.options.patience??
o),F(s)},F=s=>{let{until:l,isSent:p,patientUntil:g}=s,T=performance.now(),k=P(s).has(s)&&!u?.isUp&&`no connection to the server${S&&`: ${S}`}`;clearTimeout(s.timer),
T>=l?W(s,rt(p,k?`; ${k}`:"")):T>=g&&k?W(s,We(14,k,p)):s.timer=Le((T<g?Math.min(l,g):l)-T,()=>F(s))},X=s=>{P(s).delete(s),clearTimeout(s.timer),s.options.signal?.
removeEventListener("abort",s.abort)},W=(s,l)=>{X(s),s.link?.cancel(s),s.reject(l)},V=(s,{sentTimeout:l,until:p,options:{metadata:g}})=>{(l!==void 0||r||g)&&Ke(
s,{timeout:l&&p-performance.now(),metadata:{...r,...g}})},z=(s,l)=>{V(s,l),$e(s,l.method.request,l.request)},te=(s,l)=>{let p=l.call(s,z);return p&&(s.link=l),p},
Q=(s,l,p,g,T,k,Z,oe,Ae=1/0)=>{let{signal:x}=g,E={id:0,operation:l.operation,until:performance.now()+ +(T??Ae),isGivenUp:!1,isSent:!1,patientUntil:1/0,missing:0,
timer:void 0,link:void 0,service:s,method:l,request:p,options:g,sentTimeout:T,start:k,resolve:Z,reject:oe,abort:x&&(()=>W(E,Be(E.isSent)))};return Number.isNaN(
E.until)?oe($(3,"the timeout is not a number; it is in milliseconds")):x?.aborted?E.abort?.():(x?.addEventListener("abort",E.abort),T!==void 0&&F(E),(T===void 0||
T>0)&&re(E)),E},I=(s,l,p,g={})=>{let T,k=mt(l.request,l.reply,!0,()=>T&&X(T),g.onMetadata);return T=Q(s,l,p,g,g.timeout,(Z,oe)=>{let Ae=oe.open(k,Z.missing,x=>{
V(x,Z),N(x,9),D(x,Z.operation)});return Ae&&k.pump(p,l.sends),Ae},()=>{},k.fail),k};this.unary=(s,l,p,g={})=>new Promise((T,k)=>void Q(s,l,p,g,g.timeout??n,te,T,
k,Qn)),this.serverStreaming=(s,l,p,g)=>I(s,l,[p],g).messages,this.twoWay=(s,l,p,g)=>I(s,l,p,g).messages,this.clientStreaming=async(s,l,p,g)=>{let{messages:T}=I(
s,l,p,g),{done:k,value:Z}=await T.next();if(k)throw new M(13,"there is no reply");return T.return?.(),Z},this.name=s=>void R.add(s),this.mount=s=>void _.push(s),
this.connected=(s,l)=>new Promise((p,g)=>{Q(void 0,{},void 0,{patience:l},void 0,(T,k)=>k.isFull?!1:(s?.(k),X(T),p(k),!0),p,g)}),this.close=()=>{b=!0,clearTimeout(
h);for(let s of A)for(let l of s)W(l,fn(l.isSent));u?.drain()},a&&queueMicrotask(ee)}},fn=e=>We(9,"the channel is closed",e);function Dt(e,t,n){let o=new Map(n?.methods);for(let[r,i]of Object.entries(e.methods))o.set(i.operation,{service:e,method:i,handler:(a,u)=>t[r]?.(a,u)});return{
services:[...n?.services??[],e],methods:o,on(r,i){let a=new Map,u=(c,m)=>{let y=o.get(c);if(!y||!(y.method.sends||y.method.receives)===m)throw $(12,`unknown ope\
ration ${c}`);if(a.size>=Ot)throw $(8,"too many calls are in progress");let{service:h,method:b}=y,S=i.get(h.name);return{...y,left:ct(b,S?ut(h,S):0,0)}};return{
progress:a,packet(c,m,y,h){let b,S=A=>r.write(c,m,P=>{A instanceof M?lt(P,A,!0):(Ke(P,{isBackward:!0}),$e(P,b.reply,A))});!h&&a.has(c)&&L("a request with the id\
 of another");try{let A=G(y),{timeout:P,metadata:R}=_e(A);h&&(ce(A,9),m=O(A,3));let _=u(m,h);({method:b}=_);let ee=h||Oe(A,b.request,_.left),j=h?c+65536:c,q=new AbortController,
re=!1,J=V=>{re||(re=!0,clearTimeout(W),V||q.abort(),a.delete(j),r.closeIfIdle())},F=h?mt(b.reply,b.request,!1,()=>J(!1)):{send(V){re||(S(V),J(!0))},fail:S,finish(){},
discard(){}},X=V=>{F.fail(V),J(!1)},W=P===void 0?void 0:Le(P,()=>X(rt(!0)));a.set(j,{operation:m,stop:X}),h&&r.accept(F,c,_.left),tr(_,h,ee,F,{signal:q.signal,metadata:R})}catch(A){
let P=A instanceof Ce?$(3,`malformed request: ${A.message}`):M.from(A);h?r.refuse(c,P):S(P)}},cancel(c,m){let y=a.get(c);y?.operation===m&&y.stop(Be(!0))},down(c){
for(let m of a.values())m.stop(c)}}}}}async function tr({method:e,handler:t},n,o,r,i){let a=!1;try{if(e.sends)o=r.messages;else if(n){let c=await r.messages.next();
if(c.done)throw $(3,"no request");o=c.value}a=!0;let u=t(o,i);e.receives?await r.pump?.(u):(r.send(await u),r.finish())}catch(u){try{r.send(a?tt(u):M.from(u))}catch(c){
r.send(new M(13,Pe(c)))}}r.discard()}var Ve=65280,nr=16<<20,Pt=64,rr=65536,or=4,ht={now:0,last:1,oldest:2},pn=e=>$([8,12,7][Y(e)-3]??3,ne(e,K(e))),mn=new WeakMap,je=class{constructor(t){this.channel=
t;this.requests=new Map;this.last=0;let{requests:n}=this,o=mn.get(t);if(o)return o;mn.set(t,this),t.mount({packet:(r,i,a,u)=>{if(a<Ve)return!1;!i&&a===Ve+5&&(this.
refused??=pn(G(u)));for(let c of i?[n.get(i)]:n.values())c?.packet(r,i,a-Ve,G(u));return!0},down(r,i){for(let a of[...n.values()])a.down(r,i)}})}subscribe(t,{group:n="",
from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(o=>o.write(0,Ve+2,r=>{Ie(r,me(t)),ie(r,Mt(n))}))}async sync(){await(await this.
request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){let{channel:i,requests:a}=this;do this.last=this.last%65535+1;while(a.
has(this.last));let u=this.last;return new Promise((c,m)=>{let y,h=0,b=0,S=!1,{first:A,messages:P,put:R,end:_,take:ee}=pt(x=>(h-=x.payload.length+Pt,x),()=>{a.delete(
u)&&n!==void 0&&y?.isUp&&y.write(u,Ve+1)}),j=x=>{a.delete(u),m(x),_(x)},q=o?[]:n?.split(".")??[],re=q[q.length-1]===">",J=x=>{let E=x.split(".");return(re?E.length>=
q.length:E.length===q.length)&&q.every((C,B)=>C===">"||C==="*"||C===E[B])},F=t===0&&!o&&r!==void 0,X=typeof r=="object";if(X&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.
offset>=0))throw $(3,`${r.epoch}, ${r.offset} is not a position of a message`);let W=X||r===void 0?ht.oldest:ht[r],V=new Map(X?[[n,{...r,offset:r.offset+1}]]:[]),
z=new Map,te=0,Q="",I=!1,s=!1,l=!1,p=!1,g=!1,T=x=>{y?.write(u,Ve+x,E=>{if(n!==void 0&&Ie(E,me(n)),x===6){N(E,W);for(let[C,B]of V){ve(E,C);for(let w=0;w<16;w+=2)
N(E,parseInt(B.epoch.slice(w,w+2),16));D(E,B.offset)}}else ie(E,me(o))})},k=x=>{i.connected(E=>{a.has(u)&&(y=E,T(F?6:t))},x).catch(j)},Z=()=>{g=!0,s&&(l||!(F&&p))&&
(S=!0),c(P)},oe=x=>Array.from(ye(x,8),E=>E.toString(16).padStart(2,"0")).join(""),Ae=(x,E,C)=>{if(E===5&&x&&!g&&F&&C.bytes[C.at]===or)l=!0,T(0);else if(E===6&&x&&
C.bytes[C.at]===0){Y(C),p=Y(C)===1;let B=oe(C);te=O(C,10);let w=Q!==""&&Q!==B,H=!n?.match(/[*>]/)&&V.size>0;Q=B,Z(),l=!1,S||=H?!te:w}else if(E===7)for(;K(C);){let B=ne(
C),w={epoch:oe(C),offset:O(C,10)};if(Number.isSafeInteger(w.offset)||L("an offset is beyond 2^53"),!g||!x&&!J(B))continue;let H=z.get(B);x&&!H?(te--,H=V.get(B)??
(I?{...w,offset:1}:void 0)):!x&&H?.epoch!==w.epoch&&(H=void 0),H&&p&&(H.epoch===w.epoch&&H.offset<=w.offset?b+=w.offset-H.offset:S=!0),z.size>=rr&&(z.clear(),l=
!0),z.set(B,w)}else return!1;return!0};a.set(u,{packet(x,E,C,B){if(!(x!==y||F&&Ae(E,C,B)))if(C===2){let w=ne(B);if(!E&&(!g||!J(w)))return;let H=Ue(B),ke=z.get(w);
ke&&z.set(w,{...ke,offset:ke.offset+1}),h+=H.length+Pt;for(let xe;h>nr&&(xe=ee());){h-=xe.payload.length+Pt;let fe=A();fe?(fe.lagged+=xe.lagged+1,fe.reconnected||=
xe.reconnected):(b+=xe.lagged+1,S||=xe.reconnected)}R({topic:w,payload:H,position:ke,lagged:b,reconnected:S}),b=0,S=!1}else C===4?F&&p&&g||(b+=O(B,10)):E&&(K(B)?
j(pn(B)):Z())},down(x,E){if(x===y){if(n===void 0||!g&&!s)return j(E);if(g)if(te>0)for(let[C,B]of z)V.set(C,B);else V=l?new Map:z,W=l?ht.now:ht.oldest,I=!l;z=new Map,
g=!1,s=!0,k(1/0)}}}),k()})}};var bt="frisbee.1";function yn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no global WebSocket; set the option `We\
bSocket`, or connect by frisbee-rpc/node");let r=new n(String(e),[bt,...t]);r.binaryType="arraybuffer";let i="";return r.onopen=()=>{if(r.protocol===bt)return o.
open();i=`the server does not speak ${bt}`,r.close()},r.onmessage=({data:a})=>{a instanceof ArrayBuffer?o.data(new Uint8Array(a)):r.close()},r.onerror=({message:a=""})=>void(i||=
a),r.onclose=({code:a,reason:u})=>{o.close(i||`the WebSocket was closed (${a}${u&&`, ${u}`})`)},{send:a=>r.send(a),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Bt=(e,t={})=>new yt(yn(e,t),t);var de={BUY:0,SELL:1},$t=he("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[hn,hn,sr]),sr=he("exchange.Deal","number:u side:e price:u amount:\
u",()=>[de]),bn=he("exchange.Inquiry","side:e amount:u",()=>[de]),hn=he("exchange.Level","price:u amount:u"),ar=he("exchange.Nothing",""),gn=he("exchange.Offer",
"price:u called:u answered:u"),lr=he("exchange.Order","number:u side:e price:u amount:u",()=>[de]),dr=he("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[de]),De=dt("exchange.Exchange","a080ed04e3e19d9f",[],{look:{operation:10,request:ar,reply:$t},trade:{operation:11,request:lr,reply:dr,sends:!0,receives:!0},
inquire:{operation:12,request:bn,reply:gn}}),gt=class{constructor(t){this.channel=t,t.name(De)}look(t,n){return this.channel.unary(De,De.methods.look,t,n)}trade(t,n){
return this.channel.twoWay(De,De.methods.trade,t,n)}inquire(t,n){return this.channel.unary(De,De.methods.inquire,t,n)}},vn=dt("exchange.Trader","1eff350ff92dc48\
2",[],{quote:{operation:13,request:bn,reply:gn}});var Ft=240,En=8,le=e=>document.getElementById(e),ae=(e,t)=>void(le(e).textContent=t),be=e=>(e/100).toFixed(2),vt=e=>e===de.BUY?"buy":"sell";function se(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function ur(e,t){let n=le(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>En;)n.lastElementChild?.remove()}var ze=new Map,Sn=0,wn=0,Tn=()=>{},Vt=[];async function*cr(){for(;;){let e=Vt.shift();
e?yield e:await new Promise(t=>Tn=t)}}function fr({number:e,amount:t,price:n,left:o}){let r=ze.get(e);if(!r)return;r.done+=t,r.left=o;let i=r.order.side===de.BUY?
1:-1;Sn+=i*t,wn-=i*t*n,ae("held",String(Sn)),ae("cash",be(wn));let a=[...ze.values()].reverse().slice(0,En).map(({order:u,done:c,left:m})=>se("tr",[se("td",`${vt(
u.side)} ${u.amount}`,vt(u.side)),se("td",be(u.price)),se("td",String(c)),se("td",String(m))]));le("orders").replaceChildren(...a)}le("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?de.SELL:de.BUY,o={number:ze.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};ze.set(o.number,{order:o,done:0,left:o.amount}),Vt.push(o),Tn()});var qe=0,_t=0,He,Te=[];function An(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));le(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let i=document.createElement("meter");return i.max=n,i.value=
r,se("li",[i,se("span",be(o)),se("span",String(r))])}))}function pr(e){for(let{number:o,price:r}of[...e].reverse())o>_t&&Te.push(r);Te.splice(0,Te.length-Ft);let[
t]=e;if(!t||t.number===_t)return;_t=t.number;let n=t.price-qe;qe&&n&&(ae("change",`${n>0?"▲":"▼"} ${be(Math.abs(n))}`),le("change").dataset.side=n>0?"buy":"\
sell"),qe=t.price,ae("last",be(qe)),le("deals").replaceChildren(...e.map(({side:o,price:r,amount:i})=>se("li",[se("span",o===de.BUY?"bought":"sold",vt(o)),se("s\
pan",be(r)),se("span",String(i))]))),Ht()}function xn({bids:e,asks:t,deals:n,traders:o,orders:r}){An("asks",t),An("bids",e),t[0]&&e[0]&&ae("spread",`${be(t[0].price-
e[0].price)} apart`),ae("traders",String(o));let i=performance.now();(!He||i-He.at>1e3)&&(He&&ae("rate",((r-He.orders)/((i-He.at)/1e3)).toFixed(0)),He={orders:r,
at:i}),pr(n)}function Ht(){let e=le("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Te.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let i=getComputedStyle(e),a=le("state"),u=Math.min(...Te)-2,c=Math.max(...Te)+2,m=n-56,y=S=>S/(Ft-1)*m,h=S=>(c-S)/(c-u)*(o-12)+6;t.
font=`12px ${i.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(a).color,t.lineWidth=.5;for(let S=0;S<5;S++){let A=u+(c-u)*S/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,h(A)),t.lineTo(m,h(A)),t.stroke(),t.globalAlpha=1,t.fillText(be(A),m+8,h(A)+4)}let b=Ft-Te.length;t.strokeStyle=t.fillStyle=i.color,t.beginPath(),Te.
forEach((S,A)=>t.lineTo(y(b+A),h(S))),t.lineWidth=1.5,t.stroke(),t.lineTo(m,o),t.lineTo(y(b),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",Ht);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",Ht);var mr=Dt(vn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(le("margin").value)*100),o=qe&&qe+
(e===de.BUY?n:-n);return ur("asked",se("li",`${vt(e)} ${t}? You said ${be(o)}.`)),{price:o}}}),{hostname:yr}=location,kn=Bt(`ws://${yr}:${document.documentElement.
dataset.port}/`,{serve:mr,stayConnected:!0}),St=new gt(kn),hr=new je(kn);le("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:i}=await St.inquire({side:de.BUY,amount:10}),a=(performance.now()-n).toFixed(0);ae(
"offer",o?`${be(o)} is the best of ${i} of ${r}, after ${a} ms.`:`None of ${r} had a price.`)}catch(n){ae("offer",M.from(n).message)}t.disabled=!1});async function br(){
for(;;){try{let e=await hr.subscribe("exchange.book"),t=St.trade(cr()),n=(async()=>{for await(let r of t)fr(r)})();le("state").dataset.is="open",ae("state","con\
nected"),xn(await St.look({}));let o=(async()=>{for await(let{payload:r}of e)xn(Tt($t,r))})();await Promise.race([n,o])}catch(e){le("state").dataset.is="failed",
ae("state",M.from(e).message)}Vt.length=0;for(let e of ze.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}br();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await St.look({},{timeout:5e3}),ae("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ae("ping","–")}},2e3);
