var Gn=new TextEncoder,Kn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yt=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
A=e=>{throw new we(e)},Z=e=>({bytes:e,at:0,depth:0,memory:0}),dt=(e=64)=>Z(new Uint8Array(e)),lt=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,be=e=>Gn.encode(
e);function ut(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function O(e,t){e.at===e.bytes.
length&&ut(e,1),e.bytes[e.at++]=t}function Jt(e,t){O(e,t>>8),O(e,t)}function L(e,t){for(;t>127;t=Math.floor(t/128))O(e,t|128);O(e,t)}function oe(e,t){ut(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}var tt=(e,t)=>t.match(/../g)?.forEach(n=>O(e,parseInt(n,16)));function Ue(e,t){L(e,t.length),oe(e,t)}function Ee(e,t){let{at:n}=e,
{length:o}=t,r=o>Yt?128:0;O(e,o);for(let s=0;s<o&&r<128;s++)O(e,r=t.charCodeAt(s));r>127&&(e.at=n,Ue(e,be(t)))}function pe(e,t,n){O(e,t);let{at:o}=e;n();let r=e.
bytes.slice(o,e.at);return e.at=o,Ue(e,r),r.length>0}var ct=({bytes:e,at:t})=>e.subarray(0,t),z=({bytes:e,at:t})=>e.length-t,Ne=({bytes:e,at:t})=>e[t],te=e=>e.bytes[e.
at++]??A("truncated");function Te(e,t=32){let n="";for(;n.length<t;)n+=te(e).toString(16).padStart(2,"0");return n}function ge(e,t){let n=te(e);n!==t&&A(`found \
byte ${n}, expected ${t}`)}function M(e,t=5){let n=0;for(let o=1,r=t;r-- >0;o*=128){let s=te(e);if(n+=(s&127)*o,s<128)return t>5?n:n>>>0}return A("a number is t\
oo long")}function Re(e){let{at:t}=e,n=M(e,10);return(z(e)||e.bytes[t+9]>1)&&A("a number is too long"),n}function Ve(e,t=M(e)){return t>z(e)&&A("truncated"),e.bytes.
subarray(e.at,e.at+=t)}var nt=e=>Z(Ve(e,M(e,10))),qe=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function me(e,t=M(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Yt)
for(let d;s<t&&(d=n[o+s])<128;s++)r+=String.fromCharCode(d);if(s<t){let d=Ve(e,t);try{return Kn.decode(d)}catch{A("a text is not UTF-8")}}return e.at+=t,r}var N=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:d={},mayHaveRun:u=!0}=r??{};Object.assign(this,
{details:s,metadata:d,mayHaveRun:u,code:n})}static from(n){return n instanceof e?n:new e(2,Le(n),{cause:n})}};var Le=e=>e instanceof Error?e.message:String(e),_=(e,t)=>new N(e,t,{mayHaveRun:!1}),De=(e,t)=>{let n=N.from(e);return n.mayHaveRun||!t?n:new N(n.code,n.message,
{...n,mayHaveRun:!0})},ft=e=>e>0&&e<=16?e:2,rt=(e,t,n)=>new N(e,n?t:`not sent: ${t}`,{mayHaveRun:!!n}),Xe=e=>rt(1,"the caller cancelled the call",e),We=(e,t="")=>rt(
4,`deadline exceeded${t}`,e);var yt=100,jn=64<<20,Qn=12,Lt=8,zn=32,Dt=56,nn=184,Ot=new Uint8Array(8),Zt=new DataView(Ot.buffer);function ve(e,t,n){let o;return{name:e,fields:()=>o??=Yn(t,n?.()??
[])}}function $t(e,t){return t[0]===18&&A(`${e.name} has the layout ${Te(Z(t.subarray(1)))}, which is unknown`),$e(Z(t),e)}function je(e,t,n){e.depth=yt,on(e,t,n)}function $e(e,t){
return e.depth=yt,e.memory=Math.max(jn,z(e)*Qn),sn(e,t)??an(e,t)}function Yn(e,t){let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.
exec(r);if(!s)throw new Error(`invalid entry: ${r}`);let[,d,u,p,f,h]=s,v=h==="m"?er(t[o++]):h==="e"?nr(t[o++]):mt[h],x=mt[f[1]??""],w=x?[2,x.wire,v.wire,10]:f===
"*"?[1,v.wire,10]:void 0,C=u?n.get(u):void 0;u&&!C&&n.set(u,C=[]);let E={name:u??d,of:v,isOptional:f==="?",key:x,head:w,case:d,number:+p,all:C};return C?.push(E),
E})}var rn=({head:e,key:t,isOptional:n,of:o})=>t?new Map:e?[]:n?void 0:o.zero();function on(e,t,n){if(!e.depth--)throw tn(t.name,`nests deeper than ${yt}`);O(e,
8),O(e,0);let o="";try{for(let r of t.fields()){let{all:s,name:d}=r,u=n[o=d];if(!s)Jn(e,r,u);else if(e.isFlat||r===s[0]){let p=u,f=s.find(v=>v.case===p?.case);if(p&&
!f)throw new Error(`has no member ${p.case}`);e.isFlat||(O(e,3),L(e,f?f.number:0));let h=e.isFlat?r:f;h&&Ge(e,h.of,h===f?p?.value:void 0)}}}catch(r){throw r instanceof
N?r:tn(`${t.name}.${o}`,r.message)}e.depth++}function Jn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=rn(t)),o){let d=n,u=n,p=r?d.size:u.
length;Ce(p>=0,n);for(let f of o)O(e,f);if(L(e,p),r)for(let[f,h]of d)Ge(e,r,f),Ge(e,s,h);else for(let f of u)Ge(e,s,f)}else n===void 0&&t.isOptional&&!e.isFlat?
O(e,0):Ge(e,s,n)}function Ge(e,t,n){t.table||O(e,t.wire),t.put(e,n===void 0?t.zero():n)}function sn(e,t){if(Ne(e)===0)return void e.at++;ge(e,8),te(e),e.depth--||
A(`${t.name} nests deeper than ${yt}`);let n=t.fields();st(e,Dt+Lt*n.length);let o={},r="";for(let s of n){let{name:d,all:u,of:p}=s,f=u&&u[0]===s;if(f&&(o[d]=void 0),
!u)o[d]=Zn(e,s);else if(f&&Ne(e)===3){e.at++,r+=` ${d} `;let h=M(e),v=u.find(x=>x.number===h);v?o[d]={case:v.case,value:Ut(e,v.of)}:h&&A(`${t.name}.${d} has no \
member ${h}`)}else if(!r.includes(` ${d} `)){let h=ot(e,p);(h instanceof Uint8Array?h.length:!Object.is(h,p.zero()))&&(o[d]={case:s.case,value:h})}}return e.depth++,
o}function Zn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ne(e)===0)return e.at++,Rt(e,t);if(!n)return ot(e,r);for(let u of n)ge(e,u);let s=M(e),d=Rt(e,
t);for(;s-- >0;)st(e,o?Dt:Lt),o?d.set(ot(e,o),Ut(e,r)):d.push(Ut(e,r));return d}function ot(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Ne(e)===12?ot(e,mt.i):
(n||ge(e,t),o(e))}var Ut=(e,t)=>ot(e,t)??an(e,t.table);function an(e,t){let n={},o=t.fields();st(e,Dt+Lt*o.length);for(let r of o)n[r.name]=r.all?void 0:Rt(e,r);
return n}function Rt(e,t){let n=rn(t);return typeof n=="object"&&st(e,Array.isArray(n)?zn:nn),n}function st(e,t){(e.memory-=t)<0&&A("exceeds the memory limit")}
var ke=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),er=e=>ke(3,()=>{},(t,n)=>n?on(t,e,n):O(t,0),t=>sn(t,e),e),tr=65536;function nr(e){let t=Object.values(
e);return{...ke(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),d=r+2147483648,u=r<0&&d>=t.length;Ce(s>=0||r===(r|0)&&(u||!o.isFlat),r),s>=0||u&&(o.isFlat||d<tr)?L(o,s<0?
d:s):(o.at--,Ge(o,mt.i,r))},o=>{let r=M(o),s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&A(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}var pt=(e,t)=>ke(
e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),d=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(d)&&d>=0)return L(n,d);Ce((e?BigInt.asIntN:BigInt.asUintN)(64,
r)===r,o);let u=e?r<<1n^r>>63n:r;for(;u>>53n;u>>=7n)O(n,Number(u&127n)|128);L(n,Number(u))},n=>{let{at:o}=n,r=M(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+
1)/-2:r/2);else{let s=0n;for(let d=0n;o<n.at;d+=7n)s|=BigInt(n.bytes[o++]&127)<<d;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(Number(
r))||A("an integer is beyond 2^53"),Number(r)):BigInt(r)}),en=(e,t)=>ke(e,()=>0,(n,o)=>{Ce(typeof o=="number",o),Zt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)O(n,Ot[r])},n=>{for(let o=0;o<t;o++)Ot[o]=te(n);return Zt[t>4?"getFloat64":"getFloat32"](0)}),mt={b:ke(7,()=>!1,(e,t)=>{Ce(typeof t=="boolean",t),O(e,+t)},
e=>{let t=te(e);return t>1&&A(`a bool is ${t}`),t>0}),i:ke(12,()=>0,(e,t)=>{Ce(t===(t|0),t),L(e,(t<<1^t>>31)>>>0)},e=>{let t=M(e);return t>>>1^-(t&1)}),u:ke(10,
()=>0,(e,t)=>{Ce(t===t>>>0,t),L(e,t)},e=>M(e)),l:pt(!0,!1),w:pt(!1,!1),L:pt(!0,!0),W:pt(!1,!0),f:en(14,4),d:en(15,8),s:ke(5,()=>"",(e,t)=>{Ce(typeof t=="string",
t),O(e,10),Ee(e,t)},e=>(ge(e,10),me(e))),y:ke(4,()=>new Uint8Array,(e,t)=>{Ce(lt(t),t),O(e,10),Ue(e,t)},e=>(ge(e,10),st(e,nn),new Uint8Array(Ve(e))))},tn=(e,t)=>_(
3,`${e} ${t}`);function Ce(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var ht=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)});function bt(e,t){Ee(e,t.name),
tt(e,t.fingerprint);let n=0;for(let o of t.operations)L(e,o-n),n=o}var rr=65536;function dn(e,t,n=""){let o=atob(n);if(o&&o.length<=rr)for(let r of o)O(e,r.charCodeAt(
0));else O(e,0),tt(e,t)}function ln(e){let t=me(e,M(e,10)),n=[],o={fingerprint:Te(e),operations:n},r=0;for(;z(e);)n.push(r+=M(e,10));return r>65535&&A("a number\
 is too long"),[t,o]}var un=16,cn=65536,or=1e3,fn=256,pn=61440,_t={metadata:{}},mn=e=>[e].flat(),Bt=e=>e.endsWith("-bin"),yn=(e,t)=>Bt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Bt(e)?"":t}`);function Pt(e){if(typeof e=="string")return be(e);if(!lt(e))throw _(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ft(e,t){
let{at:n}=e;pe(e,un,()=>hn(e,t))||(e.at=n)}function hn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&pe(e,1,()=>L(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,d=0;for(let[u,p]of Object.entries(n))for(let f of mn(p)){if(!yn(u,f))throw _(3,`invalid metadata ${u}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=u.length+f.length+8,++d>fn||s>pn)throw _(8,"too much metadata");pe(e,2,()=>{Ee(e,u),oe(e,Pt(f))})}
if(o){let{code:u,details:p,mayHaveRun:f}=o;pe(e,3,()=>{L(e,u),e.at-r+p.length+32<=cn&&oe(e,p)}),f||pe(e,5,()=>{})}}function Qe(e,t=!1){if(Ne(e)!==un)return _t;e.
at++;let n=nt(e);return z(n)>cn&&A("a prefix is too long"),gt(n,t)}function gt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0,d=0;for(;z(e);){let u=te(
e),p=nt(e);if(u>127){let f=`prefix item ${u} must be understood and is unknown`;throw t?_(12,f):new we(f)}if([1,3,5,6,8].includes(u)&&(d>>u&1&&A(`prefix item ${u}\
 occurs twice`),d|=1<<u),u===1)o.timeout=Re(p)/1e3;else if(u===2){let f=me(p,M(p,10)),h=Bt(f)?qe(p):me(p,z(p));s+=f.length+h.length+8,(!yn(f,h)||++r>fn||s>pn)&&
A("invalid metadata"),n[f]=f in n?[...mn(n[f]),h]:h}else u===3?(o.code=M(p,10),o.details=qe(p)):u===5?o.isRefused=!0:u===8&&(o.text=Be(p))}return o}var Be=(e,t)=>new TextDecoder().
decode(qe(e).subarray(0,t)),bn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new N(ft(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function ze(e,t){
if(Ne(e)===6)return e.at++,ge(e,5),ge(e,10),bn(t,me(e))}function gn(e){let t=gt(e);return t.code??t.isRefused?bn(t,t.text):void 0}function vn(e,t){hn(e,{status:t,
metadata:t.metadata}),pe(e,8,()=>oe(e,be(t.message.slice(0,or))))}function An(e,t){Ft(e,{status:t,metadata:t.metadata}),oe(e,[6,5,10]),Ee(e,t.message)}var Ht=5<<20,sr=1024,ir=1024,Sn=65536,ar=128,dr=32768,Ye=10,Je=16384,xn=32768,At=256,lr=16383,St=262144,ur=1e5,cr=64<<20,wn=8<<20,fr=10,pr=65536,mr=2e3,yr=5,hr=1e4,
En="the server is going away",vt=200,br=2147483647,Ie=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),br));function Tn(e,t,n,o,r){let s=dt(16384),d=new Map,u=new Map,
p=new Set(n),f=[],h=0,v=0,x=0,w=0,C=0,E=0,U=32767,D=[0,Ht,1/0,Je,0],j=!1,se=!1,ne,G=Ye,ue=0,Q=!1,q=0,Y=0,K,P=a=>{if(!(j||!V))try{a(V)}catch(c){Fe(Le(c));try{V.close()}catch{}}},
re=()=>{s.at&&(P(a=>a.send(ct(s))),s.at=q=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),P(a=>{let c=a.buffered();c>cr?he("too many unsent bytes"):c>wn&&
!R.isFull&&(R.isFull=!0,ee())}))},ee=()=>P(a=>{if(a.buffered()>wn/2)return void Ie(fr,ee);R.isFull=!1;for(let c of d.values())c.room();t.room(R)}),X=()=>{s.at!==
q?(q=s.at,queueMicrotask(X)):(Q=!1,re())},F=(a,c,y,g)=>{let{at:W}=s;try{ut(s,Ye),s.at+=Ye,y?.(s,g);let Me=s.at,Se=Me-W-Ye,xe=c===3?Sn:Math.max(D[1],ir);if(Se>xe)
throw _(8,`the message has ${Se} bytes of at most ${xe}`);s.at=W;for(let He of[15,a,c,Se>>>16,Se])Jt(s,He);s.at=Me}catch(Me){throw s.at=W,Me}s.at>pr?re():Q||(Q=
!0,q=0,queueMicrotask(X))},i=(a,{code:c,message:y},g=7)=>F(a,g,W=>{L(W,c),oe(W,be(y.slice(0,vt)))}),l=(a,c)=>{F(a,5,L,0),i(a,c)},m=a=>{if(!j){if(Y=0,ne){if(oe(ne,
a),ne.at<G)return;a=ct(ne),ne=void 0}try{let c=0,y=g=>a[c+g]<<8|a[c+g+1];for(;!j&&!(a.length<(G=c+Ye));c=G){y(0)!==15&&A("a header without its magic");let g=y(6)*
65536+y(8);if(g>(y(4)===3?Sn:Ht)&&A(`a packet of ${g} bytes`),a.length<(G+=g))break;b(y(2),y(4),a.subarray(c+Ye,G))}c<a.length&&(G-=c,oe(ne=dt(),a.subarray(c)))}catch(c){
let y=c.message;R.isUp&&i(4,new N(13,y),3),he(`the server broke the protocol: ${y}`)}}},b=(a,c,y)=>{let g=Z(y),W=c===3&&(a===5||a===6),Me=W?M(g,10):a;Me>65535&&
A(`stream ${Me}`);let Se=d.get(Me);if(c>=10){R.isUp||A("a packet before HELLO");let xe=a>=xn,He=f[a%Je];if(He?.id===a&&He.operation===c)return $(a),t.answered(),
He.isGivenUp?v--:t.replied(He,y),J();if(r.filter(Wn=>Wn.packet(R,a,c,y)).length)return;if(xe&&k)return k.packet(a,c,y,!1);++ue>ur&&he("too many stray packets")}else if(c<
2){y.length&&A("a PING with a body"),c===1?R.isUp||he("the server is a compat peer"):F(0,1);return}else if(c===3&&!W){if(!a&&!R.isUp)return S(g);if(a===4)return he(
`closed by the server with code ${M(g,10)}: ${Be(g,vt)}`);if(a===1)return T(g);a>=dr&&A(`packet type ${a} must be understood and is unknown`)}else{if(c===4)return H();
if(c===6)return void(y.length&&k?.cancel(a,M(g,10)));if(c===8)A("a stray HAND_OFF");else if(c===9)do{let xe=Ve(g,M(g,10));Se?.packet(2,xe)}while(z(g));else{if(Se)
return t.answered(),W?Se.items(a===6,g):Se.packet(c,y);if(c===2){let xe=a-U&32767;if(a>=32768&&xe&&xe<=16384)return U=a,k?k.packet(a,2,y,!0):l(a,_(12,"no servic\
e is served"))}}}},T=a=>{let c=z(a);for((!c||c>sr)&&A(`ASK of ${c} bytes`);z(a);){let y=Te(a),g=[...p,...o?.services??[]].find(W=>W.fingerprint===y);F(2,3,W=>dn(
W,y,g?.layout))}},S=a=>{(me(a,4)!=="fris"||!te(a))&&A("no HELLO");let c=new Set,y=0;try{for(;z(a);){y=te(a);let g=nt(a);if(y>=ar&&A("must be understood and is u\
nknown"),[1,2,3,4,5,6,8,34,35].includes(y)&&(c.has(y)&&A("occurs twice"),c.add(y)),y&&y in D)D[y]=Re(g);else if(y===8)Re(g);else if(y===32||y===33){let W=ln(g);
y===32&&u.set(...W)}}}catch(g){A(`HELLO item ${y}: ${g.message}`)}D[3]=Math.min(D[3],Je),R.isUp=!0,clearTimeout(I),t.room(R)},$=a=>{f[a%Je]=void 0,h--===D[3]&&t.
room(R)},ce=(a,c)=>{d.set(c,a),a.begin(R,c,D[4])},J=()=>{se&&queueMicrotask(()=>{h===v&&!d.size&&!k?.progress.size&&he(En)})},H=()=>{se=!0,t.closing(R,En),J()},
he=a=>fe(()=>{re(),P(c=>c.close()),Fe(a)}),Fe=a=>{if(j)return;j=!0,clearInterval(K),clearTimeout(I),t.closing(R,a);let c=R.isUp;R.isUp=!1;let y=new N(14,`the co\
nnection was lost: ${a}`);for(let g of f)g&&!g.isGivenUp&&t.lost(g,y);for(let g of d.values())g.lost(y);if(k?.down(y),c)for(let g of r)g.down(R,y)},R={isUp:!1,isFull:!1,
write:F,reset:i,refuse:l,announce(a){if(p.has(a))return;for(let g of p)if(g.operations.some(W=>a.operations.includes(W)))throw _(9,`${g.name} has operations of ${a.
name}: use another channel`);let c=u.get(a.name);c?.fingerprint===a.fingerprint&&`${c.operations}`==`${a.operations}`||F(3,3,bt,a),p.add(a)},call(a,c){if(R.isFull||
h>=D[3])return!1;do w=(w+1)%xn;while(f[w%Je]);let y=a.id=w;f[y%Je]=a,h++;try{F(y,a.operation,c,a)}catch(g){throw $(y),g}return!0},cancel(a){a.isGivenUp=!0,F(a.id,
6,L,a.operation),v++,J()},open(a,c){if(!D[2])throw _(12,"the server does not accept streams");if(R.isFull||C>=Math.min(D[2],lr))return!1;do E=E%32767+1;while(d.
has(E));let y=E;d.set(y,a),C++;try{F(y,2,c)}catch(g){throw R.over(y),g}return a.begin(R,y,D[4]),!0},accept:ce,over(a){d.delete(a),a<32768&&(C--,t.room(R)),J()},
drain:H,closeIfIdle:J},k=o?.on(R),I=Ie(hr,()=>he("handshake timeout")),B=a=>{s.isFlat=a.isFlat,F(0,3,c=>{oe(c,be("fris"));let y=k?At:0;[Ht,y,y,St].forEach((g,W)=>pe(
c,W+1,()=>L(c,g))),pe(c,6,()=>{});for(let g of o?.services??[])pe(c,32,()=>bt(c,g));for(let g of n)pe(c,33,()=>bt(c,g))}),F(1,0),re(),!j&&(K=setInterval(()=>{if(++Y>
yr)return he("keepalive timeout");F(0,0),x=v<(D[3]||1)?0:x+1,x>1&&H();let c=performance.now();for(let y of f)y&&y.until<=c&&!y.isGivenUp&&t.expired(y)},mr))},V,
fe=a=>V?a():queueMicrotask(a),ie=a=>fe(()=>Fe(a));try{V=e({open:()=>fe(()=>P(B)),data:m,close:ie})}catch(a){ie(Le(a))}return R}function xt(e,t){let n={},o=n,r=!1,s=()=>{},d=v=>{r||=v,s()},u=()=>n.next?.item,p=()=>{let v=u();return n=n.next??n,n.item=void 0,v},f=(async function*(){try{for(;;){
let v=p();if(v!==void 0){let x=e(v);x!==void 0&&(yield x)}else if(r){if(r!==!0)throw r;return}else await new Promise(x=>s=x)}}finally{t()}})(),{return:h}=f;return f.
return=()=>(t(),n=o={},d(!0),h.call(f,void 0)),{messages:f,first:u,take:p,put:v=>{o=o.next={item:v},s()},end:d}}var Vt=64,gr=4,vr=4096,wt=(e,t)=>e instanceof we?new N(13,`not a valid ${t.name}: ${e.message}`):N.from(e);function Et(e,t,n,o,r){let s,d=0,u=0,p=0,f=0,h=!0,v=!0,
x=!1,w=!1,C=!1,E=()=>{},U,D=()=>!h&&!v,j=i=>{f+=i.length+Vt,v&&f*gr>=St&&(s?.write(d,5,L,f),p-=f,f=0)},{messages:se,put:ne,take:G,end:ue}=xt(i=>{j(i);try{let l=Z(
i),m=ze(l,_t);if(m)throw m;return $e(l,t)}catch(l){throw wt(l,t)}},()=>n?re(!0):X()),Q=Object.assign(se,{metadata:{}}),q=()=>{D()&&(E(),U?.(),s?.over(d),s=U=void 0,
o())},Y=i=>{v=!1,ue(i),q()},K=()=>{h&&(h=!1,s?.write(d,7),q())},P=i=>{h=!1,Y(i)},re=(i,l=Xe(1))=>{D()||s?.reset(d,l),P(i),X()},ee=i=>re(i,i),X=()=>{x=!0;for(let i;i=
G();)j(i)},F=i=>{if(!(!s||!h)){if(i instanceof N)return s.write(6,3,l=>{L(l,d),vn(l,i)}),h=!1,q();s.write(d,2,l=>{let{at:m}=l;je(l,e,i),u-=l.at-m+Vt})}};return{
messages:Q,begin(i,l,m){s=i,d=l,u=m},packet(i,l){if(i===2)return w=!0,v?p>=St?ee(new N(8,"the peer exceeded its credit")):(p+=l.length+Vt,x?j(l):ne(new Uint8Array(
l))):void 0;let m=Z(l);if(i===5){let b=Re(m);C||=!b,(u+=b)>0&&E()}else if(l.length){let b=ft(M(m,10));P(new N(b,Be(m,vr),{mayHaveRun:!C}))}else Y(!0)},items(i,l){
if(v){!i&&w&&A("late HEADERS"),w=!0;try{if(i)return Y(gn(l)??!0);r?.(Q.metadata=gt(l).metadata)}catch(m){ee(wt(m,t))}}},send:F,async pump(i,l,m){try{let b=i,T=b?.[Symbol.
asyncIterator]?.()??b?.[Symbol.iterator]?.();if(!T)throw _(3,`messages are an iterable, not ${String(i)}`);U=async()=>{try{await T.return?.()}catch{}},!n&&l&&s?.
write(5,3,L,d);for(let S;;){for(;(u<=0||s?.isFull)&&!D();)await new Promise($=>E=$);if(D())return U?.();if(S){if(F(S.value),!l)break;S=void 0}else if((S=await T.
next()).done)break}U=void 0,K(),D()||m?.()}catch(b){if(!n)throw U?.(),U=void 0,b;re(De(b,l))}},room:()=>E(),finish:K,discard:X,fail:ee,lost:P}}var Ar=3e4,Sr=5e3,xr=20,kn=2e3,Cn=10,Tt=class{constructor(t,{timeout:n,reconnectTimeout:o=Sr,metadata:r,serve:s,stayConnected:d}={}){let u=n??Ar,p,f=0,h=Cn,v=0,
x,w=!1,C="",E=[new Set,new Set,new Set],U=({service:i,method:{sends:l,receives:m}})=>E[i?l||m?1:0:2],D=new Set,j=[],se=()=>{p||x||w||!(E.some(({size:i})=>i)||d)||
(v=performance.now(),p=Tn(t,ne,[...D],s,j))},ne={room:i=>queueMicrotask(()=>{for(let l of E)for(let m of l){if(p!==i||!G(m,i))break;p===i&&l.delete(m)}}),closing(i,l){
if(p===i){if(p=void 0,C=l,i.isUp)for(let m of E)m.forEach(Q);i.isUp&&performance.now()-v>=kn?f=0:w||(x=Ie(Math.random()*Math.min(xr*2**Math.min(f++,16),kn),()=>{
x=void 0,se()})),se()}},answered:()=>void(f=0),replied(i,l){let m=i,{method:{reply:b},options:{onMetadata:T}}=m;Y(m);try{let S=Z(l),$=Qe(S),ce=ze(S,$);if(ce)throw ce;
S.at&&T?.($.metadata),m.resolve($e(S,b)),h<Cn&&(h+=.1)}catch(S){m.reject(De(wt(S,b),m.sent>1))}},expired:i=>q(i),lost(i,l){let m=i;if(m.link=void 0,!m.method.idempotent||
m.sent>1||h<1)return K(m,l);h--,ue(m)}},G=(i,l)=>{let{service:m}=i;try{return m&&l.announce(m),i.start(i,l)&&!!++i.sent}catch(b){return K(i,De(b,i.sent)),!0}},ue=i=>{
let l=U(i);if(!(p?.isUp&&!l.size&&G(i,p))){if(w)return K(i,In(i.sent));l.add(i),se(),Q(i)}},Q=i=>{i.reconnectsUntil=performance.now()+(i.options.reconnectTimeout??
o),q(i)},q=i=>{let{until:l,sent:m,reconnectsUntil:b}=i,T=performance.now(),S=U(i).has(i)&&!p?.isUp&&`no connection to the server${C&&`: ${C}`}`;clearTimeout(i.timer),
T>=l?K(i,We(m,S?`; ${S}`:"")):T>=b&&S?K(i,rt(14,S,m)):i.timer=Ie((T<b?Math.min(l,b):l)-T,()=>q(i))},Y=i=>{U(i).delete(i),clearTimeout(i.timer),i.options.signal?.
removeEventListener("abort",i.abort)},K=(i,l)=>{Y(i),i.link?.cancel(i),i.reject(l)},P=(i,{sentTimeout:l,until:m,options:{metadata:b}})=>{(l!==void 0||r||b)&&Ft(
i,{timeout:l&&m-performance.now(),metadata:{...r,...b}})},re=(i,l)=>{P(i,l),je(i,l.method.request,l.request)},ee=(i,l)=>{let m=l.call(i,re);return m&&(i.link=l),
m},X=(i,l,m,b,T,S,$,ce)=>{let{signal:J}=b,H={id:0,operation:l.operation,until:performance.now()+ +(T??(i?u:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,
link:void 0,service:i,method:l,request:m,options:b,sentTimeout:T,start:S,resolve:$,reject:ce,abort:J&&(()=>K(H,Xe(H.sent)))};return isNaN(H.until)?ce(_(3,"the t\
imeout is not a number")):J?.aborted?H.abort?.():(J?.addEventListener("abort",H.abort),T!==void 0&&q(H),(T===void 0||H.timer)&&ue(H)),H},F=(i,l,m,b={})=>{let T,
S=Et(l.request,l.reply,!0,()=>T&&Y(T),b.onMetadata);return T=X(i,l,m,b,b.timeout,($,ce)=>{T=$;let J=ce.open(S,H=>{P(H,$),O(H,9),L(H,$.operation)});if(J){let H=$.
sentTimeout===void 0;H&&($.until=1/0),S.pump(m,l.sends,()=>{!H||l.receives||($.until=performance.now()+u,q($))})}return J},()=>{},S.fail),S};this.unary=(i,l,m,b={})=>new Promise(
(T,S)=>void X(i,l,m,b,b.timeout??n,ee,T,S)),this.serverStreaming=(i,l,m,b)=>F(i,l,[m],b).messages,this.twoWay=(i,l,m,b)=>F(i,l,m,b).messages,this.clientStreaming=
async(i,l,m,b)=>{let{messages:T}=F(i,l,m,b),{done:S,value:$}=await T.next();if(S)throw new N(13,"there is no reply");return T.return?.(),$},this.name=i=>void D.
add(i),this.mount=i=>void j.push(i),this.connected=(i,l,m)=>new Promise((b,T)=>{X(void 0,{},void 0,{reconnectTimeout:l,signal:m},void 0,(S,$)=>$.isFull?!1:(i?.(
$),Y(S),b($),!0),b,T)}),this.close=()=>{w=!0,clearTimeout(x);for(let i of E)for(let l of i)K(l,In(l.sent));p?.drain()},d&&queueMicrotask(se)}},In=e=>rt(9,"the c\
hannel is closed",e);var wr=1e4;function qt(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(d,u)=>t[r]?.(d,u)});return{
services:[...n?.services??[],e],methods:o,on(r){let s=new Map,d=0,u=(p,f)=>{let h=o.get(p);if(!h||!(h.method.sends||h.method.receives)===f)throw _(12,`unknown o\
peration ${p}`);if(s.size>=At||d>=At)throw _(8,"too many calls are in progress");return h};return{progress:s,packet(p,f,h,v){let x,w=E=>r.write(p,f,U=>{E instanceof
N?An(U,E):je(U,x.reply,E)}),C=v?p:Mn(p,f);s.has(C)&&A("a request id occurs twice");try{let E=Z(h),{timeout:U,metadata:D}=Qe(E,!0);v&&(ge(E,9),f=M(E,3));let j=u(
f,v);if(U===0)throw _(4,"deadline exceeded");({method:x}=j);let se=v||$e(E,x.request),ne=new AbortController,G=!1,ue=P=>{G||(G=!0,clearTimeout(Y),P||ne.abort(),
s.delete(C),r.closeIfIdle())},Q=v?Et(x.reply,x.request,!1,()=>ue(!1)):{send(P){G||(w(P),ue(!0))},fail:w,discard(){}},q=P=>{Q.fail(P),ue(!1)},Y,K=P=>{clearTimeout(
Y),Y=Ie(P,()=>q(We(1)))};U!==void 0&&K(U),s.set(C,q),v&&r.accept(Q,p),d++,Er(j,v,se,Q,{signal:ne.signal,metadata:D}).finally(()=>{d--,G||K(wr)})}catch(E){let U=E instanceof
we?Nn(E):N.from(E);v?r.refuse(p,U):w(U)}},cancel(p,f){s.get(Mn(p,f))?.(Xe(1))},down(p){for(let f of s.values())f(p)}}}}}var Mn=(e,t)=>t*65536+e,Nn=e=>_(3,`malfo\
rmed request: ${Le(e)}`);async function Er({method:e,handler:t},n,o,r,s){let d=!1;try{if(e.sends)o=r.messages;else if(n)try{let p=await r.messages.next();p.done&&
A("no request"),o=p.value}catch(p){throw Nn(p)}d=!0;let u=t(o,s);n?await r.pump?.(e.receives?u:[await u],e.receives):r.send(await u)}catch(u){try{r.send(De(u,d))}catch(p){
r.send(new N(13,Le(p).slice(0,vt)))}}r.discard()}var _e=65280,Tr=_e+8,kr=16<<20,Cr=64,Ir=255,Mr=65536,Nr=4,kt={now:0,last:1,oldest:2},Or=1e4,Xt=({topic:e,payload:t})=>e.length+t.length+Cr,On=e=>{let t=Qe(e);return(e.
at?ze(e,t):void 0)??_([8,12,7,14][te(e)-3]??3,Be(e))},Un=e=>{let t=M(e,10);return t>Ir&&A("a topic is too long"),me(e,t)},it=class{constructor(t){this.channel=t;
this.requests=new Map;this.last=0;let{requests:n}=this;if(t.topics)return t.topics;t.topics=this,t.mount({packet:(o,r,s,d)=>{if(s<_e||s>Tr)return!1;!r&&s===_e+5&&
(this.refused??=On(Z(d)));for(let u of r?[n.get(r)]:n.values())u?.packet(o,r,s-_e,Z(d));return!0},down(o,r){for(let s of[...n.values()])s.down(o,r)}})}subscribe(t,{
group:n="",from:o}={}){return this.request(n||o===void 0?0:6,t,n,o)}async publish(t,n){await this.channel.connected(o=>{o.write(0,_e+2,r=>{Ue(r,be(t)),oe(r,Pt(n))}),
this.published??=o})}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){let{channel:s,
requests:d}=this;return new Promise((u,p)=>{if(d.size>=65535)throw _(8,"too many requests");do this.last=this.last%65535+1;while(d.has(this.last));let f=this.last,
h,v=0,x=0,w=!1,C,E,U=new AbortController,D=()=>{U.abort(),clearTimeout(C),d.delete(f)&&n!==void 0&&h?.isUp&&h.write(f,_e+1)},{first:j,messages:se,put:ne,end:G,take:ue}=xt(
k=>(v-=Xt(k),k),D),Q=k=>{clearTimeout(C),d.delete(f),this.published=E??this.published,p(k),G(k)},q=o?[]:n?.split(".")??[],Y=q.at(-1)===">",K=k=>{let I=k.split("\
.");return(Y?I.length>=q.length:I.length===q.length)&&q.every((B,V)=>B===">"||B==="*"||B===I[V])},P=typeof r=="object";if(P&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.
offset>=0&&Number.isSafeInteger(r.offset)))throw _(3,`${r.epoch}, ${r.offset} is not a position`);let re=P||r===void 0?kt.oldest:kt[r],ee=new Map(P?[[n,{...r,offset:r.
offset+1}]]:[]),X=new Map,F=0,i="",l=!1,m=!1,b=!1,T=!1,S=!1,$=()=>!n?.match(/[*>]/)&&ee.size>0,ce,J=k=>{ce=k,h?.write(f,_e+k,I=>{if(n!==void 0&&Ue(I,be(n)),k===
6){O(I,re);for(let[B,V]of ee)Ee(I,B),tt(I,V.epoch),L(I,V.offset)}else oe(I,be(o))})},H=()=>{let k=ee.size>0;return ee=new Map,re=kt.now,l=!1,b=!0,k},he=k=>{s.connected(
I=>{h=I,t===3&&((this.published??I)!==I&&(this.refused=new N(15,"the connection was lost")),E=this.published,this.published=void 0);try{J(t)}catch(B){if(!m||!H())
throw B;J(6)}C=Ie(Or,()=>{D(),Q(We(1,"; the server may have no broker"))})},k,U.signal).catch(I=>{m&&I.code===9&&G(!0),Q(I)})},Fe=()=>{clearTimeout(C),S=!0,m&&(b||
!T)&&(w=!0),u(se)},R=(k,I,B)=>{let V=B.bytes[B.at],fe=k&&!S;if(fe&&I===5&&V===Nr)b=!0,J(0);else if(fe&&(I===5||I===6&&V)&&m&&H())J(6);else if(fe&&I===6&&V===0){
te(B),T=te(B)===1;let ie=Te(B,16);F=M(B,10);let a=i!==""&&i!==ie;i=ie,Fe(),b=!1,w||=$()?!F:a}else if(I===7)for(;z(B);){let ie=Un(B),a={epoch:Te(B,16),offset:M(B,
10)};if(Number.isSafeInteger(a.offset)||A("an integer is beyond 2^53"),!S||!k&&!K(ie))continue;let c=X.get(ie);k&&!c?(F--,c=ee.get(ie)??(l?{...a,offset:1}:void 0)):
!k&&c?.epoch!==a.epoch&&(c=void 0),c&&T&&(k||!b)&&(c.epoch===a.epoch&&c.offset<=a.offset?x+=a.offset-c.offset:w=!0),X.size>=Mr&&!X.has(ie)&&(X.clear(),b=!0),X.set(
ie,a)}else return!1;return!0};d.set(f,{packet(k,I,B,V){if(!(k!==h||ce===6&&R(I,B,V)))if(B===2){let fe=Un(V);if(!I&&(!S||!K(fe)))return;let ie=qe(V),a=X.get(fe);
a&&X.set(fe,{...a,offset:a.offset+1});let c={topic:fe,payload:ie,position:a,lagged:x,reconnected:w};for(v+=Xt(c),ne(c),x=0,w=!1;v>kr;){let y=ue();v-=Xt(y);let g=j();
g.lagged+=y.lagged+1,g.reconnected||=y.reconnected}}else B===4?S&&(b||!T)&&(x+=M(V,10)):I&&(z(V)?Q(On(V)):Fe())},down(k,I){if(k===h){if(n===void 0||!S&&!m)return Q(
I);if(S)if(F>0&&!b){b=!l&&!$();for(let[B,V]of X)ee.set(B,V)}else b?H():(ee=X,re=kt.oldest,l=!0);clearTimeout(C),X=new Map,S=!1,m=!0,he(1/0)}}}),he()})}};var Ct="frisbee.1";function Rn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let r=new n(String(e),[Ct,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===Ct)return o.open();s=`the \
server does not speak ${Ct}`,r.close()},r.onmessage=({data:d})=>{d instanceof ArrayBuffer?o.data(new Uint8Array(d)):r.close()},r.onerror=({message:d=""})=>void(s||=
d),r.onclose=({code:d,reason:u})=>{o.close(s||`the WebSocket was closed (${d}${u&&`, ${u}`})`)},{send:d=>r.send(d.slice()),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Wt=(e,t={})=>new Tt(Rn(e,t),t);var ye={BUY:0,SELL:1},Gt=ve("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[Ln,Ln,Rr]),Rr=ve("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ye]),Dn=ve("exchange.Inquiry","side:e amount:u",()=>[ye]),Ln=ve("exchange.Level","price:u amount:u"),Lr=ve("exchange.Nothing",""),$n=ve("exchange.Offer",
"price:u called:u answered:u"),Dr=ve("exchange.Order","number:u side:e price:u amount:u",()=>[ye]),$r=ve("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ye]),Pe=ht("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Lr,reply:Gt},trade:{operation:11,request:Dr,reply:$r,
sends:!0,receives:!0},inquire:{operation:12,request:Dn,reply:$n}}),It=class{constructor(t){this.channel=t,t.name(Pe)}look(t,n){return this.channel.unary(Pe,Pe.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(Pe,Pe.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Pe,Pe.methods.inquire,t,n)}},Bn=ht("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Dn,reply:$n}});var jt=240,Vn=8,le=e=>document.getElementById(e),de=(e,t)=>void(le(e).textContent=t),Ae=e=>(e/100).toFixed(2),Mt=e=>e===ye.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Br(e,t){let n=le(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Vn;)n.lastElementChild?.remove()}var at=new Map,_n=0,Pn=0,qn=()=>{},Qt=[];async function*_r(){for(;;){let e=Qt.shift();
e?yield e:await new Promise(t=>qn=t)}}function Pr({number:e,amount:t,price:n,left:o}){let r=at.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===ye.BUY?
1:-1;_n+=s*t,Pn-=s*t*n,de("held",String(_n)),de("cash",Ae(Pn));let d=[...at.values()].reverse().slice(0,Vn).map(({order:u,done:p,left:f})=>ae("tr",[ae("td",`${Mt(
u.side)} ${u.amount}`,Mt(u.side)),ae("td",Ae(u.price)),ae("td",String(p)),ae("td",String(f))]));le("orders").replaceChildren(...d)}le("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ye.SELL:ye.BUY,o={number:at.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};at.set(o.number,{order:o,done:0,left:o.amount}),Qt.push(o),qn()});var et=0,Kt=0,Ze,Oe=[];function Fn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));le(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ae("li",[s,ae("span",Ae(o)),ae("span",String(r))])}))}function Fr(e){for(let{number:o,price:r}of[...e].reverse())o>Kt&&Oe.push(r);Oe.splice(0,Oe.length-jt);let[
t]=e;if(!t||t.number===Kt)return;Kt=t.number;let n=t.price-et;et&&n&&(de("change",`${n>0?"▲":"▼"} ${Ae(Math.abs(n))}`),le("change").dataset.side=n>0?"buy":"\
sell"),et=t.price,de("last",Ae(et)),le("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ae("li",[ae("span",o===ye.BUY?"bought":"sold",Mt(o)),ae("s\
pan",Ae(r)),ae("span",String(s))]))),zt()}function Hn({bids:e,asks:t,deals:n,traders:o,orders:r}){Fn("asks",t),Fn("bids",e),t[0]&&e[0]&&de("spread",`${Ae(t[0].price-
e[0].price)} apart`),de("traders",String(o));let s=performance.now();(!Ze||s-Ze.at>1e3)&&(Ze&&de("rate",((r-Ze.orders)/((s-Ze.at)/1e3)).toFixed(0)),Ze={orders:r,
at:s}),Fr(n)}function zt(){let e=le("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Oe.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),d=le("state"),u=Math.min(...Oe)-2,p=Math.max(...Oe)+2,f=n-56,h=w=>w/(jt-1)*f,v=w=>(p-w)/(p-u)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(d).color,t.lineWidth=.5;for(let w=0;w<5;w++){let C=u+(p-u)*w/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,v(C)),t.lineTo(f,v(C)),t.stroke(),t.globalAlpha=1,t.fillText(Ae(C),f+8,v(C)+4)}let x=jt-Oe.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Oe.
forEach((w,C)=>t.lineTo(h(x+C),v(w))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,o),t.lineTo(h(x),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",zt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",zt);var Hr=qt(Bn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(le("margin").value)*100),o=et&&et+
(e===ye.BUY?n:-n);return Br("asked",ae("li",`${Mt(e)} ${t}? You said ${Ae(o)}.`)),{price:o}}}),{hostname:Vr}=location,Xn=Wt(`ws://${Vr}:${document.documentElement.
dataset.port}/`,{serve:Hr,stayConnected:!0}),Nt=new It(Xn),qr=new it(Xn);le("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await Nt.inquire({side:ye.BUY,amount:10}),d=(performance.now()-n).toFixed(0);de(
"offer",o?`${Ae(o)} is the best of ${s} of ${r}, after ${d} ms.`:`None of ${r} had a price.`)}catch(n){de("offer",N.from(n).message)}t.disabled=!1});async function Xr(){
for(;;){try{let e=await qr.subscribe("exchange.book"),t=Nt.trade(_r()),n=(async()=>{for await(let r of t)Pr(r)})();le("state").dataset.is="open",de("state","con\
nected"),Hn(await Nt.look({}));let o=(async()=>{for await(let{payload:r}of e)Hn($t(Gt,r))})();await Promise.race([n,o])}catch(e){le("state").dataset.is="failed",
de("state",N.from(e).message)}Qt.length=0;for(let e of at.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Xr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await Nt.look({},{timeout:5e3}),de("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{de("ping","–")}},2e3);
