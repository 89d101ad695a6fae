var jn=new TextEncoder,Qn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yt=40,we=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
w=e=>{throw new we(e)},Q=e=>({bytes:e,at:0,depth:0,memory:0}),lt=(e=64)=>Q(new Uint8Array(e)),ut=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,he=e=>jn.encode(
e);function ct(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function L(e,t){e.at===e.bytes.
length&&ct(e,1),e.bytes[e.at++]=t}function Jt(e,t){L(e,t>>8),L(e,t)}function $(e,t){for(;t>127;t=Math.floor(t/128))L(e,t|128);L(e,t)}function re(e,t){ct(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}var nt=(e,t)=>t.match(/../g)?.forEach(n=>L(e,parseInt(n,16)));function Ue(e,t){$(e,t.length),re(e,t)}function xe(e,t){let{at:n}=e,
{length:o}=t,r=o>Yt?128:0;L(e,o);for(let s=0;s<o&&r<128;s++)L(e,r=t.charCodeAt(s));r>127&&(e.at=n,Ue(e,he(t)))}function fe(e,t,n){L(e,t);let{at:o}=e;n();let r=e.
bytes.slice(o,e.at);return e.at=o,Ue(e,r),r.length>0}var ft=({bytes:e,at:t})=>e.subarray(0,t),K=({bytes:e,at:t})=>e.length-t,Me=({bytes:e,at:t})=>e[t],z=e=>e.bytes[e.
at++]??w("truncated");function Ee(e,t=32){let n="";for(;n.length<t;)n+=z(e).toString(16).padStart(2,"0");return n}function be(e,t){let n=z(e);n!==t&&w(`found by\
te ${n}, expected ${t}`)}function U(e,t=5){let n=0;for(let o=1,r=t;r-- >0;o*=128){let s=z(e);if(n+=(s&127)*o,s<128)return t>5?n:n>>>0}return w("a number is too \
long")}function Re(e){let{at:t}=e,n=U(e,10);return(K(e)||e.bytes[t+9]>1)&&w("a number is too long"),n}function qe(e,t=U(e)){return t>K(e)&&w("truncated"),e.bytes.
subarray(e.at,e.at+=t)}var rt=e=>Q(qe(e,U(e,10))),Xe=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function pe(e,t=U(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Yt)
for(let d;s<t&&(d=n[o+s])<128;s++)r+=String.fromCharCode(d);if(s<t){let d=qe(e,t);try{return Qn.decode(d)}catch{w("a text is not UTF-8")}}return e.at+=t,r}var R=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:d={},mayHaveRun:l=!0}=r??{};Object.assign(this,
{details:s,metadata:d,mayHaveRun:l,code:n})}static from(n){return n instanceof e?n:new e(2,Le(n),{cause:n})}};var Le=e=>e instanceof Error?e.message:String(e),B=(e,t)=>new R(e,t,{mayHaveRun:!1}),De=(e,t)=>{let n=R.from(e);return n.mayHaveRun||!t?n:new R(n.code,n.message,
{...n,mayHaveRun:!0})},pt=e=>e>0&&e<=16?e:2,ot=(e,t,n)=>new R(e,n?t:`not sent: ${t}`,{mayHaveRun:!!n}),We=e=>ot(1,"the caller cancelled the call",e),Ge=(e,t="")=>ot(
4,`deadline exceeded${t}`,e);var ht=100,zn=64<<20,Yn=12,Lt=8,Jn=32,Dt=56,nn=184,Ot=new Uint8Array(8),Zt=new DataView(Ot.buffer);function ve(e,t,n){let o;return{name:e,fields:()=>o??=Zn(t,n?.()??
[])}}function $t(e,t){return t[0]===18&&w(`${e.name} has the layout ${Ee(Q(t.subarray(1)))}, which is unknown`),$e(Q(t),e)}function Qe(e,t,n){e.depth=ht,on(e,t,n)}function $e(e,t){
return e.depth=ht,e.memory=Math.max(zn,K(e)*Yn),sn(e,t)??an(e,t)}function Zn(e,t){let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.
exec(r);if(!s)throw new Error(`invalid entry: ${r}`);let[,d,l,c,f,h]=s,A=h==="m"?nr(t[o++]):h==="e"?or(t[o++]):yt[h],S=yt[f[1]??""],E=S?[2,S.wire,A.wire,10]:f===
"*"?[1,A.wire,10]:void 0,N=l?n.get(l):void 0;l&&!N&&n.set(l,N=[]);let I={name:l??d,of:A,isOptional:f==="?",key:S,head:E,case:d,number:+c,all:N};return N?.push(I),
I})}var rn=({head:e,key:t,isOptional:n,of:o})=>t?new Map:e?[]:n?void 0:o.zero();function on(e,t,n){if(!e.depth--)throw tn(t.name,`nests deeper than ${ht}`);L(e,
8),L(e,0);let o="";try{for(let r of t.fields()){let{all:s,name:d}=r,l=n[o=d];if(!s)er(e,r,l);else if(e.isFlat||r===s[0]){let c=l,f=s.find(A=>A.case===c?.case);if(c&&
!f)throw new Error(`has no member ${c.case}`);e.isFlat||(L(e,3),$(e,f?f.number:0));let h=e.isFlat?r:f;h&&Ke(e,h.of,h===f?c?.value:void 0)}}}catch(r){throw r instanceof
R?r:tn(`${t.name}.${o}`,r.message)}e.depth++}function er(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=rn(t)),o){let d=n,l=n,c=r?d.size:l.
length;ke(c>=0,n);for(let f of o)L(e,f);if($(e,c),r)for(let[f,h]of d)Ke(e,r,f),Ke(e,s,h);else for(let f of l)Ke(e,s,f)}else n===void 0&&t.isOptional&&!e.isFlat?
L(e,0):Ke(e,s,n)}function Ke(e,t,n){t.table||L(e,t.wire),t.put(e,n===void 0?t.zero():n)}function sn(e,t){if(Me(e)===0)return void e.at++;be(e,8),z(e),e.depth--||
w(`${t.name} nests deeper than ${ht}`);let n=t.fields();it(e,Dt+Lt*n.length);let o={},r="";for(let s of n){let{name:d,all:l,of:c}=s,f=l&&l[0]===s;if(f&&(o[d]=void 0),
!l)o[d]=tr(e,s);else if(f&&Me(e)===3){e.at++,r+=` ${d} `;let h=U(e),A=l.find(S=>S.number===h);A?o[d]={case:A.case,value:Ut(e,A.of)}:h&&w(`${t.name}.${d} has no \
member ${h}`)}else if(!r.includes(` ${d} `)){let h=st(e,c);(h instanceof Uint8Array?h.length:!Object.is(h,c.zero()))&&(o[d]={case:s.case,value:h})}}return e.depth++,
o}function tr(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Me(e)===0)return e.at++,Rt(e,t);if(!n)return st(e,r);for(let l of n)be(e,l);let s=U(e),d=Rt(e,
t);for(;s-- >0;)it(e,o?Dt:Lt),o?d.set(st(e,o),Ut(e,r)):d.push(Ut(e,r));return d}function st(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Me(e)===12?st(e,yt.i):
(n||be(e,t),o(e))}var Ut=(e,t)=>st(e,t)??an(e,t.table);function an(e,t){let n={},o=t.fields();it(e,Dt+Lt*o.length);for(let r of o)n[r.name]=r.all?void 0:Rt(e,r);
return n}function Rt(e,t){let n=rn(t);return typeof n=="object"&&it(e,Array.isArray(n)?Jn:nn),n}function it(e,t){(e.memory-=t)<0&&w("exceeds the memory limit")}
var Te=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),nr=e=>Te(3,()=>{},(t,n)=>n?on(t,e,n):L(t,0),t=>sn(t,e),e),rr=65536;function or(e){let t=Object.values(
e);return{...Te(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),d=r+2147483648,l=r<0&&d>=t.length;ke(s>=0||r===(r|0)&&(l||!o.isFlat),r),s>=0||l&&(o.isFlat||d<rr)?$(o,s<0?
d:s):(o.at--,Ke(o,yt.i,r))},o=>{let r=U(o),s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&w(`an enum has the index ${r}`),t[r]??s}),isEnum:!0}}var mt=(e,t)=>Te(
e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),d=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(d)&&d>=0)return $(n,d);ke((e?BigInt.asIntN:BigInt.asUintN)(64,
r)===r,o);let l=e?r<<1n^r>>63n:r;for(;l>>53n;l>>=7n)L(n,Number(l&127n)|128);$(n,Number(l))},n=>{let{at:o}=n,r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+
1)/-2:r/2);else{let s=0n;for(let d=0n;o<n.at;d+=7n)s|=BigInt(n.bytes[o++]&127)<<d;s=BigInt.asUintN(64,s),r=e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(Number(
r))||w("an integer is beyond 2^53"),Number(r)):BigInt(r)}),en=(e,t)=>Te(e,()=>0,(n,o)=>{ke(typeof o=="number",o),Zt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<
t;r++)L(n,Ot[r])},n=>{for(let o=0;o<t;o++)Ot[o]=z(n);return Zt[t>4?"getFloat64":"getFloat32"](0)}),yt={b:Te(7,()=>!1,(e,t)=>{ke(typeof t=="boolean",t),L(e,+t)},
e=>{let t=z(e);return t>1&&w(`a bool is ${t}`),t>0}),i:Te(12,()=>0,(e,t)=>{ke(t===(t|0),t),$(e,(t<<1^t>>31)>>>0)},e=>{let t=U(e);return t>>>1^-(t&1)}),u:Te(10,()=>0,
(e,t)=>{ke(t===t>>>0,t),$(e,t)},e=>U(e)),l:mt(!0,!1),w:mt(!1,!1),L:mt(!0,!0),W:mt(!1,!0),f:en(14,4),d:en(15,8),s:Te(5,()=>"",(e,t)=>{ke(typeof t=="string",t),L(
e,10),xe(e,t)},e=>(be(e,10),pe(e))),y:Te(4,()=>new Uint8Array,(e,t)=>{ke(ut(t),t),L(e,10),Ue(e,t)},e=>(be(e,10),it(e,nn),new Uint8Array(qe(e))))},tn=(e,t)=>B(3,
`${e} ${t}`);function ke(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var bt=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)});function gt(e,t){xe(e,t.name),
nt(e,t.fingerprint);let n=0;for(let o of t.operations)$(e,o-n),n=o}function dn(e,t,n=""){for(let o of atob(n))L(e,o.charCodeAt(0));n||(L(e,0),nt(e,t))}function ln(e){
let t=pe(e,U(e,10)),n=[],o={fingerprint:Ee(e),operations:n},r=0;for(;K(e);)n.push(r+=U(e,10));return r>65535&&w("a number is too long"),[t,o]}var un=16,cn=65536,sr=1e3,fn=256,pn=61440,_t={metadata:{}},mn=e=>[e].flat(),Bt=e=>e.endsWith("-bin"),yn=(e,t)=>Bt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Bt(e)?"":t}`);function Pt(e){if(typeof e=="string")return he(e);if(!ut(e))throw B(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Ft(e,t){
let{at:n}=e;fe(e,un,()=>hn(e,t))||(e.at=n)}function hn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&fe(e,1,()=>$(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,d=0;for(let[l,c]of Object.entries(n))for(let f of mn(c)){if(!yn(l,f))throw B(3,`invalid metadata ${l}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=l.length+f.length+8,++d>fn||s>pn)throw B(8,"too much metadata");fe(e,2,()=>{xe(e,l),re(e,Pt(f))})}
if(o){let{code:l,details:c,mayHaveRun:f}=o;fe(e,3,()=>{$(e,l),e.at-r+c.length+32<=cn&&re(e,c)}),f||fe(e,5,()=>{})}}function ze(e,t=!1){if(Me(e)!==un)return _t;e.
at++;let n=rt(e);return K(n)>cn&&w("a prefix is too long"),vt(n,t)}function vt(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0,d=0;for(;K(e);){let l=z(
e),c=rt(e);if(l>127){let f=`prefix item ${l} must be understood and is unknown`;throw t?B(12,f):new we(f)}if([1,3,5,6,8].includes(l)&&(d>>l&1&&w(`prefix item ${l}\
 occurs twice`),d|=1<<l),l===1)o.timeout=Re(c)/1e3;else if(l===2){let f=pe(c,U(c,10)),h=Bt(f)?Xe(c):pe(c,K(c));s+=f.length+h.length+8,(!yn(f,h)||++r>fn||s>pn)&&
w("invalid metadata"),n[f]=f in n?[...mn(n[f]),h]:h}else l===3?(o.code=U(c,10),o.details=Xe(c)):l===5?o.isRefused=!0:l===8&&(o.text=Be(c))}return o}var Be=(e,t)=>new TextDecoder().
decode(Xe(e).subarray(0,t)),bn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new R(pt(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function Ye(e,t){
if(Me(e)===6)return e.at++,be(e,5),be(e,10),bn(t,pe(e))}function gn(e){let t=vt(e);return t.code??t.isRefused?bn(t,t.text):void 0}function vn(e,t){hn(e,{status:t,
metadata:t.metadata}),fe(e,8,()=>re(e,he(t.message.slice(0,sr))))}function An(e,t){Ft(e,{status:t,metadata:t.metadata}),re(e,[6,5,10]),xe(e,t.message)}var Vt=5<<20,ir=1024,ar=1024,Sn=65536,dr=128,lr=32768,Je=10,_e=16384,wn=32768,ur=_e/2,At=256,cr=16383,St=262144,fr=1e5,pr=64<<20,xn=8<<20,mr=10,yr=65536,hr=2e3,
br=5,gr=1e4,En="the server is going away",Tn=200,vr=2147483647,Ce=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),vr));function kn(e,t,n,o,r){let s=lt(16384),d=new Map,
l=new Map,c=new Set(n),f=[],h=0,A=0,S=0,E=0,N=0,I=32767,C=[0,Vt,1/0,_e,0],F=!1,oe=!1,G,Y=Je,se=0,J=!1,H=0,V=!1,Z=!1,_=0,ee,te=a=>{if(!(F||!X))try{a(X)}catch(p){
tt(Le(p));try{X.close()}catch{}}},ie=()=>{s.at&&(V=!1,Z=!0,te(a=>a.send(ft(s))),s.at=H=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),te(a=>{let p=a.buffered();
p>pr?ye("too many unsent bytes"):p>xn&&!g.isFull&&(g.isFull=!0,j())}))},j=()=>te(a=>{if(a.buffered()>xn/2)return void Ce(mr,j);g.isFull=!1;for(let p of d.values())
p.room();t.room(g)}),q=()=>{s.at!==H?(H=s.at,queueMicrotask(q)):(J=!1,ie())},i=(a,p,y,v)=>{let{at:W}=s;try{ct(s,Je),s.at+=Je,y?.(s,v);let Ie=s.at,Se=Ie-W-Je,ge=p===
3?Sn:Math.max(C[1],ar);if(Se>ge)throw B(8,`the message has ${Se} bytes of at most ${ge}`);s.at=W;for(let He of[15,a,p,Se>>>16,Se])Jt(s,He);s.at=Ie}catch(Ie){throw s.
at=W,Ie}s.at>yr?ie():J||(J=!0,H=0,queueMicrotask(q))},u=(a,{code:p,message:y},v=7)=>i(a,v,W=>{$(W,p),re(W,he(y.slice(0,Tn)))}),m=(a,p)=>{i(a,5,$,0),u(a,p)},b=a=>{
if(!F){if(_=0,G){if(re(G,a),G.at<Y)return;a=ft(G),G=void 0}try{let p=0,y=v=>a[p+v]<<8|a[p+v+1];for(;!F&&!(a.length<(Y=p+Je));p=Y){y(0)!==15&&w("a header without\
 its magic");let v=y(6)*65536+y(8);if(v>(y(4)===3?Sn:Vt)&&w(`a packet of ${v} bytes`),a.length<(Y+=v))break;x(y(2),y(4),a.subarray(p+Je,Y))}p<a.length&&(Y-=p,re(
G=lt(),a.subarray(p)))}catch(p){let y=p.message;g.isUp&&u(4,new R(13,y),3),ye(`the server broke the protocol: ${y}`)}}},x=(a,p,y)=>{let v=Q(y),W=p===3&&(a===5||
a===6),Ie=W?U(v,10):a;Ie>65535&&w(`stream ${Ie}`);let Se=d.get(Ie);if(p>=10){g.isUp||w("a packet before HELLO");let ge=a>=wn,He=f[a%_e];if(!ge&&He?.id===a&&He.operation===
p)return ae(a),t.answered(),He.isGivenUp?A--:t.replied(He,y),D();if(r.filter(Kn=>Kn.packet(g,a,p,y)).length)return;if(ge&&T)return T.packet(a,p,y,!1);++se>fr&&ye(
"too many stray packets")}else if(p<2){y.length&&w("a PING with a body"),p===1?g.isUp||ye("the server is a compat peer"):V||(V=!0,i(0,1));return}else if(p===3&&
!W){if(!a&&!g.isUp)return M(v);if(a===4)return ye(`closed by the server with code ${U(v,10)}: ${Be(v,Tn)}`);if(a===1)return k(v);a>=lr&&w(`packet type ${a} must\
 be understood and is unknown`)}else{if(p===4)return Ve();if(p===6)return void(y.length&&T?.cancel(a,U(v,10)));if(p===8)w("a stray HAND_OFF");else if(p===9)do{let ge=qe(
v,U(v,10));Se?.packet(2,ge)}while(K(v));else{if(Se)return t.answered(),W?Se.items(a===6,v):Se.packet(p,y);if(p===2){let ge=a-I&32767;if(a>=32768&&ge&&ge<=16384)
return I=a,T?T.packet(a,2,y,!0):m(a,B(12,"no service is served"))}}}},k=a=>{let p=K(a);for((!p||p>ir)&&w(`ASK of ${p} bytes`);K(a);){let y=Ee(a),v=[...c,...o?.services??
[]].find(W=>W.fingerprint===y);i(2,3,W=>dn(W,y,v?.layout))}},M=a=>{(pe(a,4)!=="fris"||!z(a))&&w("no HELLO");let p=new Set,y=0;try{for(;K(a);){y=z(a);let v=rt(a);
if(y>=dr&&w("must be understood and is unknown"),[1,2,3,4,5,6,8,34,35].includes(y)&&(p.has(y)&&w("occurs twice"),p.add(y)),y&&y in C)C[y]=Re(v);else if(y===8)Re(
v);else if(y===32||y===33){let W=ln(v);y===32&&l.set(...W)}}}catch(v){w(`HELLO item ${y}: ${v.message}`)}C[3]=Math.min(C[3],_e),g.isUp=!0,clearTimeout(O),t.room(
g)},ae=a=>{f[a%_e]=void 0,h--===C[3]&&t.room(g)},de=(a,p)=>{d.set(p,a),a.begin(g,p,C[4])},D=()=>{oe&&h===A&&!d.size&&!T?.progress.size&&queueMicrotask(()=>ye(En))},
Ve=()=>{oe||(oe=!0,t.closing(g,En),D())},ye=a=>ne(()=>{F||(ie(),te(p=>p.close()),tt(a))}),tt=a=>{if(F)return;F=!0,clearInterval(ee),clearTimeout(O),t.closing(g,
a);let p=g.isUp;g.isUp=!1;let y=new R(14,`the connection was lost: ${a}`);for(let v of f)v&&!v.isGivenUp&&t.lost(v,y);for(let v of d.values())v.lost(y);if(T?.down(
y),p)for(let v of r)v.down(g,y)},g={isUp:!1,isFull:!1,write:i,reset:u,refuse:m,announce(a){let p=l.get(a.name),y=p?.fingerprint===a.fingerprint&&`${p.operations}`==
`${a.operations}`;if(!c.has(a)){for(let v of c)if(v.operations.some(W=>a.operations.includes(W)))throw B(9,`${v.name} has operations of ${a.name}: use another c\
hannel`);y||i(3,3,gt,a),c.add(a)}},call(a,p){if(g.isFull||h>=C[3])return!1;do S=(S+1)%wn;while(f[S%_e]);let y=a.id=S;f[y%_e]=a,h++;try{i(y,a.operation,p,a)}catch(v){
throw ae(y),v}return!0},cancel(a){F||(a.isGivenUp=!0,i(a.id,6,$,a.operation),++A>=ur&&Ve(),D())},open(a,p){if(!C[2])throw B(12,"the server does not accept strea\
ms");if(g.isFull||E>=Math.min(C[2],cr))return!1;do N=N%32767+1;while(d.has(N));let y=N;d.set(y,a),E++;try{i(y,2,p)}catch(v){throw g.over(y),v}return a.begin(g,y,
C[4]),!0},accept:de,over(a){d.delete(a),a<32768&&(E--,t.room(g)),D()},drain:Ve,closeIfIdle:D},T=o?.on(g),O=Ce(gr,()=>ye("handshake timeout")),P=a=>{s.isFlat=a.isFlat,
i(0,3,p=>{re(p,he("fris"));let y=T?At:0;[Vt,y,y,St].forEach((v,W)=>fe(p,W+1,()=>$(p,v))),fe(p,6,()=>{});for(let v of o?.services??[])fe(p,32,()=>gt(p,v));for(let v of n)
fe(p,33,()=>gt(p,v))}),i(1,0),ie(),!F&&(ee=setInterval(()=>{if(++_>br)return ye("keepalive timeout");(_>1||!Z)&&i(0,0),Z=!1;let p=performance.now();for(let y of f)
y&&y.until<=p&&!y.isGivenUp&&t.expired(y)},hr))},X,ne=a=>X?a():queueMicrotask(a),Oe=a=>ne(()=>tt(a));try{X=e({open:()=>ne(()=>te(P)),data:b,close:Oe})}catch(a){
Oe(Le(a))}return g}function wt(e,t){let n=[],o=0,r=!1,s=()=>{},d=S=>{r||=S,s()},l=()=>n[o],c=()=>{let S=l();return S!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),S},f=()=>{n=[],o=0},h=(async function*(){try{for(;;){let S=c();if(S!==void 0){let E=e(S);E!==void 0&&(yield E)}else if(r){if(r!==!0)throw r;return}else await new Promise(
E=>s=E)}}finally{t()}})(),{return:A}=h;return h.return=()=>(t(),f(),d(!0),A.call(h,void 0)),{messages:h,first:l,take:c,clear:f,put:S=>{n.push(S),s()},end:d}}var Ht=64,Ar=4,Sr=4096,xt=(e,t)=>e instanceof we?new R(13,`not a valid ${t.name}: ${e.message}`):R.from(e);function Et(e,t,n,o,r){let s,d=0,l=0,c=0,f=0,h=!0,A=!0,
S=!1,E=!1,N=!1,I=()=>{},C,F=()=>!h&&!A,{messages:oe,clear:G,put:Y,end:se}=wt(i=>{let u=i.length+Ht;c-=u,f+=u,A&&f*Ar>=St&&(s?.write(d,5,$,f),f=0);try{let m=Q(i),
b=Ye(m,_t);if(b)throw b;return $e(m,t)}catch(m){throw xt(m,t)}},()=>n?ee(!0):ie()),J=Object.assign(oe,{metadata:{}}),H=()=>{F()&&(I(),C?.(),s?.over(d),s=C=void 0,
o())},V=i=>{A=!1,se(i),H()},Z=()=>{h&&(h=!1,s?.write(d,7),H())},_=i=>{h=!1,V(i)},ee=(i,u=We(1))=>{F()||s?.reset(d,u),G(),_(i)},te=i=>ee(i,i),ie=()=>{G(),S=!0},j=i=>{
if(!(!s||!h)){if(i instanceof R)return q(6,u=>vn(u,i)),h=!1,H();s.write(d,2,u=>{let{at:m}=u;Qe(u,e,i),l-=u.at-m+Ht})}},q=(i,u)=>s?.write(i,3,m=>{$(m,d),u(m)});return{
messages:J,begin(i,u,m){s=i,d=u,l=m},packet(i,u){if(i===2)return E=!0,!A||S?void 0:c+f>=St?te(new R(8,"the peer exceeded its credit")):(c+=u.length+Ht,Y(new Uint8Array(
u)));let m=Q(u);if(i===5){let b=Re(m);N||=!b,(l+=b)>0&&I()}else if(u.length){let b=pt(U(m,10));_(new R(b,Be(m,Sr),{mayHaveRun:!N}))}else V(!0)},items(i,u){if(A){
!i&&E&&w("late HEADERS"),E=!0;try{if(i)return V(gn(u)??!0);r?.(J.metadata=vt(u).metadata)}catch(m){te(xt(m,t))}}},send:j,async pump(i,u,m){try{let b=i,x=b?.[Symbol.
asyncIterator]?.()??b?.[Symbol.iterator]?.();if(!x)throw B(3,`messages are an iterable, not ${String(i)}`);C=async()=>{try{await x.return?.()}catch{}},n||q(5,()=>{});
for(let k;;){for(;(l<=0||s?.isFull)&&!F();)await new Promise(M=>I=M);if(F())return;if(!k)k=await x.next();else{if(k.done)break;j(k.value),k=void 0}}C=void 0,Z(),
F()||m?.()}catch(b){if(!n)throw C?.(),C=void 0,b;ee(De(b,u))}},room:()=>I(),finish:Z,discard:ie,fail:te,lost:_}}var wr=3e4,xr=5e3,Er=20,Cn=2e3,In=10,Tt=class{constructor(t,{timeout:n,reconnectTimeout:o=xr,metadata:r,serve:s,stayConnected:d}={}){let l=n??wr,c,f=0,h=In,A=0,
S,E=!1,N="",I=[new Set,new Set,new Set],C=({service:i,method:{sends:u,receives:m}})=>I[i?u||m?1:0:2],F=new Set,oe=[],G=()=>{c||S||E||!(I.some(({size:i})=>i)||d)||
(A=performance.now(),c=kn(t,Y,[...F],s,oe))},Y={room:i=>queueMicrotask(()=>{for(let u of I)for(let m of u){if(c!==i||!se(m,i))break;c===i&&u.delete(m)}}),closing(i,u){
if(c===i){if(c=void 0,N=u,i.isUp)for(let m of I)m.forEach(H);i.isUp&&performance.now()-A>=Cn?f=0:E||(clearTimeout(S),S=Ce(Math.random()*Math.min(Er*2**Math.min(
f++,16),Cn),()=>{S=void 0,G()})),G()}},answered:()=>void(f=0),replied(i,u){let m=i,{method:{reply:b},options:{onMetadata:x}}=m;Z(m);try{let k=Q(u),M=ze(k),ae=Ye(
k,M);if(ae)throw ae;k.at&&x?.(M.metadata),m.resolve($e(k,b)),h<In&&(h+=.1)}catch(k){m.reject(De(xt(k,b),m.sent>1))}},expired:i=>V(i),lost(i,u){let m=i;if(m.link=
void 0,!m.method.idempotent||m.sent>1||h<1)return _(m,u);h--,J(m)}},se=(i,u)=>{let{service:m}=i;try{return m&&u.announce(m),i.start(i,u)&&!!++i.sent}catch(b){return _(
i,De(b,i.sent)),!0}},J=i=>{if(!(c?.isUp&&se(i,c))){if(E)return _(i,Mn(i.sent));C(i).add(i),G(),H(i)}},H=i=>{i.reconnectsUntil=performance.now()+(i.options.reconnectTimeout??
o),V(i)},V=i=>{let{until:u,sent:m,reconnectsUntil:b}=i,x=performance.now(),k=C(i).has(i)&&!c?.isUp&&`no connection to the server${N&&`: ${N}`}`;clearTimeout(i.timer),
x>=u?_(i,Ge(m,k?`; ${k}`:"")):x>=b&&k?_(i,ot(14,k,m)):i.timer=Ce((x<b?Math.min(u,b):u)-x,()=>V(i))},Z=i=>{C(i).delete(i),clearTimeout(i.timer),i.options.signal?.
removeEventListener("abort",i.abort)},_=(i,u)=>{Z(i),i.link?.cancel(i),i.reject(u)},ee=(i,{sentTimeout:u,until:m,options:{metadata:b}})=>{(u!==void 0||r||b)&&Ft(
i,{timeout:u&&m-performance.now(),metadata:{...r,...b}})},te=(i,u)=>{ee(i,u),Qe(i,u.method.request,u.request)},ie=(i,u)=>{let m=u.call(i,te);return m&&(i.link=u),
m},j=(i,u,m,b,x,k,M,ae)=>{let{signal:de}=b,D={id:0,operation:u.operation,until:performance.now()+ +(x??(i?l:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,
link:void 0,service:i,method:u,request:m,options:b,sentTimeout:x,start:k,resolve:M,reject:ae,abort:de&&(()=>_(D,We(D.sent)))};return isNaN(D.until)?ae(B(3,"the \
timeout is not a number")):de?.aborted?D.abort?.():(de?.addEventListener("abort",D.abort),x!==void 0&&V(D),(x===void 0||D.timer)&&J(D)),D},q=(i,u,m,b={})=>{let x,
k=Et(u.request,u.reply,!0,()=>x&&Z(x),b.onMetadata);return x=j(i,u,m,b,b.timeout,(M,ae)=>{x=M;let de=ae.open(k,D=>{ee(D,M),L(D,9),$(D,M.operation)});if(de){let D=M.
sentTimeout===void 0;D&&(M.until=1/0),k.pump(m,u.sends,()=>{!D||u.receives||(M.until=performance.now()+l,V(M))})}return de},()=>{},k.fail),k};this.unary=(i,u,m,b={})=>new Promise(
(x,k)=>void j(i,u,m,b,b.timeout??n,ie,x,k)),this.serverStreaming=(i,u,m,b)=>q(i,u,[m],b).messages,this.twoWay=(i,u,m,b)=>q(i,u,m,b).messages,this.clientStreaming=
async(i,u,m,b)=>{let{messages:x}=q(i,u,m,b),{done:k,value:M}=await x.next();if(k)throw new R(13,"there is no reply");return x.return?.(),M},this.name=i=>void F.
add(i),this.mount=i=>void oe.push(i),this.connected=(i,u,m)=>new Promise((b,x)=>{j(void 0,{},void 0,{reconnectTimeout:u,signal:m},void 0,(k,M)=>M.isFull?!1:(i?.(
M),Z(k),b(M),!0),b,x)}),this.close=()=>{E=!0,clearTimeout(S);for(let i of I)for(let u of i)_(u,Mn(u.sent));c?.drain()},d&&queueMicrotask(G)}},Mn=e=>ot(9,"the ch\
annel is closed",e);function qt(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(d,l)=>t[r]?.(d,l)});return{services:[
...n?.services??[],e],methods:o,on(r){let s=new Map,d=0,l=(c,f)=>{let h=o.get(c);if(!h||!(h.method.sends||h.method.receives)===f)throw B(12,`unknown operation ${c}`);
if(s.size>=At||d>=At)throw B(8,"too many calls are in progress");return h};return{progress:s,packet(c,f,h,A){let S,E=I=>r.write(c,f,C=>{I instanceof R?An(C,I):Qe(
C,S.reply,I)}),N=A?c:Nn(c,f);s.has(N)&&w("a request id occurs twice");try{let I=Q(h),{timeout:C,metadata:F}=ze(I,!0);A&&(be(I,9),f=U(I,3));let oe=l(f,A);if(C===
0)throw B(4,"deadline exceeded");({method:S}=oe);let G=A||$e(I,S.request),Y=new AbortController,se=!1,J=_=>{se||(se=!0,clearTimeout(Z),_||Y.abort(),s.delete(N),
r.closeIfIdle())},H=A?Et(S.reply,S.request,!1,()=>J(!1)):{send(_){se||(E(_),J(!0))},fail:E,finish(){},discard(){}},V=_=>{H.fail(_),J(!1)},Z=C===void 0?void 0:Ce(
C,()=>V(Ge(1)));s.set(N,V),A&&r.accept(H,c),d++,Tr(oe,A,G,H,{signal:Y.signal,metadata:F}).finally(()=>d--)}catch(I){let C=I instanceof we?On(I):R.from(I);A?r.refuse(
c,C):E(C)}},cancel(c,f){s.get(Nn(c,f))?.(We(1))},down(c){for(let f of s.values())f(c)}}}}}var Nn=(e,t)=>t*65536+e,On=e=>B(3,`malformed request: ${Le(e)}`);async function Tr({
method:e,handler:t},n,o,r,s){let d=!1;try{if(e.sends)o=r.messages;else if(n)try{let c=await r.messages.next();c.done&&w("no request"),o=c.value}catch(c){throw On(
c)}d=!0;let l=t(o,s);e.receives?await r.pump?.(l):(r.send(await l),r.finish())}catch(l){try{r.send(De(l,d))}catch(c){r.send(new R(13,Le(c)))}}r.discard()}var Pe=65280,kr=Pe+8,Cr=16<<20,Xt=64,Ir=255,Mr=65536,Nr=4,kt={now:0,last:1,oldest:2},Or=1e4,Un=e=>{let t=ze(e);return(e.at?Ye(e,t):void 0)??B([8,12,7][z(e)-3]??
3,Be(e))},Rn=e=>{let t=U(e,10);return t>Ir&&w("a topic is too long"),pe(e,t)},Ln=new WeakMap,at=class{constructor(t){this.channel=t;this.requests=new Map;this.last=
0;let{requests:n}=this,o=Ln.get(t);if(o)return o;Ln.set(t,this),t.mount({packet:(r,s,d,l)=>{if(d<Pe||d>kr)return!1;!s&&d===Pe+5&&(this.refused??=Un(Q(l)));for(let c of s?
[n.get(s)]:n.values())c?.packet(r,s,d-Pe,Q(l));return!0},down(r,s){for(let d of[...n.values()])d.down(r,s)}})}subscribe(t,{group:n="",from:o}={}){return this.request(
0,t,n,o)}async publish(t,n){await this.channel.connected(o=>{o.write(0,Pe+2,r=>{Ue(r,he(t)),re(r,Pt(n))}),this.published??=o})}async sync(){await(await this.request(
3)).return?.();let{refused:t}=this;if(this.refused=void 0,t)throw t}request(t,n,o="",r){let{channel:s,requests:d}=this;return new Promise((l,c)=>{if(d.size>=65535)
throw B(8,"too many requests");do this.last=this.last%65535+1;while(d.has(this.last));let f=this.last,h,A=0,S=0,E=!1,N,I,C=new AbortController,F=()=>{C.abort(),
d.delete(f)&&n!==void 0&&h?.isUp&&h.write(f,Pe+1)},{first:oe,messages:G,put:Y,end:se,take:J}=wt(g=>(A-=g.payload.length+Xt,g),F),H=g=>{clearTimeout(N),d.delete(
f),this.published=I??this.published,c(g),se(g)},V=o?[]:n?.split(".")??[],Z=V.at(-1)===">",_=g=>{let T=g.split(".");return(Z?T.length>=V.length:T.length===V.length)&&
V.every((O,P)=>O===">"||O==="*"||O===T[P])},ee=t===0&&!o&&r!==void 0,te=typeof r=="object";if(te&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.offset>=0&&Number.isSafeInteger(
r.offset)))throw B(3,`${r.epoch}, ${r.offset} is not a position`);let ie=te||r===void 0?kt.oldest:kt[r],j=new Map(te?[[n,{...r,offset:r.offset+1}]]:[]),q=new Map,
i=0,u="",m=!1,b=!1,x=!1,k=!1,M=!1,ae=()=>!n?.match(/[*>]/)&&j.size>0,de=g=>{h?.write(f,Pe+g,T=>{if(n!==void 0&&Ue(T,he(n)),g===6){L(T,ie);for(let[O,P]of j)xe(T,
O),nt(T,P.epoch),$(T,P.offset)}else re(T,he(o))})},D=()=>{let g=j.size>0;return j=new Map,ie=kt.now,m=!1,x=!0,g},Ve=g=>{s.connected(T=>{h=T,t===3&&((this.published??
T)!==T&&(this.refused=new R(15,"the connection was lost")),I=this.published,this.published=void 0);try{de(ee?6:t)}catch(O){if(!b||!D())throw O;de(6)}b||(N=Ce(Or,
()=>{F(),H(Ge(1,"; the server may have no broker"))}))},g,C.signal).catch(T=>{b&&T.code===9&&se(!0),H(T)})},ye=()=>{clearTimeout(N),M=!0,b&&(x||!(ee&&k))&&(E=!0),
l(G)},tt=(g,T,O)=>{if(T===5&&g&&!M&&ee&&O.bytes[O.at]===Nr)x=!0,de(0);else if((T===5||T===6&&O.bytes[O.at])&&g&&!M&&b&&D())de(6);else if(T===6&&g&&O.bytes[O.at]===
0){z(O),k=z(O)===1;let P=Ee(O,16);i=U(O,10);let X=u!==""&&u!==P;u=P,ye(),x=!1,E||=ae()?!i:X}else if(T===7)for(;K(O);){let P=Rn(O),X={epoch:Ee(O,16),offset:U(O,10)};
if(Number.isSafeInteger(X.offset)||w("an integer is beyond 2^53"),!M||!g&&!_(P))continue;let ne=q.get(P);g&&!ne?(i--,ne=j.get(P)??(m?{...X,offset:1}:void 0)):!g&&
ne?.epoch!==X.epoch&&(ne=void 0),ne&&k&&(g||!x)&&(ne.epoch===X.epoch&&ne.offset<=X.offset?S+=X.offset-ne.offset:E=!0),q.size>=Mr&&!q.has(P)&&(q.clear(),x=!0),q.
set(P,X)}else return!1;return!0};d.set(f,{packet(g,T,O,P){if(!(g!==h||ee&&tt(T,O,P)))if(O===2){let X=Rn(P);if(!T&&(!M||!_(X)))return;let ne=Xe(P),Oe=q.get(X);for(Oe&&
q.set(X,{...Oe,offset:Oe.offset+1}),A+=ne.length+Xt,Y({topic:X,payload:ne,position:Oe,lagged:S,reconnected:E}),S=0,E=!1;A>Cr;){let a=J();A-=a.payload.length+Xt;
let p=oe();p.lagged+=a.lagged+1,p.reconnected||=a.reconnected}}else O===4?M&&!(ee&&k&&!x)&&(S+=U(P,10)):T&&(K(P)?H(Un(P)):ye())},down(g,T){if(g===h){if(n===void 0||
!M&&!b)return H(T);if(M)if(i>0&&!x){x=!m&&!ae();for(let[O,P]of q)j.set(O,P)}else x?D():(j=q,ie=kt.oldest,m=!0);q=new Map,M=!1,b=!0,Ve(1/0)}}}),Ve()})}};var Ct="frisbee.1";function Dn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let r=new n(String(e),[Ct,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===Ct)return o.open();s=`the \
server does not speak ${Ct}`,r.close()},r.onmessage=({data:d})=>{d instanceof ArrayBuffer?o.data(new Uint8Array(d)):r.close()},r.onerror=({message:d=""})=>void(s||=
d),r.onclose=({code:d,reason:l})=>{o.close(s||`the WebSocket was closed (${d}${l&&`, ${l}`})`)},{send:d=>r.send(d),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var Wt=(e,t={})=>new Tt(Dn(e,t),t);var me={BUY:0,SELL:1},Gt=ve("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[$n,$n,Rr]),Rr=ve("exchange.Deal","number:u side:e price:u amount:\
u",()=>[me]),Bn=ve("exchange.Inquiry","side:e amount:u",()=>[me]),$n=ve("exchange.Level","price:u amount:u"),Lr=ve("exchange.Nothing",""),_n=ve("exchange.Offer",
"price:u called:u answered:u"),Dr=ve("exchange.Order","number:u side:e price:u amount:u",()=>[me]),$r=ve("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[me]),Fe=bt("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Lr,reply:Gt},trade:{operation:11,request:Dr,reply:$r,
sends:!0,receives:!0},inquire:{operation:12,request:Bn,reply:_n}}),It=class{constructor(t){this.channel=t,t.name(Fe)}look(t,n){return this.channel.unary(Fe,Fe.methods.
look,t,n)}trade(t,n){return this.channel.twoWay(Fe,Fe.methods.trade,t,n)}inquire(t,n){return this.channel.unary(Fe,Fe.methods.inquire,t,n)}},Pn=bt("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Bn,reply:_n}});var jt=240,Xn=8,ce=e=>document.getElementById(e),ue=(e,t)=>void(ce(e).textContent=t),Ae=e=>(e/100).toFixed(2),Mt=e=>e===me.BUY?"buy":"sell";function le(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Br(e,t){let n=ce(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Xn;)n.lastElementChild?.remove()}var dt=new Map,Fn=0,Vn=0,Wn=()=>{},Qt=[];async function*_r(){for(;;){let e=Qt.shift();
e?yield e:await new Promise(t=>Wn=t)}}function Pr({number:e,amount:t,price:n,left:o}){let r=dt.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===me.BUY?
1:-1;Fn+=s*t,Vn-=s*t*n,ue("held",String(Fn)),ue("cash",Ae(Vn));let d=[...dt.values()].reverse().slice(0,Xn).map(({order:l,done:c,left:f})=>le("tr",[le("td",`${Mt(
l.side)} ${l.amount}`,Mt(l.side)),le("td",Ae(l.price)),le("td",String(c)),le("td",String(f))]));ce("orders").replaceChildren(...d)}ce("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?me.SELL:me.BUY,o={number:dt.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};dt.set(o.number,{order:o,done:0,left:o.amount}),Qt.push(o),Wn()});var et=0,Kt=0,Ze,Ne=[];function Hn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));ce(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,le("li",[s,le("span",Ae(o)),le("span",String(r))])}))}function Fr(e){for(let{number:o,price:r}of[...e].reverse())o>Kt&&Ne.push(r);Ne.splice(0,Ne.length-jt);let[
t]=e;if(!t||t.number===Kt)return;Kt=t.number;let n=t.price-et;et&&n&&(ue("change",`${n>0?"▲":"▼"} ${Ae(Math.abs(n))}`),ce("change").dataset.side=n>0?"buy":"\
sell"),et=t.price,ue("last",Ae(et)),ce("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>le("li",[le("span",o===me.BUY?"bought":"sold",Mt(o)),le("s\
pan",Ae(r)),le("span",String(s))]))),zt()}function qn({bids:e,asks:t,deals:n,traders:o,orders:r}){Hn("asks",t),Hn("bids",e),t[0]&&e[0]&&ue("spread",`${Ae(t[0].price-
e[0].price)} apart`),ue("traders",String(o));let s=performance.now();(!Ze||s-Ze.at>1e3)&&(Ze&&ue("rate",((r-Ze.orders)/((s-Ze.at)/1e3)).toFixed(0)),Ze={orders:r,
at:s}),Fr(n)}function zt(){let e=ce("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Ne.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),d=ce("state"),l=Math.min(...Ne)-2,c=Math.max(...Ne)+2,f=n-56,h=E=>E/(jt-1)*f,A=E=>(c-E)/(c-l)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(d).color,t.lineWidth=.5;for(let E=0;E<5;E++){let N=l+(c-l)*E/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,A(N)),t.lineTo(f,A(N)),t.stroke(),t.globalAlpha=1,t.fillText(Ae(N),f+8,A(N)+4)}let S=jt-Ne.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Ne.
forEach((E,N)=>t.lineTo(h(S+N),A(E))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,o),t.lineTo(h(S),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",zt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",zt);var Vr=qt(Pn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(ce("margin").value)*100),o=et&&et+
(e===me.BUY?n:-n);return Br("asked",le("li",`${Mt(e)} ${t}? You said ${Ae(o)}.`)),{price:o}}}),{hostname:Hr}=location,Gn=Wt(`ws://${Hr}:${document.documentElement.
dataset.port}/`,{serve:Vr,stayConnected:!0}),Nt=new It(Gn),qr=new at(Gn);ce("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await Nt.inquire({side:me.BUY,amount:10}),d=(performance.now()-n).toFixed(0);ue(
"offer",o?`${Ae(o)} is the best of ${s} of ${r}, after ${d} ms.`:`None of ${r} had a price.`)}catch(n){ue("offer",R.from(n).message)}t.disabled=!1});async function Xr(){
for(;;){try{let e=await qr.subscribe("exchange.book"),t=Nt.trade(_r()),n=(async()=>{for await(let r of t)Pr(r)})();ce("state").dataset.is="open",ue("state","con\
nected"),qn(await Nt.look({}));let o=(async()=>{for await(let{payload:r}of e)qn($t(Gt,r))})();await Promise.race([n,o])}catch(e){ce("state").dataset.is="failed",
ue("state",R.from(e).message)}Qt.length=0;for(let e of dt.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Xr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await Nt.look({},{timeout:5e3}),ue("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{ue("ping","–")}},2e3);
