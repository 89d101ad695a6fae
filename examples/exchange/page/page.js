var Gn=new TextEncoder,Kn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yt=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
A=e=>{throw new we(e)},Z=e=>({bytes:e,at:0,depth:0,memory:0}),dt=(e=64)=>Z(new Uint8Array(e)),lt=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,be=e=>Gn.encode(
e);function ut(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function R(e,t){e.at===e.bytes.
length&&ut(e,1),e.bytes[e.at++]=t}function Jt(e,t){R(e,t>>8),R(e,t)}function D(e,t){for(;t>127;t=Math.floor(t/128))R(e,t|128);R(e,t)}function se(e,t){ut(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}var tt=(e,t)=>t.match(/../g)?.forEach(n=>R(e,parseInt(n,16)));function Ue(e,t){D(e,t.length),se(e,t)}function Ee(e,t){let{at:n}=e,
{length:o}=t,r=o>Yt?128:0;R(e,o);for(let s=0;s<o&&r<128;s++)R(e,r=t.charCodeAt(s));r>127&&(e.at=n,Ue(e,be(t)))}function pe(e,t,n){R(e,t);let{at:o}=e;n();let r=e.
bytes.slice(o,e.at);return e.at=o,Ue(e,r),r.length>0}var ct=({bytes:e,at:t})=>e.subarray(0,t),z=({bytes:e,at:t})=>e.length-t,Ne=({bytes:e,at:t})=>e[t],ee=e=>e.bytes[e.
at++]??A("truncated");function Te(e,t=32){let n="";for(;n.length<t;)n+=ee(e).toString(16).padStart(2,"0");return n}function ge(e,t){let n=ee(e);n!==t&&A(`found \
byte ${n}, expected ${t}`)}function M(e,t=5){let n=0;for(let o=1,r=t;r-- >0;o*=128){let s=ee(e);if(n+=(s&127)*o,s<128)return t>5?n:n>>>0}return A("a number is t\
oo long")}function Re(e){let{at:t}=e,n=M(e,10);return(z(e)||e.bytes[t+9]>1)&&A("a number is too long"),n}function Ve(e,t=M(e)){return t>z(e)&&A("truncated"),e.bytes.
subarray(e.at,e.at+=t)}var nt=e=>Z(Ve(e,M(e,10))),qe=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function me(e,t=M(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Yt)
for(let d;s<t&&(d=n[o+s])<128;s++)r+=String.fromCharCode(d);if(s<t){let d=Ve(e,t);try{return Kn.decode(d)}catch{A("a text is not UTF-8")}}return e.at+=t,r}var N=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:d={},mayHaveRun:l=!0}=r??{};Object.assign(this,
{details:s,metadata:d,mayHaveRun:l,code:n})}static from(n){return n instanceof e?n:new e(2,Le(n),{cause:n})}};var Le=e=>e instanceof Error?e.message:String(e),P=(e,t)=>new N(e,t,{mayHaveRun:!1}),De=(e,t)=>{let n=N.from(e);return n.mayHaveRun||!t?n:new N(n.code,n.message,
{...n,mayHaveRun:!0})},ft=e=>e>0&&e<=16?e:2,rt=(e,t,n)=>new N(e,n?t:`not sent: ${t}`,{mayHaveRun:!!n}),Xe=e=>rt(1,"the caller cancelled the call",e),We=(e,t="")=>rt(
4,`deadline exceeded${t}`,e);var yt=100,jn=64<<20,Qn=12,Lt=8,zn=32,Dt=56,nn=184,Ot=new Uint8Array(8),Zt=new DataView(Ot.buffer);function ve(e,t,n){let o;return{name:e,fields:()=>o??=Yn(t,n?.()??
[])}}function $t(e,t){return t[0]===18&&A(`${e.name} has the layout ${Te(Z(t.subarray(1)))}, which is unknown`),$e(Z(t),e)}function je(e,t,n){e.depth=yt,on(e,t,n)}function $e(e,t){
return e.depth=yt,e.memory=Math.max(jn,z(e)*Qn),sn(e,t)??an(e,t)}function Yn(e,t){let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.
exec(r);if(!s)throw new Error(`invalid entry: ${r}`);let[,d,l,p,f,h]=s,b=h==="m"?er(t[o++]):h==="e"?nr(t[o++]):mt[h],x=mt[f[1]??""],E=x?[2,x.wire,b.wire,10]:f===
"*"?[1,b.wire,10]:void 0,O=l?n.get(l):void 0;l&&!O&&n.set(l,O=[]);let T={name:l??d,of:b,isOptional:f==="?",key:x,head:E,case:d,number:+p,all:O};return O?.push(T),
T})}var rn=({head:e,key:t,isOptional:n,of:o})=>t?new Map:e?[]:n?void 0:o.zero();function on(e,t,n){if(!e.depth--)throw tn(t.name,`nests deeper than ${yt}`);R(e,
8),R(e,0);let o="";try{for(let r of t.fields()){let{all:s,name:d}=r,l=n[o=d];if(!s)Jn(e,r,l);else if(e.isFlat||r===s[0]){let p=l,f=s.find(b=>b.case===p?.case);if(p&&
!f)throw new Error(`has no member ${p.case}`);e.isFlat||(R(e,3),D(e,f?f.number:0));let h=e.isFlat?r:f;h&&Ge(e,h.of,h===f?p?.value:void 0)}}}catch(r){throw r instanceof
N?r:tn(`${t.name}.${o}`,r.message)}e.depth++}function Jn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=rn(t)),o){let d=n,l=n,p=r?d.size:l.
length;Ce(p>=0,n);for(let f of o)R(e,f);if(D(e,p),r)for(let[f,h]of d)Ge(e,r,f),Ge(e,s,h);else for(let f of l)Ge(e,s,f)}else n===void 0&&t.isOptional&&!e.isFlat?
R(e,0):Ge(e,s,n)}function Ge(e,t,n){t.table||R(e,t.wire),t.put(e,n===void 0?t.zero():n)}function sn(e,t){if(Ne(e)===0)return void e.at++;ge(e,8),ee(e),e.depth--||
A(`${t.name} nests deeper than ${yt}`);let n=t.fields();st(e,Dt+Lt*n.length);let o={},r="";for(let s of n){let{name:d,all:l,of:p}=s,f=l&&l[0]===s;if(f&&(o[d]=void 0),
!l)o[d]=Zn(e,s);else if(f&&Ne(e)===3){e.at++,r+=` ${d} `;let h=M(e),b=l.find(x=>x.number===h);b?o[d]={case:b.case,value:Ut(e,b.of)}:h&&A(`${t.name}.${d} has no \
member ${h}`)}else if(!r.includes(` ${d} `)){let h=ot(e,p);(h instanceof Uint8Array?h.length:!Object.is(h,p.zero()))&&(o[d]={case:s.case,value:h})}}return e.depth++,
o}function Zn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ne(e)===0)return e.at++,Rt(e,t);if(!n)return ot(e,r);for(let l of n)ge(e,l);let s=M(e),d=Rt(e,
t);for(;s-- >0;)st(e,o?Dt:Lt),o?d.set(ot(e,o),Ut(e,r)):d.push(Ut(e,r));return d}function ot(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Ne(e)===12?ot(e,mt.i):
(n||ge(e,t),o(e))}var Ut=(e,t)=>ot(e,t)??an(e,t.table);function an(e,t){let n={},o=t.fields();st(e,Dt+Lt*o.length);for(let r of o)n[r.name]=r.all?void 0:Rt(e,r);
return n}function Rt(e,t){let n=rn(t);return typeof n=="object"&&st(e,Array.isArray(n)?zn:nn),n}function st(e,t){(e.memory-=t)<0&&A("exceeds the memory limit")}
var ke=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),er=e=>ke(3,()=>{},(t,n)=>n?on(t,e,n):R(t,0),t=>sn(t,e),e),tr=65536;function nr(e){let t=Object.values(
e);return{...ke(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),d=r+2147483648,l=r<0&&d>=t.length;Ce(s>=0||r===(r|0)&&(l||!o.isFlat),r),s>=0||l&&(o.isFlat||d<tr)?D(o,s<0?
d:s):(o.at--,Ge(o,mt.i,r))},o=>{let r=M(o),s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&A(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}var pt=(e,t)=>ke(
e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),d=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(d)&&d>=0)return D(n,d);Ce((e?BigInt.asIntN:BigInt.asUintN)(64,
r)===r,o);let l=e?r<<1n^r>>63n:r;for(;l>>53n;l>>=7n)R(n,Number(l&127n)|128);D(n,Number(l))},n=>{let{at:o}=n,r=M(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+
1)/-2:r/2);else{let s=0n;for(let d=0n;o<n.at;d+=7n)s|=BigInt(n.bytes[o++]&127)<<d;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(Number(
r))||A("an integer is beyond 2^53"),Number(r)):BigInt(r)}),en=(e,t)=>ke(e,()=>0,(n,o)=>{Ce(typeof o=="number",o),Zt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)R(n,Ot[r])},n=>{for(let o=0;o<t;o++)Ot[o]=ee(n);return Zt[t>4?"getFloat64":"getFloat32"](0)}),mt={b:ke(7,()=>!1,(e,t)=>{Ce(typeof t=="boolean",t),R(e,+t)},
e=>{let t=ee(e);return t>1&&A(`a bool is ${t}`),t>0}),i:ke(12,()=>0,(e,t)=>{Ce(t===(t|0),t),D(e,(t<<1^t>>31)>>>0)},e=>{let t=M(e);return t>>>1^-(t&1)}),u:ke(10,
()=>0,(e,t)=>{Ce(t===t>>>0,t),D(e,t)},e=>M(e)),l:pt(!0,!1),w:pt(!1,!1),L:pt(!0,!0),W:pt(!1,!0),f:en(14,4),d:en(15,8),s:ke(5,()=>"",(e,t)=>{Ce(typeof t=="string",
t),R(e,10),Ee(e,t)},e=>(ge(e,10),me(e))),y:ke(4,()=>new Uint8Array,(e,t)=>{Ce(lt(t),t),R(e,10),Ue(e,t)},e=>(ge(e,10),st(e,nn),new Uint8Array(Ve(e))))},tn=(e,t)=>P(
3,`${e} ${t}`);function Ce(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var ht=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)});function bt(e,t){Ee(e,t.name),
tt(e,t.fingerprint);let n=0;for(let o of t.operations)D(e,o-n),n=o}var rr=65536;function dn(e,t,n=""){let o=atob(n);if(o&&o.length<=rr)for(let r of o)R(e,r.charCodeAt(
0));else R(e,0),tt(e,t)}function ln(e){let t=me(e,M(e,10)),n=[],o={fingerprint:Te(e),operations:n},r=0;for(;z(e);)n.push(r+=M(e,10));return r>65535&&A("a number\
 is too long"),[t,o]}var un=16,cn=65536,or=1e3,fn=256,pn=61440,_t={metadata:{}},mn=e=>[e].flat(),Bt=e=>e.endsWith("-bin"),yn=(e,t)=>Bt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Bt(e)?"":t}`);function Pt(e){if(typeof e=="string")return be(e);if(!lt(e))throw P(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ft(e,t){
let{at:n}=e;pe(e,un,()=>hn(e,t))||(e.at=n)}function hn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&pe(e,1,()=>D(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,d=0;for(let[l,p]of Object.entries(n))for(let f of mn(p)){if(!yn(l,f))throw P(3,`invalid metadata ${l}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=l.length+f.length+8,++d>fn||s>pn)throw P(8,"too much metadata");pe(e,2,()=>{Ee(e,l),se(e,Pt(f))})}
if(o){let{code:l,details:p,mayHaveRun:f}=o;pe(e,3,()=>{D(e,l),e.at-r+p.length+32<=cn&&se(e,p)}),f||pe(e,5,()=>{})}}function Qe(e,t=!1){if(Ne(e)!==un)return _t;e.
at++;let n=nt(e);return z(n)>cn&&A("a prefix is too long"),gt(n,t)}function gt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0,d=0;for(;z(e);){let l=ee(
e),p=nt(e);if(l>127){let f=`prefix item ${l} must be understood and is unknown`;throw t?P(12,f):new we(f)}if([1,3,5,6,8].includes(l)&&(d>>l&1&&A(`prefix item ${l}\
 occurs twice`),d|=1<<l),l===1)o.timeout=Re(p)/1e3;else if(l===2){let f=me(p,M(p,10)),h=Bt(f)?qe(p):me(p,z(p));s+=f.length+h.length+8,(!yn(f,h)||++r>fn||s>pn)&&
A("invalid metadata"),n[f]=f in n?[...mn(n[f]),h]:h}else l===3?(o.code=M(p,10),o.details=qe(p)):l===5?o.isRefused=!0:l===8&&(o.text=Be(p))}return o}var Be=(e,t)=>new TextDecoder().
decode(qe(e).subarray(0,t)),bn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new N(ft(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function ze(e,t){
if(Ne(e)===6)return e.at++,ge(e,5),ge(e,10),bn(t,me(e))}function gn(e){let t=gt(e);return t.code??t.isRefused?bn(t,t.text):void 0}function vn(e,t){hn(e,{status:t,
metadata:t.metadata}),pe(e,8,()=>se(e,be(t.message.slice(0,or))))}function An(e,t){Ft(e,{status:t,metadata:t.metadata}),se(e,[6,5,10]),Ee(e,t.message)}var Ht=5<<20,sr=1024,ir=1024,Sn=65536,ar=128,dr=32768,Ye=10,Je=16384,xn=32768,At=256,lr=16383,St=262144,ur=1e5,cr=64<<20,wn=8<<20,fr=10,pr=65536,mr=2e3,yr=5,hr=1e4,
En="the server is going away",vt=200,br=2147483647,Ie=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),br));function Tn(e,t,n,o,r){let s=dt(16384),d=new Map,l=new Map,
p=new Set(n),f=[],h=0,b=0,x=0,E=0,O=0,T=0,$=32767,B=[0,Ht,1/0,Je,0],X=!1,ne=!1,te,G=Ye,le=0,j=!1,q=0,Y=0,K,H=a=>{if(!(X||!V))try{a(V)}catch(c){Fe(Le(c));try{V.close()}catch{}}},
re=()=>{s.at&&(H(a=>a.send(ct(s))),s.at=q=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),H(a=>{let c=a.buffered();c>cr?he("too many unsent bytes"):c>wn&&
!L.isFull&&(L.isFull=!0,ue())}))},ue=()=>H(a=>{if(a.buffered()>wn/2)return void Ie(fr,ue);L.isFull=!1;for(let c of d.values())c.room();t.room(L)}),Q=()=>{s.at!==
q?(q=s.at,queueMicrotask(Q)):(j=!1,re())},U=(a,c,y,v)=>{let{at:W}=s;try{ut(s,Ye),s.at+=Ye,y?.(s,v);let Me=s.at,Se=Me-W-Ye,xe=c===3?Sn:Math.max(B[1],ir);if(Se>xe)
throw P(8,`the message has ${Se} bytes of at most ${xe}`);s.at=W;for(let He of[15,a,c,Se>>>16,Se])Jt(s,He);s.at=Me}catch(Me){throw s.at=W,Me}s.at>pr?re():j||(j=
!0,q=0,queueMicrotask(Q))},i=(a,{code:c,message:y},v=7)=>U(a,v,W=>{D(W,c),se(W,be(y.slice(0,vt)))}),u=(a,c)=>{U(a,5,D,0),i(a,c)},m=a=>{if(!X){if(Y=0,te){if(se(te,
a),te.at<G)return;a=ct(te),te=void 0}try{let c=0,y=v=>a[c+v]<<8|a[c+v+1];for(;!X&&!(a.length<(G=c+Ye));c=G){y(0)!==15&&A("a header without its magic");let v=y(6)*
65536+y(8);if(v>(y(4)===3?Sn:Ht)&&A(`a packet of ${v} bytes`),a.length<(G+=v))break;g(y(2),y(4),a.subarray(c+Ye,G))}c<a.length&&(G-=c,se(te=dt(),a.subarray(c)))}catch(c){
let y=c.message;L.isUp&&i(4,new N(13,y),3),he(`the server broke the protocol: ${y}`)}}},g=(a,c,y)=>{let v=Z(y),W=c===3&&(a===5||a===6),Me=W?M(v,10):a;Me>65535&&
A(`stream ${Me}`);let Se=d.get(Me);if(c>=10){L.isUp||A("a packet before HELLO");let xe=a>=xn,He=f[a%Je];if(He?.id===a&&He.operation===c)return C(a),t.answered(),
He.isGivenUp?b--:t.replied(He,y),J();if(r.filter(Wn=>Wn.packet(L,a,c,y)).length)return;if(xe&&k)return k.packet(a,c,y,!1);++le>ur&&he("too many stray packets")}else if(c<
2){y.length&&A("a PING with a body"),c===1?L.isUp||he("the server is a compat peer"):U(0,1);return}else if(c===3&&!W){if(!a&&!L.isUp)return w(v);if(a===4)return he(
`closed by the server with code ${M(v,10)}: ${Be(v,vt)}`);if(a===1)return S(v);a>=dr&&A(`packet type ${a} must be understood and is unknown`)}else{if(c===4)return F();
if(c===6)return void(y.length&&k?.cancel(a,M(v,10)));if(c===8)A("a stray HAND_OFF");else if(c===9)do{let xe=Ve(v,M(v,10));Se?.packet(2,xe)}while(z(v));else{if(Se)
return t.answered(),W?Se.items(a===6,v):Se.packet(c,y);if(c===2){let xe=a-$&32767;if(a>=32768&&xe&&xe<=16384)return $=a,k?k.packet(a,2,y,!0):u(a,P(12,"no servic\
e is served"))}}}},S=a=>{let c=z(a);for((!c||c>sr)&&A(`ASK of ${c} bytes`);z(a);){let y=Te(a),v=[...p,...o?.services??[]].find(W=>W.fingerprint===y);U(2,3,W=>dn(
W,y,v?.layout))}},w=a=>{(me(a,4)!=="fris"||!ee(a))&&A("no HELLO");let c=new Set,y=0;try{for(;z(a);){y=ee(a);let v=nt(a);if(y>=ar&&A("must be understood and is u\
nknown"),[1,2,3,4,5,6,8,34,35].includes(y)&&(c.has(y)&&A("occurs twice"),c.add(y)),y&&y in B)B[y]=Re(v);else if(y===8)Re(v);else if(y===32||y===33){let W=ln(v);
y===32&&l.set(...W)}}}catch(v){A(`HELLO item ${y}: ${v.message}`)}B[3]=Math.min(B[3],Je),L.isUp=!0,clearTimeout(I),t.room(L)},C=a=>{f[a%Je]=void 0,h--===B[3]&&t.
room(L)},ce=(a,c)=>{d.set(c,a),a.begin(L,c,B[4])},J=()=>{ne&&queueMicrotask(()=>{h===b&&!d.size&&!k?.progress.size&&he(En)})},F=()=>{ne||(ne=!0,t.closing(L,En),
J())},he=a=>fe(()=>{X||(re(),H(c=>c.close()),Fe(a))}),Fe=a=>{if(X)return;X=!0,clearInterval(K),clearTimeout(I),t.closing(L,a);let c=L.isUp;L.isUp=!1;let y=new N(
14,`the connection was lost: ${a}`);for(let v of f)v&&!v.isGivenUp&&t.lost(v,y);for(let v of d.values())v.lost(y);if(k?.down(y),c)for(let v of r)v.down(L,y)},L={
isUp:!1,isFull:!1,write:U,reset:i,refuse:u,announce(a){if(p.has(a))return;for(let v of p)if(v.operations.some(W=>a.operations.includes(W)))throw P(9,`${v.name} \
has operations of ${a.name}: use another channel`);let c=l.get(a.name);c?.fingerprint===a.fingerprint&&`${c.operations}`==`${a.operations}`||U(3,3,bt,a),p.add(a)},
call(a,c){if(L.isFull||h>=B[3])return!1;do E=(E+1)%xn;while(f[E%Je]);let y=a.id=E;f[y%Je]=a,h++;try{U(y,a.operation,c,a)}catch(v){throw C(y),v}return!0},cancel(a){
X||(a.isGivenUp=!0,U(a.id,6,D,a.operation),b++,J())},open(a,c){if(!B[2])throw P(12,"the server does not accept streams");if(L.isFull||O>=Math.min(B[2],lr))return!1;
do T=T%32767+1;while(d.has(T));let y=T;d.set(y,a),O++;try{U(y,2,c)}catch(v){throw L.over(y),v}return a.begin(L,y,B[4]),!0},accept:ce,over(a){d.delete(a),a<32768&&
(O--,t.room(L)),J()},drain:F,closeIfIdle:J},k=o?.on(L),I=Ie(hr,()=>he("handshake timeout")),_=a=>{s.isFlat=a.isFlat,U(0,3,c=>{se(c,be("fris"));let y=k?At:0;[Ht,
y,y,St].forEach((v,W)=>pe(c,W+1,()=>D(c,v))),pe(c,6,()=>{});for(let v of o?.services??[])pe(c,32,()=>bt(c,v));for(let v of n)pe(c,33,()=>bt(c,v))}),U(1,0),re(),
!X&&(K=setInterval(()=>{if(++Y>yr)return he("keepalive timeout");U(0,0),x=b<(B[3]||1)?0:x+1,x>1&&F();let c=performance.now();for(let y of f)y&&y.until<=c&&!y.isGivenUp&&
t.expired(y)},mr))},V,fe=a=>V?a():queueMicrotask(a),oe=a=>fe(()=>Fe(a));try{V=e({open:()=>fe(()=>H(_)),data:m,close:oe})}catch(a){oe(Le(a))}return L}function xt(e,t){let n={},o=n,r=!1,s=()=>{},d=b=>{r||=b,s()},l=()=>n.next?.item,p=()=>{let b=l();return n=n.next??n,n.item=void 0,b},f=(async function*(){try{for(;;){
let b=p();if(b!==void 0){let x=e(b);x!==void 0&&(yield x)}else if(r){if(r!==!0)throw r;return}else await new Promise(x=>s=x)}}finally{t()}})(),{return:h}=f;return f.
return=()=>(t(),n=o={},d(!0),h.call(f,void 0)),{messages:f,first:l,take:p,put:b=>{o=o.next={item:b},s()},end:d}}var Vt=64,gr=4,vr=4096,wt=(e,t)=>e instanceof we?new N(13,`not a valid ${t.name}: ${e.message}`):N.from(e);function Et(e,t,n,o,r){let s,d=0,l=0,p=0,f=0,h=!0,b=!0,
x=!1,E=!1,O=!1,T=()=>{},$,B=()=>!h&&!b,X=i=>{f+=i.length+Vt,b&&f*gr>=St&&(s?.write(d,5,D,f),p-=f,f=0)},{messages:ne,put:te,take:G,end:le}=xt(i=>{X(i);try{let u=Z(
i),m=ze(u,_t);if(m)throw m;return $e(u,t)}catch(u){throw wt(u,t)}},()=>n?re(!0):Q()),j=Object.assign(ne,{metadata:{}}),q=()=>{B()&&(T(),$?.(),s?.over(d),s=$=void 0,
o())},Y=i=>{b=!1,le(i),q()},K=()=>{h&&(h=!1,s?.write(d,7),q())},H=i=>{h=!1,Y(i)},re=(i,u=Xe(1))=>{B()||s?.reset(d,u),H(i),Q()},ue=i=>re(i,i),Q=()=>{x=!0;for(let i;i=
G();)X(i)},U=i=>{if(!(!s||!h)){if(i instanceof N)return s.write(6,3,u=>{D(u,d),vn(u,i)}),h=!1,q();s.write(d,2,u=>{let{at:m}=u;je(u,e,i),l-=u.at-m+Vt})}};return{
messages:j,begin(i,u,m){s=i,d=u,l=m},packet(i,u){if(i===2)return E=!0,b?p>=St?ue(new N(8,"the peer exceeded its credit")):(p+=u.length+Vt,x?X(u):te(new Uint8Array(
u))):void 0;let m=Z(u);if(i===5){let g=Re(m);O||=!g,(l+=g)>0&&T()}else if(u.length){let g=ft(M(m,10));H(new N(g,Be(m,vr),{mayHaveRun:!O}))}else Y(!0)},items(i,u){
if(b){!i&&E&&A("late HEADERS"),E=!0;try{if(i)return Y(gn(u)??!0);r?.(j.metadata=gt(u).metadata)}catch(m){ue(wt(m,t))}}},send:U,async pump(i,u,m){try{let g=i,S=g?.[Symbol.
asyncIterator]?.()??g?.[Symbol.iterator]?.();if(!S)throw P(3,`messages are an iterable, not ${String(i)}`);$=async()=>{try{await S.return?.()}catch{}},!n&&u&&s?.
write(5,3,D,d);for(let w;;){for(;(l<=0||s?.isFull)&&!B();)await new Promise(C=>T=C);if(B())return;if(w){if(U(w.value),!u)break;w=void 0}else if((w=await S.next()).
done)break}$=void 0,K(),B()||m?.()}catch(g){if(!n)throw $?.(),$=void 0,g;re(De(g,u))}},room:()=>T(),finish:K,discard:Q,fail:ue,lost:H}}var Ar=3e4,Sr=5e3,xr=20,kn=2e3,Cn=10,Tt=class{constructor(t,{timeout:n,reconnectTimeout:o=Sr,metadata:r,serve:s,stayConnected:d}={}){let l=n??Ar,p,f=0,h=Cn,b=0,
x,E=!1,O="",T=[new Set,new Set,new Set],$=({service:i,method:{sends:u,receives:m}})=>T[i?u||m?1:0:2],B=new Set,X=[],ne=()=>{p||x||E||!(T.some(({size:i})=>i)||d)||
(b=performance.now(),p=Tn(t,te,[...B],s,X))},te={room:i=>queueMicrotask(()=>{for(let u of T)for(let m of u){if(p!==i||!G(m,i))break;p===i&&u.delete(m)}}),closing(i,u){
if(p===i){if(p=void 0,O=u,i.isUp)for(let m of T)m.forEach(j);i.isUp&&performance.now()-b>=kn?f=0:E||(x=Ie(Math.random()*Math.min(xr*2**Math.min(f++,16),kn),()=>{
x=void 0,ne()})),ne()}},answered:()=>void(f=0),replied(i,u){let m=i,{method:{reply:g},options:{onMetadata:S}}=m;Y(m);try{let w=Z(u),C=Qe(w),ce=ze(w,C);if(ce)throw ce;
w.at&&S?.(C.metadata),m.resolve($e(w,g)),h<Cn&&(h+=.1)}catch(w){m.reject(De(wt(w,g),m.sent>1))}},expired:i=>q(i),lost(i,u){let m=i;if(m.link=void 0,!m.method.idempotent||
m.sent>1||h<1)return K(m,u);h--,le(m)}},G=(i,u)=>{let{service:m}=i;try{return m&&u.announce(m),i.start(i,u)&&!!++i.sent}catch(g){return K(i,De(g,i.sent)),!0}},le=i=>{
if(!(p?.isUp&&G(i,p))){if(E)return K(i,In(i.sent));$(i).add(i),ne(),j(i)}},j=i=>{i.reconnectsUntil=performance.now()+(i.options.reconnectTimeout??o),q(i)},q=i=>{
let{until:u,sent:m,reconnectsUntil:g}=i,S=performance.now(),w=$(i).has(i)&&!p?.isUp&&`no connection to the server${O&&`: ${O}`}`;clearTimeout(i.timer),S>=u?K(i,
We(m,w?`; ${w}`:"")):S>=g&&w?K(i,rt(14,w,m)):i.timer=Ie((S<g?Math.min(u,g):u)-S,()=>q(i))},Y=i=>{$(i).delete(i),clearTimeout(i.timer),i.options.signal?.removeEventListener(
"abort",i.abort)},K=(i,u)=>{Y(i),i.link?.cancel(i),i.reject(u)},H=(i,{sentTimeout:u,until:m,options:{metadata:g}})=>{(u!==void 0||r||g)&&Ft(i,{timeout:u&&m-performance.
now(),metadata:{...r,...g}})},re=(i,u)=>{H(i,u),je(i,u.method.request,u.request)},ue=(i,u)=>{let m=u.call(i,re);return m&&(i.link=u),m},Q=(i,u,m,g,S,w,C,ce)=>{let{
signal:J}=g,F={id:0,operation:u.operation,until:performance.now()+ +(S??(i?l:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,link:void 0,service:i,method:u,
request:m,options:g,sentTimeout:S,start:w,resolve:C,reject:ce,abort:J&&(()=>K(F,Xe(F.sent)))};return isNaN(F.until)?ce(P(3,"the timeout is not a number")):J?.aborted?
F.abort?.():(J?.addEventListener("abort",F.abort),S!==void 0&&q(F),(S===void 0||F.timer)&&le(F)),F},U=(i,u,m,g={})=>{let S,w=Et(u.request,u.reply,!0,()=>S&&Y(S),
g.onMetadata);return S=Q(i,u,m,g,g.timeout,(C,ce)=>{S=C;let J=ce.open(w,F=>{H(F,C),R(F,9),D(F,C.operation)});if(J){let F=C.sentTimeout===void 0;F&&(C.until=1/0),
w.pump(m,u.sends,()=>{!F||u.receives||(C.until=performance.now()+l,q(C))})}return J},()=>{},w.fail),w};this.unary=(i,u,m,g={})=>new Promise((S,w)=>void Q(i,u,m,
g,g.timeout??n,ue,S,w)),this.serverStreaming=(i,u,m,g)=>U(i,u,[m],g).messages,this.twoWay=(i,u,m,g)=>U(i,u,m,g).messages,this.clientStreaming=async(i,u,m,g)=>{let{
messages:S}=U(i,u,m,g),{done:w,value:C}=await S.next();if(w)throw new N(13,"there is no reply");return S.return?.(),C},this.name=i=>void B.add(i),this.mount=i=>void X.
push(i),this.connected=(i,u,m)=>new Promise((g,S)=>{Q(void 0,{},void 0,{reconnectTimeout:u,signal:m},void 0,(w,C)=>C.isFull?!1:(i?.(C),Y(w),g(C),!0),g,S)}),this.
close=()=>{E=!0,clearTimeout(x);for(let i of T)for(let u of i)K(u,In(u.sent));p?.drain()},d&&queueMicrotask(ne)}},In=e=>rt(9,"the channel is closed",e);var wr=1e4;function qt(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(d,l)=>t[r]?.(d,l)});return{
services:[...n?.services??[],e],methods:o,on(r){let s=new Map,d=0,l=(p,f)=>{let h=o.get(p);if(!h||!(h.method.sends||h.method.receives)===f)throw P(12,`unknown o\
peration ${p}`);if(s.size>=At||d>=At)throw P(8,"too many calls are in progress");return h};return{progress:s,packet(p,f,h,b){let x,E=T=>r.write(p,f,$=>{T instanceof
N?An($,T):je($,x.reply,T)}),O=b?p:Mn(p,f);s.has(O)&&A("a request id occurs twice");try{let T=Z(h),{timeout:$,metadata:B}=Qe(T,!0);b&&(ge(T,9),f=M(T,3));let X=l(
f,b);if($===0)throw P(4,"deadline exceeded");({method:x}=X);let ne=b||$e(T,x.request),te=new AbortController,G=!1,le=H=>{G||(G=!0,clearTimeout(Y),H||te.abort(),
s.delete(O),r.closeIfIdle())},j=b?Et(x.reply,x.request,!1,()=>le(!1)):{send(H){G||(E(H),le(!0))},fail:E,discard(){}},q=H=>{j.fail(H),le(!1)},Y,K=H=>{clearTimeout(
Y),Y=Ie(H,()=>q(We(1)))};$!==void 0&&K($),s.set(O,q),b&&r.accept(j,p),d++,Er(X,b,ne,j,{signal:te.signal,metadata:B}).finally(()=>{d--,G||K(wr)})}catch(T){let $=T instanceof
we?Nn(T):N.from(T);b?r.refuse(p,$):E($)}},cancel(p,f){s.get(Mn(p,f))?.(Xe(1))},down(p){for(let f of s.values())f(p)}}}}}var Mn=(e,t)=>t*65536+e,Nn=e=>P(3,`malfo\
rmed request: ${Le(e)}`);async function Er({method:e,handler:t},n,o,r,s){let d=!1;try{if(e.sends)o=r.messages;else if(n)try{let p=await r.messages.next();p.done&&
A("no request"),o=p.value}catch(p){throw Nn(p)}d=!0;let l=t(o,s);n?await r.pump?.(e.receives?l:[await l],e.receives):r.send(await l)}catch(l){try{r.send(De(l,d))}catch(p){
r.send(new N(13,Le(p).slice(0,vt)))}}r.discard()}var _e=65280,Tr=_e+8,kr=16<<20,Xt=64,Cr=255,Ir=65536,Mr=4,kt={now:0,last:1,oldest:2},Nr=1e4,On=e=>{let t=Qe(e);return(e.at?ze(e,t):void 0)??P([8,12,7,14][ee(e)-
3]??3,Be(e))},Un=e=>{let t=M(e,10);return t>Cr&&A("a topic is too long"),me(e,t)},it=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this;
if(t.topics)return t.topics;t.topics=this,t.mount({packet:(o,r,s,d)=>{if(s<_e||s>Tr)return!1;!r&&s===_e+5&&(this.refused??=On(Z(d)));for(let l of r?[n.get(r)]:n.
values())l?.packet(o,r,s-_e,Z(d));return!0},down(o,r){for(let s of[...n.values()])s.down(o,r)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){
await this.channel.connected(o=>{o.write(0,_e+2,r=>{Ue(r,be(t)),se(r,Pt(n))}),this.published??=o})}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;
if(this.refused=void 0,t)throw t}request(t,n,o="",r){let{channel:s,requests:d}=this;return new Promise((l,p)=>{if(d.size>=65535)throw P(8,"too many requests");do
this.last=this.last%65535+1;while(d.has(this.last));let f=this.last,h,b=0,x=0,E=!1,O,T,$=new AbortController,B=()=>{$.abort(),d.delete(f)&&n!==void 0&&h?.isUp&&
h.write(f,_e+1)},{first:X,messages:ne,put:te,end:G,take:le}=xt(k=>(b-=k.payload.length+Xt,k),B),j=k=>{clearTimeout(O),d.delete(f),this.published=T??this.published,
p(k),G(k)},q=o?[]:n?.split(".")??[],Y=q.at(-1)===">",K=k=>{let I=k.split(".");return(Y?I.length>=q.length:I.length===q.length)&&q.every((_,V)=>_===">"||_==="*"||
_===I[V])},H=t===0&&!o&&r!==void 0,re=typeof r=="object";if(re&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0&&Number.isSafeInteger(r.offset)))throw P(3,`${r.epoch}\
, ${r.offset} is not a position`);let ue=re||r===void 0?kt.oldest:kt[r],Q=new Map(re?[[n,{...r,offset:r.offset+1}]]:[]),U=new Map,i=0,u="",m=!1,g=!1,S=!1,w=!1,C=!1,
ce=()=>!n?.match(/[*>]/)&&Q.size>0,J=k=>{h?.write(f,_e+k,I=>{if(n!==void 0&&Ue(I,be(n)),k===6){R(I,ue);for(let[_,V]of Q)Ee(I,_),tt(I,V.epoch),D(I,V.offset)}else
se(I,be(o))})},F=()=>{let k=Q.size>0;return Q=new Map,ue=kt.now,m=!1,S=!0,k},he=k=>{s.connected(I=>{h=I,t===3&&((this.published??I)!==I&&(this.refused=new N(15,
"the connection was lost")),T=this.published,this.published=void 0);try{J(H?6:t)}catch(_){if(!g||!F())throw _;J(6)}g||(O=Ie(Nr,()=>{B(),j(We(1,"; the server may\
 have no broker"))}))},k,$.signal).catch(I=>{g&&I.code===9&&G(!0),j(I)})},Fe=()=>{clearTimeout(O),C=!0,g&&(S||!w)&&(E=!0),l(ne)},L=(k,I,_)=>{let V=_.bytes[_.at],
fe=k&&!C;if(fe&&I===5&&V===Mr)S=!0,J(0);else if(fe&&(I===5||I===6&&V)&&g&&F())J(6);else if(fe&&I===6&&V===0){ee(_),w=ee(_)===1;let oe=Te(_,16);i=M(_,10);let a=u!==
""&&u!==oe;u=oe,Fe(),S=!1,E||=ce()?!i:a}else if(I===7)for(;z(_);){let oe=Un(_),a={epoch:Te(_,16),offset:M(_,10)};if(Number.isSafeInteger(a.offset)||A("an intege\
r is beyond 2^53"),!C||!k&&!K(oe))continue;let c=U.get(oe);k&&!c?(i--,c=Q.get(oe)??(m?{...a,offset:1}:void 0)):!k&&c?.epoch!==a.epoch&&(c=void 0),c&&w&&(k||!S)&&
(c.epoch===a.epoch&&c.offset<=a.offset?x+=a.offset-c.offset:E=!0),U.size>=Ir&&!U.has(oe)&&(U.clear(),S=!0),U.set(oe,a)}else return!1;return!0};d.set(f,{packet(k,I,_,V){
if(!(k!==h||H&&L(I,_,V)))if(_===2){let fe=Un(V);if(!I&&(!C||!K(fe)))return;let oe=qe(V),a=U.get(fe);for(a&&U.set(fe,{...a,offset:a.offset+1}),b+=oe.length+Xt,te(
{topic:fe,payload:oe,position:a,lagged:x,reconnected:E}),x=0,E=!1;b>kr;){let c=le();b-=c.payload.length+Xt;let y=X();y.lagged+=c.lagged+1,y.reconnected||=c.reconnected}}else
_===4?C&&(S||!w)&&(x+=M(V,10)):I&&(z(V)?j(On(V)):Fe())},down(k,I){if(k===h){if(n===void 0||!C&&!g)return j(I);if(C)if(i>0&&!S){S=!m&&!ce();for(let[_,V]of U)Q.set(
_,V)}else S?F():(Q=U,ue=kt.oldest,m=!0);U=new Map,C=!1,g=!0,he(1/0)}}}),he()})}};var Ct="frisbee.1";function Rn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let r=new n(String(e),[Ct,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===Ct)return o.open();s=`the \
server does not speak ${Ct}`,r.close()},r.onmessage=({data:d})=>{d instanceof ArrayBuffer?o.data(new Uint8Array(d)):r.close()},r.onerror=({message:d=""})=>void(s||=
d),r.onclose=({code:d,reason:l})=>{o.close(s||`the WebSocket was closed (${d}${l&&`, ${l}`})`)},{send:d=>r.send(d),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Wt=(e,t={})=>new Tt(Rn(e,t),t);var ye={BUY:0,SELL:1},Gt=ve("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[Ln,Ln,Ur]),Ur=ve("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ye]),Dn=ve("exchange.Inquiry","side:e amount:u",()=>[ye]),Ln=ve("exchange.Level","price:u amount:u"),Rr=ve("exchange.Nothing",""),$n=ve("exchange.Offer",
"price:u called:u answered:u"),Lr=ve("exchange.Order","number:u side:e price:u amount:u",()=>[ye]),Dr=ve("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ye]),Pe=ht("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Rr,reply:Gt},trade:{operation:11,request:Lr,reply:Dr,
sends:!0,receives:!0},inquire:{operation:12,request:Dn,reply:$n}}),It=class{constructor(t){this.channel=t,t.name(Pe)}look(t,n){return this.channel.unary(Pe,Pe.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(Pe,Pe.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Pe,Pe.methods.inquire,t,n)}},Bn=ht("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Dn,reply:$n}});var jt=240,Vn=8,de=e=>document.getElementById(e),ae=(e,t)=>void(de(e).textContent=t),Ae=e=>(e/100).toFixed(2),Mt=e=>e===ye.BUY?"buy":"sell";function ie(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function $r(e,t){let n=de(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Vn;)n.lastElementChild?.remove()}var at=new Map,_n=0,Pn=0,qn=()=>{},Qt=[];async function*Br(){for(;;){let e=Qt.shift();
e?yield e:await new Promise(t=>qn=t)}}function _r({number:e,amount:t,price:n,left:o}){let r=at.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===ye.BUY?
1:-1;_n+=s*t,Pn-=s*t*n,ae("held",String(_n)),ae("cash",Ae(Pn));let d=[...at.values()].reverse().slice(0,Vn).map(({order:l,done:p,left:f})=>ie("tr",[ie("td",`${Mt(
l.side)} ${l.amount}`,Mt(l.side)),ie("td",Ae(l.price)),ie("td",String(p)),ie("td",String(f))]));de("orders").replaceChildren(...d)}de("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ye.SELL:ye.BUY,o={number:at.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};at.set(o.number,{order:o,done:0,left:o.amount}),Qt.push(o),qn()});var et=0,Kt=0,Ze,Oe=[];function Fn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));de(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ie("li",[s,ie("span",Ae(o)),ie("span",String(r))])}))}function Pr(e){for(let{number:o,price:r}of[...e].reverse())o>Kt&&Oe.push(r);Oe.splice(0,Oe.length-jt);let[
t]=e;if(!t||t.number===Kt)return;Kt=t.number;let n=t.price-et;et&&n&&(ae("change",`${n>0?"▲":"▼"} ${Ae(Math.abs(n))}`),de("change").dataset.side=n>0?"buy":"\
sell"),et=t.price,ae("last",Ae(et)),de("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ie("li",[ie("span",o===ye.BUY?"bought":"sold",Mt(o)),ie("s\
pan",Ae(r)),ie("span",String(s))]))),zt()}function Hn({bids:e,asks:t,deals:n,traders:o,orders:r}){Fn("asks",t),Fn("bids",e),t[0]&&e[0]&&ae("spread",`${Ae(t[0].price-
e[0].price)} apart`),ae("traders",String(o));let s=performance.now();(!Ze||s-Ze.at>1e3)&&(Ze&&ae("rate",((r-Ze.orders)/((s-Ze.at)/1e3)).toFixed(0)),Ze={orders:r,
at:s}),Pr(n)}function zt(){let e=de("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Oe.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),d=de("state"),l=Math.min(...Oe)-2,p=Math.max(...Oe)+2,f=n-56,h=E=>E/(jt-1)*f,b=E=>(p-E)/(p-l)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(d).color,t.lineWidth=.5;for(let E=0;E<5;E++){let O=l+(p-l)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,b(O)),t.lineTo(f,b(O)),t.stroke(),t.globalAlpha=1,t.fillText(Ae(O),f+8,b(O)+4)}let x=jt-Oe.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Oe.
forEach((E,O)=>t.lineTo(h(x+O),b(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,o),t.lineTo(h(x),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",zt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",zt);var Fr=qt(Bn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(de("margin").value)*100),o=et&&et+
(e===ye.BUY?n:-n);return $r("asked",ie("li",`${Mt(e)} ${t}? You said ${Ae(o)}.`)),{price:o}}}),{hostname:Hr}=location,Xn=Wt(`ws://${Hr}:${document.documentElement.
dataset.port}/`,{serve:Fr,stayConnected:!0}),Nt=new It(Xn),Vr=new it(Xn);de("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await Nt.inquire({side:ye.BUY,amount:10}),d=(performance.now()-n).toFixed(0);ae(
"offer",o?`${Ae(o)} is the best of ${s} of ${r}, after ${d} ms.`:`None of ${r} had a price.`)}catch(n){ae("offer",N.from(n).message)}t.disabled=!1});async function qr(){
for(;;){try{let e=await Vr.subscribe("exchange.book"),t=Nt.trade(Br()),n=(async()=>{for await(let r of t)_r(r)})();de("state").dataset.is="open",ae("state","con\
nected"),Hn(await Nt.look({}));let o=(async()=>{for await(let{payload:r}of e)Hn($t(Gt,r))})();await Promise.race([n,o])}catch(e){de("state").dataset.is="failed",
ae("state",N.from(e).message)}Qt.length=0;for(let e of at.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}qr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await Nt.look({},{timeout:5e3}),ae("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ae("ping","–")}},2e3);
