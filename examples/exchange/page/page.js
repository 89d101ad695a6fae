var Gn=new TextEncoder,jn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yt=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
x=e=>{throw new we(e)},J=e=>({bytes:e,at:0,depth:0,memory:0}),dt=(e=64)=>J(new Uint8Array(e)),lt=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,be=e=>Gn.encode(
e);function ut(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function R(e,t){e.at===e.bytes.
length&&ut(e,1),e.bytes[e.at++]=t}function Jt(e,t){R(e,t>>8),R(e,t)}function D(e,t){for(;t>127;t=Math.floor(t/128))R(e,t|128);R(e,t)}function se(e,t){ut(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}var tt=(e,t)=>t.match(/../g)?.forEach(n=>R(e,parseInt(n,16)));function Ue(e,t){D(e,t.length),se(e,t)}function Ee(e,t){let{at:n}=e,
{length:o}=t,r=o>Yt?128:0;R(e,o);for(let s=0;s<o&&r<128;s++)R(e,r=t.charCodeAt(s));r>127&&(e.at=n,Ue(e,be(t)))}function fe(e,t,n){R(e,t);let{at:o}=e;n();let r=e.
bytes.slice(o,e.at);return e.at=o,Ue(e,r),r.length>0}var ct=({bytes:e,at:t})=>e.subarray(0,t),Q=({bytes:e,at:t})=>e.length-t,Ne=({bytes:e,at:t})=>e[t],ee=e=>e.bytes[e.
at++]??x("truncated");function Te(e,t=32){let n="";for(;n.length<t;)n+=ee(e).toString(16).padStart(2,"0");return n}function ge(e,t){let n=ee(e);n!==t&&x(`found \
byte ${n}, expected ${t}`)}function M(e,t=5){let n=0;for(let o=1,r=t;r-- >0;o*=128){let s=ee(e);if(n+=(s&127)*o,s<128)return t>5?n:n>>>0}return x("a number is t\
oo long")}function Re(e){let{at:t}=e,n=M(e,10);return(Q(e)||e.bytes[t+9]>1)&&x("a number is too long"),n}function Ve(e,t=M(e)){return t>Q(e)&&x("truncated"),e.bytes.
subarray(e.at,e.at+=t)}var nt=e=>J(Ve(e,M(e,10))),qe=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function pe(e,t=M(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Yt)
for(let d;s<t&&(d=n[o+s])<128;s++)r+=String.fromCharCode(d);if(s<t){let d=Ve(e,t);try{return jn.decode(d)}catch{x("a text is not UTF-8")}}return e.at+=t,r}var N=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:d={},mayHaveRun:l=!0}=r??{};Object.assign(this,
{details:s,metadata:d,mayHaveRun:l,code:n})}static from(n){return n instanceof e?n:new e(2,Le(n),{cause:n})}};var Le=e=>e instanceof Error?e.message:String(e),P=(e,t)=>new N(e,t,{mayHaveRun:!1}),De=(e,t)=>{let n=N.from(e);return n.mayHaveRun||!t?n:new N(n.code,n.message,
{...n,mayHaveRun:!0})},ft=e=>e>0&&e<=16?e:2,rt=(e,t,n)=>new N(e,n?t:`not sent: ${t}`,{mayHaveRun:!!n}),Xe=e=>rt(1,"the caller cancelled the call",e),We=(e,t="")=>rt(
4,`deadline exceeded${t}`,e);var yt=100,Qn=64<<20,zn=12,Lt=8,Yn=32,Dt=56,nn=184,Ot=new Uint8Array(8),Zt=new DataView(Ot.buffer);function ve(e,t,n){let o;return{name:e,fields:()=>o??=Jn(t,n?.()??
[])}}function $t(e,t){return t[0]===18&&x(`${e.name} has the layout ${Te(J(t.subarray(1)))}, which is unknown`),$e(J(t),e)}function je(e,t,n){e.depth=yt,on(e,t,n)}function $e(e,t){
return e.depth=yt,e.memory=Math.max(Qn,Q(e)*zn),sn(e,t)??an(e,t)}function Jn(e,t){let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.
exec(r);if(!s)throw new Error(`invalid entry: ${r}`);let[,d,l,c,f,y]=s,v=y==="m"?tr(t[o++]):y==="e"?rr(t[o++]):mt[y],w=mt[f[1]??""],E=w?[2,w.wire,v.wire,10]:f===
"*"?[1,v.wire,10]:void 0,O=l?n.get(l):void 0;l&&!O&&n.set(l,O=[]);let T={name:l??d,of:v,isOptional:f==="?",key:w,head:E,case:d,number:+c,all:O};return O?.push(T),
T})}var rn=({head:e,key:t,isOptional:n,of:o})=>t?new Map:e?[]:n?void 0:o.zero();function on(e,t,n){if(!e.depth--)throw tn(t.name,`nests deeper than ${yt}`);R(e,
8),R(e,0);let o="";try{for(let r of t.fields()){let{all:s,name:d}=r,l=n[o=d];if(!s)Zn(e,r,l);else if(e.isFlat||r===s[0]){let c=l,f=s.find(v=>v.case===c?.case);if(c&&
!f)throw new Error(`has no member ${c.case}`);e.isFlat||(R(e,3),D(e,f?f.number:0));let y=e.isFlat?r:f;y&&Ke(e,y.of,y===f?c?.value:void 0)}}}catch(r){throw r instanceof
N?r:tn(`${t.name}.${o}`,r.message)}e.depth++}function Zn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=rn(t)),o){let d=n,l=n,c=r?d.size:l.
length;Ce(c>=0,n);for(let f of o)R(e,f);if(D(e,c),r)for(let[f,y]of d)Ke(e,r,f),Ke(e,s,y);else for(let f of l)Ke(e,s,f)}else n===void 0&&t.isOptional&&!e.isFlat?
R(e,0):Ke(e,s,n)}function Ke(e,t,n){t.table||R(e,t.wire),t.put(e,n===void 0?t.zero():n)}function sn(e,t){if(Ne(e)===0)return void e.at++;ge(e,8),ee(e),e.depth--||
x(`${t.name} nests deeper than ${yt}`);let n=t.fields();st(e,Dt+Lt*n.length);let o={},r="";for(let s of n){let{name:d,all:l,of:c}=s,f=l&&l[0]===s;if(f&&(o[d]=void 0),
!l)o[d]=er(e,s);else if(f&&Ne(e)===3){e.at++,r+=` ${d} `;let y=M(e),v=l.find(w=>w.number===y);v?o[d]={case:v.case,value:Ut(e,v.of)}:y&&x(`${t.name}.${d} has no \
member ${y}`)}else if(!r.includes(` ${d} `)){let y=ot(e,c);(y instanceof Uint8Array?y.length:!Object.is(y,c.zero()))&&(o[d]={case:s.case,value:y})}}return e.depth++,
o}function er(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ne(e)===0)return e.at++,Rt(e,t);if(!n)return ot(e,r);for(let l of n)ge(e,l);let s=M(e),d=Rt(e,
t);for(;s-- >0;)st(e,o?Dt:Lt),o?d.set(ot(e,o),Ut(e,r)):d.push(Ut(e,r));return d}function ot(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Ne(e)===12?ot(e,mt.i):
(n||ge(e,t),o(e))}var Ut=(e,t)=>ot(e,t)??an(e,t.table);function an(e,t){let n={},o=t.fields();st(e,Dt+Lt*o.length);for(let r of o)n[r.name]=r.all?void 0:Rt(e,r);
return n}function Rt(e,t){let n=rn(t);return typeof n=="object"&&st(e,Array.isArray(n)?Yn:nn),n}function st(e,t){(e.memory-=t)<0&&x("exceeds the memory limit")}
var ke=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),tr=e=>ke(3,()=>{},(t,n)=>n?on(t,e,n):R(t,0),t=>sn(t,e),e),nr=65536;function rr(e){let t=Object.values(
e);return{...ke(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),d=r+2147483648,l=r<0&&d>=t.length;Ce(s>=0||r===(r|0)&&(l||!o.isFlat),r),s>=0||l&&(o.isFlat||d<nr)?D(o,s<0?
d:s):(o.at--,Ke(o,mt.i,r))},o=>{let r=M(o),s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&x(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}var pt=(e,t)=>ke(
e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),d=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(d)&&d>=0)return D(n,d);Ce((e?BigInt.asIntN:BigInt.asUintN)(64,
r)===r,o);let l=e?r<<1n^r>>63n:r;for(;l>>53n;l>>=7n)R(n,Number(l&127n)|128);D(n,Number(l))},n=>{let{at:o}=n,r=M(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+
1)/-2:r/2);else{let s=0n;for(let d=0n;o<n.at;d+=7n)s|=BigInt(n.bytes[o++]&127)<<d;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(Number(
r))||x("an integer is beyond 2^53"),Number(r)):BigInt(r)}),en=(e,t)=>ke(e,()=>0,(n,o)=>{Ce(typeof o=="number",o),Zt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)R(n,Ot[r])},n=>{for(let o=0;o<t;o++)Ot[o]=ee(n);return Zt[t>4?"getFloat64":"getFloat32"](0)}),mt={b:ke(7,()=>!1,(e,t)=>{Ce(typeof t=="boolean",t),R(e,+t)},
e=>{let t=ee(e);return t>1&&x(`a bool is ${t}`),t>0}),i:ke(12,()=>0,(e,t)=>{Ce(t===(t|0),t),D(e,(t<<1^t>>31)>>>0)},e=>{let t=M(e);return t>>>1^-(t&1)}),u:ke(10,
()=>0,(e,t)=>{Ce(t===t>>>0,t),D(e,t)},e=>M(e)),l:pt(!0,!1),w:pt(!1,!1),L:pt(!0,!0),W:pt(!1,!0),f:en(14,4),d:en(15,8),s:ke(5,()=>"",(e,t)=>{Ce(typeof t=="string",
t),R(e,10),Ee(e,t)},e=>(ge(e,10),pe(e))),y:ke(4,()=>new Uint8Array,(e,t)=>{Ce(lt(t),t),R(e,10),Ue(e,t)},e=>(ge(e,10),st(e,nn),new Uint8Array(Ve(e))))},tn=(e,t)=>P(
3,`${e} ${t}`);function Ce(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var ht=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)});function bt(e,t){Ee(e,t.name),
tt(e,t.fingerprint);let n=0;for(let o of t.operations)D(e,o-n),n=o}var or=65536;function dn(e,t,n=""){let o=atob(n);if(o&&o.length<=or)for(let r of o)R(e,r.charCodeAt(
0));else R(e,0),tt(e,t)}function ln(e){let t=pe(e,M(e,10)),n=[],o={fingerprint:Te(e),operations:n},r=0;for(;Q(e);)n.push(r+=M(e,10));return r>65535&&x("a number\
 is too long"),[t,o]}var un=16,cn=65536,sr=1e3,fn=256,pn=61440,_t={metadata:{}},mn=e=>[e].flat(),Bt=e=>e.endsWith("-bin"),yn=(e,t)=>Bt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Bt(e)?"":t}`);function Pt(e){if(typeof e=="string")return be(e);if(!lt(e))throw P(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ft(e,t){
let{at:n}=e;fe(e,un,()=>hn(e,t))||(e.at=n)}function hn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&fe(e,1,()=>D(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,d=0;for(let[l,c]of Object.entries(n))for(let f of mn(c)){if(!yn(l,f))throw P(3,`invalid metadata ${l}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=l.length+f.length+8,++d>fn||s>pn)throw P(8,"too much metadata");fe(e,2,()=>{Ee(e,l),se(e,Pt(f))})}
if(o){let{code:l,details:c,mayHaveRun:f}=o;fe(e,3,()=>{D(e,l),e.at-r+c.length+32<=cn&&se(e,c)}),f||fe(e,5,()=>{})}}function Qe(e,t=!1){if(Ne(e)!==un)return _t;e.
at++;let n=nt(e);return Q(n)>cn&&x("a prefix is too long"),gt(n,t)}function gt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0,d=0;for(;Q(e);){let l=ee(
e),c=nt(e);if(l>127){let f=`prefix item ${l} must be understood and is unknown`;throw t?P(12,f):new we(f)}if([1,3,5,6,8].includes(l)&&(d>>l&1&&x(`prefix item ${l}\
 occurs twice`),d|=1<<l),l===1)o.timeout=Re(c)/1e3;else if(l===2){let f=pe(c,M(c,10)),y=Bt(f)?qe(c):pe(c,Q(c));s+=f.length+y.length+8,(!yn(f,y)||++r>fn||s>pn)&&
x("invalid metadata"),n[f]=f in n?[...mn(n[f]),y]:y}else l===3?(o.code=M(c,10),o.details=qe(c)):l===5?o.isRefused=!0:l===8&&(o.text=Be(c))}return o}var Be=(e,t)=>new TextDecoder().
decode(qe(e).subarray(0,t)),bn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new N(ft(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function ze(e,t){
if(Ne(e)===6)return e.at++,ge(e,5),ge(e,10),bn(t,pe(e))}function gn(e){let t=gt(e);return t.code??t.isRefused?bn(t,t.text):void 0}function vn(e,t){hn(e,{status:t,
metadata:t.metadata}),fe(e,8,()=>se(e,be(t.message.slice(0,sr))))}function An(e,t){Ft(e,{status:t,metadata:t.metadata}),se(e,[6,5,10]),Ee(e,t.message)}var Ht=5<<20,ir=1024,ar=1024,Sn=65536,dr=128,lr=32768,Ye=10,Je=16384,xn=32768,At=256,ur=16383,St=262144,cr=1e5,fr=64<<20,wn=8<<20,pr=10,mr=65536,yr=2e3,hr=5,br=1e4,
En="the server is going away",vt=200,gr=2147483647,Ie=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),gr));function Tn(e,t,n,o,r){let s=dt(16384),d=new Map,l=new Map,
c=new Set(n),f=[],y=0,v=0,w=0,E=0,O=0,T=0,$=32767,B=[0,Ht,1/0,Je,0],j=!1,te=!1,ne,K=Ye,ie=0,G=!1,q=0,Z=0,X,H=a=>{if(!(j||!V))try{a(V)}catch(u){Fe(Le(u));try{V.close()}catch{}}},
re=()=>{s.at&&(H(a=>a.send(ct(s))),s.at=q=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),H(a=>{let u=a.buffered();u>fr?he("too many unsent bytes"):u>wn&&
!L.isFull&&(L.isFull=!0,ye())}))},ye=()=>H(a=>{if(a.buffered()>wn/2)return void Ie(pr,ye);L.isFull=!1;for(let u of d.values())u.room();t.room(L)}),z=()=>{s.at!==
q?(q=s.at,queueMicrotask(z)):(G=!1,re())},b=(a,u,m,g)=>{let{at:W}=s;try{ut(s,Ye),s.at+=Ye,m?.(s,g);let Me=s.at,Se=Me-W-Ye,xe=u===3?Sn:Math.max(B[1],ar);if(Se>xe)
throw P(8,`the message has ${Se} bytes of at most ${xe}`);s.at=W;for(let He of[15,a,u,Se>>>16,Se])Jt(s,He);s.at=Me}catch(Me){throw s.at=W,Me}s.at>mr?re():G||(G=
!0,q=0,queueMicrotask(z))},i=(a,{code:u,message:m},g=7)=>b(a,g,W=>{D(W,u),se(W,be(m.slice(0,vt)))}),p=(a,u)=>{b(a,5,D,0),i(a,u)},h=a=>{if(!j){if(Z=0,ne){if(se(ne,
a),ne.at<K)return;a=ct(ne),ne=void 0}try{let u=0,m=g=>a[u+g]<<8|a[u+g+1];for(;!j&&!(a.length<(K=u+Ye));u=K){m(0)!==15&&x("a header without its magic");let g=m(6)*
65536+m(8);if(g>(m(4)===3?Sn:Ht)&&x(`a packet of ${g} bytes`),a.length<(K+=g))break;A(m(2),m(4),a.subarray(u+Ye,K))}u<a.length&&(K-=u,se(ne=dt(),a.subarray(u)))}catch(u){
let m=u.message;L.isUp&&i(4,new N(13,m),3),he(`the server broke the protocol: ${m}`)}}},A=(a,u,m)=>{let g=J(m),W=u===3&&(a===5||a===6),Me=W?M(g,10):a;Me>65535&&
x(`stream ${Me}`);let Se=d.get(Me);if(u>=10){L.isUp||x("a packet before HELLO");let xe=a>=xn,He=f[a%Je];if(He?.id===a&&He.operation===u)return U(a),t.answered(),
He.isGivenUp?v--:t.replied(He,m),Y();if(r.filter(Kn=>Kn.packet(L,a,u,m)).length)return;if(xe&&C)return C.packet(a,u,m,!1);++ie>cr&&he("too many stray packets")}else if(u<
2){m.length&&x("a PING with a body"),u===1?L.isUp||he("the server is a compat peer"):b(0,1);return}else if(u===3&&!W){if(!a&&!L.isUp)return k(g);if(a===4)return he(
`closed by the server with code ${M(g,10)}: ${Be(g,vt)}`);if(a===1)return S(g);a>=lr&&x(`packet type ${a} must be understood and is unknown`)}else{if(u===4)return F();
if(u===6)return void(m.length&&C?.cancel(a,M(g,10)));if(u===8)x("a stray HAND_OFF");else if(u===9)do{let xe=Ve(g,M(g,10));Se?.packet(2,xe)}while(Q(g));else{if(Se)
return t.answered(),W?Se.items(a===6,g):Se.packet(u,m);if(u===2){let xe=a-$&32767;if(a>=32768&&xe&&xe<=16384)return $=a,C?C.packet(a,2,m,!0):p(a,P(12,"no servic\
e is served"))}}}},S=a=>{let u=Q(a);for((!u||u>ir)&&x(`ASK of ${u} bytes`);Q(a);){let m=Te(a),g=[...c,...o?.services??[]].find(W=>W.fingerprint===m);b(2,3,W=>dn(
W,m,g?.layout))}},k=a=>{(pe(a,4)!=="fris"||!ee(a))&&x("no HELLO");let u=new Set,m=0;try{for(;Q(a);){m=ee(a);let g=nt(a);if(m>=dr&&x("must be understood and is u\
nknown"),[1,2,3,4,5,6,8,34,35].includes(m)&&(u.has(m)&&x("occurs twice"),u.add(m)),m&&m in B)B[m]=Re(g);else if(m===8)Re(g);else if(m===32||m===33){let W=ln(g);
m===32&&l.set(...W)}}}catch(g){x(`HELLO item ${m}: ${g.message}`)}B[3]=Math.min(B[3],Je),L.isUp=!0,clearTimeout(I),t.room(L)},U=a=>{f[a%Je]=void 0,y--===B[3]&&t.
room(L)},ue=(a,u)=>{d.set(u,a),a.begin(L,u,B[4])},Y=()=>{te&&queueMicrotask(()=>{y===v&&!d.size&&!C?.progress.size&&he(En)})},F=()=>{te||(te=!0,t.closing(L,En),
Y())},he=a=>ce(()=>{j||(re(),H(u=>u.close()),Fe(a))}),Fe=a=>{if(j)return;j=!0,clearInterval(X),clearTimeout(I),t.closing(L,a);let u=L.isUp;L.isUp=!1;let m=new N(
14,`the connection was lost: ${a}`);for(let g of f)g&&!g.isGivenUp&&t.lost(g,m);for(let g of d.values())g.lost(m);if(C?.down(m),u)for(let g of r)g.down(L,m)},L={
isUp:!1,isFull:!1,write:b,reset:i,refuse:p,announce(a){if(c.has(a))return;for(let g of c)if(g.operations.some(W=>a.operations.includes(W)))throw P(9,`${g.name} \
has operations of ${a.name}: use another channel`);let u=l.get(a.name);u?.fingerprint===a.fingerprint&&`${u.operations}`==`${a.operations}`||b(3,3,bt,a),c.add(a)},
call(a,u){if(L.isFull||y>=B[3])return!1;do E=(E+1)%xn;while(f[E%Je]);let m=a.id=E;f[m%Je]=a,y++;try{b(m,a.operation,u,a)}catch(g){throw U(m),g}return!0},cancel(a){
j||(a.isGivenUp=!0,b(a.id,6,D,a.operation),v++,Y())},open(a,u){if(!B[2])throw P(12,"the server does not accept streams");if(L.isFull||O>=Math.min(B[2],ur))return!1;
do T=T%32767+1;while(d.has(T));let m=T;d.set(m,a),O++;try{b(m,2,u)}catch(g){throw L.over(m),g}return a.begin(L,m,B[4]),!0},accept:ue,over(a){d.delete(a),a<32768&&
(O--,t.room(L)),Y()},drain:F,closeIfIdle:Y},C=o?.on(L),I=Ie(br,()=>he("handshake timeout")),_=a=>{s.isFlat=a.isFlat,b(0,3,u=>{se(u,be("fris"));let m=C?At:0;[Ht,
m,m,St].forEach((g,W)=>fe(u,W+1,()=>D(u,g))),fe(u,6,()=>{});for(let g of o?.services??[])fe(u,32,()=>bt(u,g));for(let g of n)fe(u,33,()=>bt(u,g))}),b(1,0),re(),
!j&&(X=setInterval(()=>{if(++Z>hr)return he("keepalive timeout");b(0,0),w=v<(B[3]||1)?0:w+1,w>1&&F();let u=performance.now();for(let m of f)m&&m.until<=u&&!m.isGivenUp&&
t.expired(m)},yr))},V,ce=a=>V?a():queueMicrotask(a),oe=a=>ce(()=>Fe(a));try{V=e({open:()=>ce(()=>H(_)),data:h,close:oe})}catch(a){oe(Le(a))}return L}function xt(e,t){let n={},o=n,r=!1,s=()=>{},d=w=>{r||=w,s()},l=()=>n.next?.item,c=()=>{let w=l();return n=n.next??n,n.item=void 0,w},f=()=>void(n=o={}),y=(async function*(){
try{for(;;){let w=c();if(w!==void 0){let E=e(w);E!==void 0&&(yield E)}else if(r){if(r!==!0)throw r;return}else await new Promise(E=>s=E)}}finally{t()}})(),{return:v}=y;
return y.return=()=>(t(),f(),d(!0),v.call(y,void 0)),{messages:y,first:l,take:c,clear:f,put:w=>{o=o.next={item:w},s()},end:d}}var Vt=64,vr=4,Ar=4096,wt=(e,t)=>e instanceof we?new N(13,`not a valid ${t.name}: ${e.message}`):N.from(e);function Et(e,t,n,o,r){let s,d=0,l=0,c=0,f=0,y=!0,v=!0,
w=!1,E=!1,O=!1,T=()=>{},$,B=()=>!y&&!v,{messages:j,clear:te,put:ne,end:K}=xt(b=>{f+=b.length+Vt,v&&f*vr>=St&&(s?.write(d,5,D,f),c-=f,f=0);try{let i=J(b),p=ze(i,
_t);if(p)throw p;return $e(i,t)}catch(i){throw wt(i,t)}},()=>n?H(!0):ye()),ie=Object.assign(j,{metadata:{}}),G=()=>{B()&&(T(),$?.(),s?.over(d),s=$=void 0,o())},
q=b=>{v=!1,K(b),G()},Z=()=>{y&&(y=!1,s?.write(d,7),G())},X=b=>{y=!1,q(b)},H=(b,i=Xe(1))=>{B()||s?.reset(d,i),te(),X(b)},re=b=>H(b,b),ye=()=>{te(),w=!0},z=b=>{if(!(!s||
!y)){if(b instanceof N)return s.write(6,3,i=>{D(i,d),vn(i,b)}),y=!1,G();s.write(d,2,i=>{let{at:p}=i;je(i,e,b),l-=i.at-p+Vt})}};return{messages:ie,begin(b,i,p){s=
b,d=i,l=p},packet(b,i){if(b===2)return E=!0,!v||w?void 0:c>=St?re(new N(8,"the peer exceeded its credit")):(c+=i.length+Vt,ne(new Uint8Array(i)));let p=J(i);if(b===
5){let h=Re(p);O||=!h,(l+=h)>0&&T()}else if(i.length){let h=ft(M(p,10));X(new N(h,Be(p,Ar),{mayHaveRun:!O}))}else q(!0)},items(b,i){if(v){!b&&E&&x("late HEADERS"),
E=!0;try{if(b)return q(gn(i)??!0);r?.(ie.metadata=gt(i).metadata)}catch(p){re(wt(p,t))}}},send:z,async pump(b,i,p){try{let h=b,A=h?.[Symbol.asyncIterator]?.()??
h?.[Symbol.iterator]?.();if(!A)throw P(3,`messages are an iterable, not ${String(b)}`);$=async()=>{try{await A.return?.()}catch{}},!n&&i&&s?.write(5,3,D,d);for(let S;;){
for(;(l<=0||s?.isFull)&&!B();)await new Promise(k=>T=k);if(B())return;if(S){if(z(S.value),!i)break;S=void 0}else if((S=await A.next()).done)break}$=void 0,Z(),B()||
p?.()}catch(h){if(!n)throw $?.(),$=void 0,h;H(De(h,i))}},room:()=>T(),finish:Z,discard:ye,fail:re,lost:X}}var Sr=3e4,xr=5e3,wr=20,kn=2e3,Cn=10,Tt=class{constructor(t,{timeout:n,reconnectTimeout:o=xr,metadata:r,serve:s,stayConnected:d}={}){let l=n??Sr,c,f=0,y=Cn,v=0,
w,E=!1,O="",T=[new Set,new Set,new Set],$=({service:i,method:{sends:p,receives:h}})=>T[i?p||h?1:0:2],B=new Set,j=[],te=()=>{c||w||E||!(T.some(({size:i})=>i)||d)||
(v=performance.now(),c=Tn(t,ne,[...B],s,j))},ne={room:i=>queueMicrotask(()=>{for(let p of T)for(let h of p){if(c!==i||!K(h,i))break;c===i&&p.delete(h)}}),closing(i,p){
if(c===i){if(c=void 0,O=p,i.isUp)for(let h of T)h.forEach(G);i.isUp&&performance.now()-v>=kn?f=0:E||(w=Ie(Math.random()*Math.min(wr*2**Math.min(f++,16),kn),()=>{
w=void 0,te()})),te()}},answered:()=>void(f=0),replied(i,p){let h=i,{method:{reply:A},options:{onMetadata:S}}=h;Z(h);try{let k=J(p),U=Qe(k),ue=ze(k,U);if(ue)throw ue;
k.at&&S?.(U.metadata),h.resolve($e(k,A)),y<Cn&&(y+=.1)}catch(k){h.reject(De(wt(k,A),h.sent>1))}},expired:i=>q(i),lost(i,p){let h=i;if(h.link=void 0,!h.method.idempotent||
h.sent>1||y<1)return X(h,p);y--,ie(h)}},K=(i,p)=>{let{service:h}=i;try{return h&&p.announce(h),i.start(i,p)&&!!++i.sent}catch(A){return X(i,De(A,i.sent)),!0}},ie=i=>{
if(!(c?.isUp&&K(i,c))){if(E)return X(i,In(i.sent));$(i).add(i),te(),G(i)}},G=i=>{i.reconnectsUntil=performance.now()+(i.options.reconnectTimeout??o),q(i)},q=i=>{
let{until:p,sent:h,reconnectsUntil:A}=i,S=performance.now(),k=$(i).has(i)&&!c?.isUp&&`no connection to the server${O&&`: ${O}`}`;clearTimeout(i.timer),S>=p?X(i,
We(h,k?`; ${k}`:"")):S>=A&&k?X(i,rt(14,k,h)):i.timer=Ie((S<A?Math.min(p,A):p)-S,()=>q(i))},Z=i=>{$(i).delete(i),clearTimeout(i.timer),i.options.signal?.removeEventListener(
"abort",i.abort)},X=(i,p)=>{Z(i),i.link?.cancel(i),i.reject(p)},H=(i,{sentTimeout:p,until:h,options:{metadata:A}})=>{(p!==void 0||r||A)&&Ft(i,{timeout:p&&h-performance.
now(),metadata:{...r,...A}})},re=(i,p)=>{H(i,p),je(i,p.method.request,p.request)},ye=(i,p)=>{let h=p.call(i,re);return h&&(i.link=p),h},z=(i,p,h,A,S,k,U,ue)=>{let{
signal:Y}=A,F={id:0,operation:p.operation,until:performance.now()+ +(S??(i?l:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,link:void 0,service:i,method:p,
request:h,options:A,sentTimeout:S,start:k,resolve:U,reject:ue,abort:Y&&(()=>X(F,Xe(F.sent)))};return isNaN(F.until)?ue(P(3,"the timeout is not a number")):Y?.aborted?
F.abort?.():(Y?.addEventListener("abort",F.abort),S!==void 0&&q(F),(S===void 0||F.timer)&&ie(F)),F},b=(i,p,h,A={})=>{let S,k=Et(p.request,p.reply,!0,()=>S&&Z(S),
A.onMetadata);return S=z(i,p,h,A,A.timeout,(U,ue)=>{S=U;let Y=ue.open(k,F=>{H(F,U),R(F,9),D(F,U.operation)});if(Y){let F=U.sentTimeout===void 0;F&&(U.until=1/0),
k.pump(h,p.sends,()=>{!F||p.receives||(U.until=performance.now()+l,q(U))})}return Y},()=>{},k.fail),k};this.unary=(i,p,h,A={})=>new Promise((S,k)=>void z(i,p,h,
A,A.timeout??n,ye,S,k)),this.serverStreaming=(i,p,h,A)=>b(i,p,[h],A).messages,this.twoWay=(i,p,h,A)=>b(i,p,h,A).messages,this.clientStreaming=async(i,p,h,A)=>{let{
messages:S}=b(i,p,h,A),{done:k,value:U}=await S.next();if(k)throw new N(13,"there is no reply");return S.return?.(),U},this.name=i=>void B.add(i),this.mount=i=>void j.
push(i),this.connected=(i,p,h)=>new Promise((A,S)=>{z(void 0,{},void 0,{reconnectTimeout:p,signal:h},void 0,(k,U)=>U.isFull?!1:(i?.(U),Z(k),A(U),!0),A,S)}),this.
close=()=>{E=!0,clearTimeout(w);for(let i of T)for(let p of i)X(p,In(p.sent));c?.drain()},d&&queueMicrotask(te)}},In=e=>rt(9,"the channel is closed",e);var Er=1e4;function qt(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(d,l)=>t[r]?.(d,l)});return{
services:[...n?.services??[],e],methods:o,on(r){let s=new Map,d=0,l=(c,f)=>{let y=o.get(c);if(!y||!(y.method.sends||y.method.receives)===f)throw P(12,`unknown o\
peration ${c}`);if(s.size>=At||d>=At)throw P(8,"too many calls are in progress");return y};return{progress:s,packet(c,f,y,v){let w,E=T=>r.write(c,f,$=>{T instanceof
N?An($,T):je($,w.reply,T)}),O=v?c:Mn(c,f);s.has(O)&&x("a request id occurs twice");try{let T=J(y),{timeout:$,metadata:B}=Qe(T,!0);v&&(ge(T,9),f=M(T,3));let j=l(
f,v);if($===0)throw P(4,"deadline exceeded");({method:w}=j);let te=v||$e(T,w.request),ne=new AbortController,K=!1,ie=H=>{K||(K=!0,clearTimeout(Z),H||ne.abort(),
s.delete(O),r.closeIfIdle())},G=v?Et(w.reply,w.request,!1,()=>ie(!1)):{send(H){K||(E(H),ie(!0))},fail:E,discard(){}},q=H=>{G.fail(H),ie(!1)},Z,X=H=>{clearTimeout(
Z),Z=Ie(H,()=>q(We(1)))};$!==void 0&&X($),s.set(O,q),v&&r.accept(G,c),d++,Tr(j,v,te,G,{signal:ne.signal,metadata:B}).finally(()=>{d--,K||X(Er)})}catch(T){let $=T instanceof
we?Nn(T):N.from(T);v?r.refuse(c,$):E($)}},cancel(c,f){s.get(Mn(c,f))?.(Xe(1))},down(c){for(let f of s.values())f(c)}}}}}var Mn=(e,t)=>t*65536+e,Nn=e=>P(3,`malfo\
rmed request: ${Le(e)}`);async function Tr({method:e,handler:t},n,o,r,s){let d=!1;try{if(e.sends)o=r.messages;else if(n)try{let c=await r.messages.next();c.done&&
x("no request"),o=c.value}catch(c){throw Nn(c)}d=!0;let l=t(o,s);n?await r.pump?.(e.receives?l:[await l],e.receives):r.send(await l)}catch(l){try{r.send(De(l,d))}catch(c){
r.send(new N(13,Le(c).slice(0,vt)))}}r.discard()}var _e=65280,kr=_e+8,Cr=16<<20,Xt=64,Ir=255,Mr=65536,Nr=4,kt={now:0,last:1,oldest:2},Or=1e4,On=e=>{let t=Qe(e);return(e.at?ze(e,t):void 0)??P([8,12,7,14][ee(e)-
3]??3,Be(e))},Un=e=>{let t=M(e,10);return t>Ir&&x("a topic is too long"),pe(e,t)},Rn=new WeakMap,it=class{constructor(t){this.channel=t;this.requests=new Map;this.
last=0;let{requests:n}=this,o=Rn.get(t);if(o)return o;Rn.set(t,this),t.mount({packet:(r,s,d,l)=>{if(d<_e||d>kr)return!1;!s&&d===_e+5&&(this.refused??=On(J(l)));
for(let c of s?[n.get(s)]:n.values())c?.packet(r,s,d-_e,J(l));return!0},down(r,s){for(let d of[...n.values()])d.down(r,s)}})}subscribe(t,{group:n="",from:o}={}){
return this.request(0,t,n,o)}async publish(t,n){await this.channel.connected(o=>{o.write(0,_e+2,r=>{Ue(r,be(t)),se(r,Pt(n))}),this.published??=o})}async sync(){
await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){let{channel:s,requests:d}=this;return new Promise(
(l,c)=>{if(d.size>=65535)throw P(8,"too many requests");do this.last=this.last%65535+1;while(d.has(this.last));let f=this.last,y,v=0,w=0,E=!1,O,T,$=new AbortController,
B=()=>{$.abort(),d.delete(f)&&n!==void 0&&y?.isUp&&y.write(f,_e+1)},{first:j,messages:te,put:ne,end:K,take:ie}=xt(C=>(v-=C.payload.length+Xt,C),B),G=C=>{clearTimeout(
O),d.delete(f),this.published=T??this.published,c(C),K(C)},q=o?[]:n?.split(".")??[],Z=q.at(-1)===">",X=C=>{let I=C.split(".");return(Z?I.length>=q.length:I.length===
q.length)&&q.every((_,V)=>_===">"||_==="*"||_===I[V])},H=t===0&&!o&&r!==void 0,re=typeof r=="object";if(re&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0&&Number.
isSafeInteger(r.offset)))throw P(3,`${r.epoch}, ${r.offset} is not a position`);let ye=re||r===void 0?kt.oldest:kt[r],z=new Map(re?[[n,{...r,offset:r.offset+1}]]:
[]),b=new Map,i=0,p="",h=!1,A=!1,S=!1,k=!1,U=!1,ue=()=>!n?.match(/[*>]/)&&z.size>0,Y=C=>{y?.write(f,_e+C,I=>{if(n!==void 0&&Ue(I,be(n)),C===6){R(I,ye);for(let[_,
V]of z)Ee(I,_),tt(I,V.epoch),D(I,V.offset)}else se(I,be(o))})},F=()=>{let C=z.size>0;return z=new Map,ye=kt.now,h=!1,S=!0,C},he=C=>{s.connected(I=>{y=I,t===3&&((this.
published??I)!==I&&(this.refused=new N(15,"the connection was lost")),T=this.published,this.published=void 0);try{Y(H?6:t)}catch(_){if(!A||!F())throw _;Y(6)}A||
(O=Ie(Or,()=>{B(),G(We(1,"; the server may have no broker"))}))},C,$.signal).catch(I=>{A&&I.code===9&&K(!0),G(I)})},Fe=()=>{clearTimeout(O),U=!0,A&&(S||!k)&&(E=
!0),l(te)},L=(C,I,_)=>{let V=_.bytes[_.at],ce=C&&!U;if(ce&&I===5&&V===Nr)S=!0,Y(0);else if(ce&&(I===5||I===6&&V)&&A&&F())Y(6);else if(ce&&I===6&&V===0){ee(_),k=
ee(_)===1;let oe=Te(_,16);i=M(_,10);let a=p!==""&&p!==oe;p=oe,Fe(),S=!1,E||=ue()?!i:a}else if(I===7)for(;Q(_);){let oe=Un(_),a={epoch:Te(_,16),offset:M(_,10)};if(Number.
isSafeInteger(a.offset)||x("an integer is beyond 2^53"),!U||!C&&!X(oe))continue;let u=b.get(oe);C&&!u?(i--,u=z.get(oe)??(h?{...a,offset:1}:void 0)):!C&&u?.epoch!==
a.epoch&&(u=void 0),u&&k&&(C||!S)&&(u.epoch===a.epoch&&u.offset<=a.offset?w+=a.offset-u.offset:E=!0),b.size>=Mr&&!b.has(oe)&&(b.clear(),S=!0),b.set(oe,a)}else return!1;
return!0};d.set(f,{packet(C,I,_,V){if(!(C!==y||H&&L(I,_,V)))if(_===2){let ce=Un(V);if(!I&&(!U||!X(ce)))return;let oe=qe(V),a=b.get(ce);for(a&&b.set(ce,{...a,offset:a.
offset+1}),v+=oe.length+Xt,ne({topic:ce,payload:oe,position:a,lagged:w,reconnected:E}),w=0,E=!1;v>Cr;){let u=ie();v-=u.payload.length+Xt;let m=j();m.lagged+=u.lagged+
1,m.reconnected||=u.reconnected}}else _===4?U&&(S||!k)&&(w+=M(V,10)):I&&(Q(V)?G(On(V)):Fe())},down(C,I){if(C===y){if(n===void 0||!U&&!A)return G(I);if(U)if(i>0&&
!S){S=!h&&!ue();for(let[_,V]of b)z.set(_,V)}else S?F():(z=b,ye=kt.oldest,h=!0);b=new Map,U=!1,A=!0,he(1/0)}}}),he()})}};var Ct="frisbee.1";function Ln(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let r=new n(String(e),[Ct,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===Ct)return o.open();s=`the \
server does not speak ${Ct}`,r.close()},r.onmessage=({data:d})=>{d instanceof ArrayBuffer?o.data(new Uint8Array(d)):r.close()},r.onerror=({message:d=""})=>void(s||=
d),r.onclose=({code:d,reason:l})=>{o.close(s||`the WebSocket was closed (${d}${l&&`, ${l}`})`)},{send:d=>r.send(d),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Wt=(e,t={})=>new Tt(Ln(e,t),t);var me={BUY:0,SELL:1},Kt=ve("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[Dn,Dn,Rr]),Rr=ve("exchange.Deal","number:u side:e price:u amount:\
u",()=>[me]),$n=ve("exchange.Inquiry","side:e amount:u",()=>[me]),Dn=ve("exchange.Level","price:u amount:u"),Lr=ve("exchange.Nothing",""),Bn=ve("exchange.Offer",
"price:u called:u answered:u"),Dr=ve("exchange.Order","number:u side:e price:u amount:u",()=>[me]),$r=ve("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[me]),Pe=ht("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Lr,reply:Kt},trade:{operation:11,request:Dr,reply:$r,
sends:!0,receives:!0},inquire:{operation:12,request:$n,reply:Bn}}),It=class{constructor(t){this.channel=t,t.name(Pe)}look(t,n){return this.channel.unary(Pe,Pe.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(Pe,Pe.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Pe,Pe.methods.inquire,t,n)}},_n=ht("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:$n,reply:Bn}});var jt=240,qn=8,le=e=>document.getElementById(e),de=(e,t)=>void(le(e).textContent=t),Ae=e=>(e/100).toFixed(2),Mt=e=>e===me.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Br(e,t){let n=le(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>qn;)n.lastElementChild?.remove()}var at=new Map,Pn=0,Fn=0,Xn=()=>{},Qt=[];async function*_r(){for(;;){let e=Qt.shift();
e?yield e:await new Promise(t=>Xn=t)}}function Pr({number:e,amount:t,price:n,left:o}){let r=at.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===me.BUY?
1:-1;Pn+=s*t,Fn-=s*t*n,de("held",String(Pn)),de("cash",Ae(Fn));let d=[...at.values()].reverse().slice(0,qn).map(({order:l,done:c,left:f})=>ae("tr",[ae("td",`${Mt(
l.side)} ${l.amount}`,Mt(l.side)),ae("td",Ae(l.price)),ae("td",String(c)),ae("td",String(f))]));le("orders").replaceChildren(...d)}le("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?me.SELL:me.BUY,o={number:at.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};at.set(o.number,{order:o,done:0,left:o.amount}),Qt.push(o),Xn()});var et=0,Gt=0,Ze,Oe=[];function Hn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));le(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ae("li",[s,ae("span",Ae(o)),ae("span",String(r))])}))}function Fr(e){for(let{number:o,price:r}of[...e].reverse())o>Gt&&Oe.push(r);Oe.splice(0,Oe.length-jt);let[
t]=e;if(!t||t.number===Gt)return;Gt=t.number;let n=t.price-et;et&&n&&(de("change",`${n>0?"▲":"▼"} ${Ae(Math.abs(n))}`),le("change").dataset.side=n>0?"buy":"\
sell"),et=t.price,de("last",Ae(et)),le("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ae("li",[ae("span",o===me.BUY?"bought":"sold",Mt(o)),ae("s\
pan",Ae(r)),ae("span",String(s))]))),zt()}function Vn({bids:e,asks:t,deals:n,traders:o,orders:r}){Hn("asks",t),Hn("bids",e),t[0]&&e[0]&&de("spread",`${Ae(t[0].price-
e[0].price)} apart`),de("traders",String(o));let s=performance.now();(!Ze||s-Ze.at>1e3)&&(Ze&&de("rate",((r-Ze.orders)/((s-Ze.at)/1e3)).toFixed(0)),Ze={orders:r,
at:s}),Fr(n)}function zt(){let e=le("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Oe.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),d=le("state"),l=Math.min(...Oe)-2,c=Math.max(...Oe)+2,f=n-56,y=E=>E/(jt-1)*f,v=E=>(c-E)/(c-l)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(d).color,t.lineWidth=.5;for(let E=0;E<5;E++){let O=l+(c-l)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,v(O)),t.lineTo(f,v(O)),t.stroke(),t.globalAlpha=1,t.fillText(Ae(O),f+8,v(O)+4)}let w=jt-Oe.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Oe.
forEach((E,O)=>t.lineTo(y(w+O),v(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,o),t.lineTo(y(w),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",zt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",zt);var Hr=qt(_n,{quote:({side:e,amount:t})=>{let n=Math.round(Number(le("margin").value)*100),o=et&&et+
(e===me.BUY?n:-n);return Br("asked",ae("li",`${Mt(e)} ${t}? You said ${Ae(o)}.`)),{price:o}}}),{hostname:Vr}=location,Wn=Wt(`ws://${Vr}:${document.documentElement.
dataset.port}/`,{serve:Hr,stayConnected:!0}),Nt=new It(Wn),qr=new it(Wn);le("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await Nt.inquire({side:me.BUY,amount:10}),d=(performance.now()-n).toFixed(0);de(
"offer",o?`${Ae(o)} is the best of ${s} of ${r}, after ${d} ms.`:`None of ${r} had a price.`)}catch(n){de("offer",N.from(n).message)}t.disabled=!1});async function Xr(){
for(;;){try{let e=await qr.subscribe("exchange.book"),t=Nt.trade(_r()),n=(async()=>{for await(let r of t)Pr(r)})();le("state").dataset.is="open",de("state","con\
nected"),Vn(await Nt.look({}));let o=(async()=>{for await(let{payload:r}of e)Vn($t(Kt,r))})();await Promise.race([n,o])}catch(e){le("state").dataset.is="failed",
de("state",N.from(e).message)}Qt.length=0;for(let e of at.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Xr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await Nt.look({},{timeout:5e3}),de("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{de("ping","–")}},2e3);
