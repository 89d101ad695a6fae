var Gn=new TextEncoder,Kn=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yt=40,ve=class extends Error{constructor(){super(...arguments);this.name="Malformed"}},
w=e=>{throw new ve(e)},z=e=>({bytes:e,at:0,depth:0,memory:0}),tt=(e=64)=>z(new Uint8Array(e)),nt=e=>ArrayBuffer.isView(e)&&e.length===e.byteLength,fe=e=>Gn.encode(
e);function rt(e,t){let{bytes:n,at:o}=e;o+t>n.length&&(e.bytes=new Uint8Array(Math.max(o+t,n.length*2)),e.bytes.set(n.subarray(0,o)))}function D(e,t){e.at===e.bytes.
length&&rt(e,1),e.bytes[e.at++]=t}function Jt(e,t){D(e,t>>8),D(e,t)}function B(e,t){for(;t>127;t=Math.floor(t/128))D(e,t|128);D(e,t)}function ne(e,t){rt(e,t.length),
e.bytes.set(t,e.at),e.at+=t.length}var je=(e,t)=>t.match(/../g)?.forEach(n=>D(e,parseInt(n,16)));function Oe(e,t){B(e,t.length),ne(e,t)}function Ae(e,t){let{at:n}=e,
{length:o}=t,r=o>Yt?128:0;D(e,o);for(let s=0;s<o&&r<128;s++)D(e,r=t.charCodeAt(s));r>127&&(e.at=n,Oe(e,fe(t)))}function pe(e,t,n){D(e,t);let{at:o}=e;n();let r=e.
bytes.slice(o,e.at);return e.at=o,Oe(e,r),r.length>0}var ot=({bytes:e,at:t})=>e.subarray(0,t),j=({bytes:e,at:t})=>e.length-t,Ce=({bytes:e,at:t})=>e[t],Z=e=>e.bytes[e.
at++]??w("truncated");function Se(e,t=32){let n="";for(;n.length<t;)n+=Z(e).toString(16).padStart(2,"0");return n}function me(e,t){let n=Z(e);n!==t&&w(`found by\
te ${n}, expected ${t}`)}function U(e,t=5){let n=0;for(let o=1,r=t;r-- >0;o*=128){let s=Z(e);if(n+=(s&127)*o,s<128)return t>5?n:n>>>0}return w("a number is too \
long")}function Ne(e){let{at:t}=e,n=U(e,10);return(j(e)||e.bytes[t+9]>1)&&w("a number is too long"),n}function st(e,t=U(e)){return t>j(e)&&w("truncated"),e.bytes.
subarray(e.at,e.at+=t)}var Qe=e=>z(st(e,U(e,10))),Pe=({bytes:e,at:t})=>new Uint8Array(e.subarray(t));function ie(e,t=U(e)){let{bytes:n,at:o}=e,r="",s=0;if(t<=Yt)
for(let d;s<t&&(d=n[o+s])<128;s++)r+=String.fromCharCode(d);if(s<t){let d=st(e,t);try{return Kn.decode(d)}catch{w("a text is not UTF-8")}}return e.at+=t,r}var M=class e extends Error{constructor(n,o,r){super(o,r);this.name="Status";let{details:s=new Uint8Array,metadata:d={},mayHaveRun:l=!0}=r??{};Object.assign(this,
{details:s,metadata:d,mayHaveRun:l,code:n})}static from(n){return n instanceof e?n:new e(2,Ue(n),{cause:n})}};var Ue=e=>e instanceof Error?e.message:String(e),P=(e,t)=>new M(e,t,{mayHaveRun:!1}),it=e=>{let t=M.from(e);return t.mayHaveRun?t:new M(t.code,t.message,{...t,mayHaveRun:!0})},
at=e=>e>0&&e<=16?e:2,ze=(e,t,n)=>new M(e,n?t:`not sent: ${t}`,{mayHaveRun:!!n}),_e=e=>ze(1,"the caller cancelled the call",e),dt=(e,t="")=>ze(4,`deadline exceed\
ed${t}`,e);var ft=100,jn=64<<20,Qn=12,Nt=8,Ut=56,Mt=new Uint8Array(8),Zt=new DataView(Mt.buffer);function he(e,t,n){let o;return{name:e,fields:()=>o??=zn(t,n?.()??[])}}function Rt(e,t){return t[0]===18&&w(`${e.name} has the layout ${Se(z(t.subarray(1)))}, which is unknown`),Re(z(t),e)}function Ve(e,t,n){e.depth=ft,nn(e,t,n)}function Re(e,t){
return e.depth=ft,e.memory=Math.max(jn,j(e)*Qn),rn(e,t)??on(e,t)}function zn(e,t){let n=new Map,o=0;return(e?e.split(" "):[]).map(r=>{let s=/^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.
exec(r);if(!s)throw new Error(`invalid table entry: ${r}`);let[,d,l,c,f,h]=s,v=h==="m"?Zn(t[o++]):h==="e"?tr(t[o++]):ct[h],A=ct[f[1]??""],S=A?[2,A.wire,v.wire,10]:
f==="*"?[1,v.wire,10]:void 0,R=l?n.get(l):void 0;l&&!R&&n.set(l,R=[]);let N={name:l??d,of:v,isOptional:f==="?",key:A,head:S,case:d,number:+c,all:R};return R?.push(
N),N})}var ut=({head:e,key:t,isOptional:n,of:o})=>t?new Map:e?[]:n?void 0:o.zero();function nn(e,t,n){if(!e.depth--)throw tn(t.name,`nests deeper than ${ft}`);D(
e,8),D(e,0);let o="";try{for(let r of t.fields()){let{all:s,name:d}=r,l=n[o=d];if(!s)Yn(e,r,l);else if(e.isFlat||r===s[0]){let c=l,f=s.find(v=>v.case===c?.case);
if(c&&!f)throw new Error(`has no member ${c.case}`);e.isFlat||(D(e,3),B(e,f?f.number:0));let h=e.isFlat?r:f;h&&Fe(e,h.of,h===f?c?.value:void 0)}}}catch(r){throw r instanceof
M?r:tn(`${t.name}.${o}`,r.message)}e.depth++}function Yn(e,t,n){let{head:o,key:r,of:s}=t;if(n===void 0&&(o||t.isOptional)&&(n=ut(t)),o){let d=n,l=n,c=r?d.size:l.
length;we(c>=0,n);for(let f of o)D(e,f);if(B(e,c),r)for(let[f,h]of d)Fe(e,r,f),Fe(e,s,h);else for(let f of l)Fe(e,s,f)}else n===void 0&&t.isOptional&&!e.isFlat?
D(e,0):Fe(e,s,n)}function Fe(e,t,n){t.table||D(e,t.wire),t.put(e,n===void 0?t.zero():n)}function rn(e,t){if(Ce(e)===0)return void e.at++;me(e,8),Z(e),e.depth--||
w(`${t.name} nests deeper than ${ft}`);let n=t.fields();Lt(e,Ut+Nt*n.length);let o={},r="";for(let s of n){let{name:d,all:l,of:c}=s,f=l&&l[0]===s;if(f&&(o[d]=void 0),
!l)o[d]=Jn(e,s);else if(f&&Ce(e)===3){e.at++,r+=` ${d} `;let h=U(e),v=l.find(A=>A.number===h);v?o[d]={case:v.case,value:Ot(e,v.of)}:h&&w(`${t.name}.${d} has no \
member ${h}`)}else if(!r.includes(` ${d} `)){let h=Ye(e,c);(h instanceof Uint8Array?h.length:!Object.is(h,c.zero()))&&(o[d]={case:s.case,value:h})}}return e.depth++,
o}function Jn(e,t){let{head:n,key:o,of:r}=t;if((o||t.isOptional)&&Ce(e)===0)return e.at++,ut(t);if(!n)return Ye(e,r);for(let l of n)me(e,l);let s=U(e),d=ut(t);for(;s-- >
0;)Lt(e,o?Ut:Nt),o?d.set(Ye(e,o),Ot(e,r)):d.push(Ot(e,r));return d}function Ye(e,{wire:t,table:n,take:o,isEnum:r}){return r&&Ce(e)===12?Ye(e,ct.i):(n||me(e,t),o(
e))}var Ot=(e,t)=>Ye(e,t)??on(e,t.table);function on(e,t){let n={},o=t.fields();Lt(e,Ut+Nt*o.length);for(let r of o)n[r.name]=r.all?void 0:ut(r);return n}function Lt(e,t){
(e.memory-=t)<0&&w("exceeds the memory limit")}var xe=(e,t,n,o,r)=>({wire:e,zero:t,put:n,take:o,table:r}),Zn=e=>xe(3,()=>{},(t,n)=>n?nn(t,e,n):D(t,0),t=>rn(t,e),
e),er=65536;function tr(e){let t=Object.values(e);return{...xe(10,()=>t[0],(o,r)=>{let s=t.indexOf(r),d=r+2147483648,l=r<0&&d>=t.length;we(s>=0||r===(r|0)&&(l||
!o.isFlat),r),s>=0||l&&(o.isFlat||d<er)?B(o,s<0?d:s):(o.at--,Fe(o,ct.i,r))},o=>{let r=U(o),s=r-2147483648;return r>=t.length&&(s>=0||t.includes(s))&&w(`an enum \
has the index ${r}`),t[r]??s}),isEnum:!0}}var lt=(e,t)=>xe(e?13:11,()=>t?0:0n,(n,o)=>{let r=BigInt(o),s=Number(r),d=e?s<0?-2*s-1:2*s:s;if(Number.isSafeInteger(d)&&
d>=0)return B(n,d);we((e?BigInt.asIntN:BigInt.asUintN)(64,r)===r,o);let l=e?r<<1n^r>>63n:r;for(;l>>53n;l>>=7n)D(n,Number(l&127n)|128);B(n,Number(l))},n=>{let{at:o}=n,
r=U(n,10);if(r<=Number.MAX_SAFE_INTEGER)e&&(r=r%2?(r+1)/-2:r/2);else{let s=0n;for(let d=0n;o<n.at;d+=7n)s|=BigInt(n.bytes[o++]&127)<<d;s=BigInt.asUintN(64,s),r=
e?s>>1n^-(s&1n):s}return t?(Number.isSafeInteger(Number(r))||w("an integer is beyond 2^53"),Number(r)):BigInt(r)}),en=(e,t)=>xe(e,()=>0,(n,o)=>{we(typeof o=="nu\
mber",o),Zt[t>4?"setFloat64":"setFloat32"](0,o);for(let r=0;r<t;r++)D(n,Mt[r])},n=>{for(let o=0;o<t;o++)Mt[o]=Z(n);return Zt[t>4?"getFloat64":"getFloat32"](0)}),
ct={b:xe(7,()=>!1,(e,t)=>{we(typeof t=="boolean",t),D(e,+t)},e=>{let t=Z(e);return t>1&&w(`a bool is ${t}`),t>0}),i:xe(12,()=>0,(e,t)=>{we(t===(t|0),t),B(e,(t<<
1^t>>31)>>>0)},e=>{let t=U(e);return t>>>1^-(t&1)}),u:xe(10,()=>0,(e,t)=>{we(t===t>>>0,t),B(e,t)},e=>U(e)),l:lt(!0,!1),w:lt(!1,!1),L:lt(!0,!0),W:lt(!1,!0),f:en(
14,4),d:en(15,8),s:xe(5,()=>"",(e,t)=>{we(typeof t=="string",t),D(e,10),Ae(e,t)},e=>(me(e,10),ie(e))),y:xe(4,()=>new Uint8Array,(e,t)=>{we(nt(t),t),D(e,10),Oe(e,
t)},e=>(me(e,10),new Uint8Array(st(e))))},tn=(e,t)=>P(3,`${e} ${t}`);function we(e,t){if(!e)throw new Error(`cannot be the ${typeof t} ${String(t)}`)}var pt=(e,t,n,o)=>({name:e,fingerprint:t,layout:n,methods:o,operations:Object.values(o).map(({operation:r})=>r).sort((r,s)=>r-s)});function mt(e,t){Ae(e,t.name),
je(e,t.fingerprint);let n=0;for(let o of t.operations)B(e,o-n),n=o}function sn(e,t,n=""){for(let o of atob(n))D(e,o.charCodeAt(0));n||(D(e,0),je(e,t))}function an(e){
let t=ie(e,U(e,10)),n=[],o={fingerprint:Se(e),operations:n};for(let r=0;j(e);)n.push(r+=U(e,10));return[t,o]}var dn=16,ln=65536,nr=1e3,un=256,cn=61440,$t={metadata:{}},fn=e=>[e].flat(),Dt=e=>e.endsWith("-bin"),pn=(e,t)=>Dt(e)!==(typeof t=="string")&&/^[a-z0-9_.-]{1,256}\n[ -~]*$/.
test(`${e}
${Dt(e)?"":t}`);function Bt(e){if(typeof e=="string")return fe(e);if(!nt(e))throw P(3,`content is a Uint8Array or a string, not ${String(e)}`);return e}function Pt(e,t){
let{at:n}=e;pe(e,dn,()=>mn(e,t))||(e.at=n)}function mn(e,{timeout:t,metadata:n={},status:o}){let{at:r}=e;t!==void 0&&pe(e,1,()=>B(e,Math.min(Math.max(0,Math.round(
t*1e3)),Number.MAX_SAFE_INTEGER)));let s=0,d=0;for(let[l,c]of Object.entries(n))for(let f of fn(c)){if(!pn(l,f))throw P(3,`invalid metadata ${l}: keys have a-z \
0-9 - _ . and values printable ASCII, or bytes under -bin`);if(s+=l.length+f.length+8,++d>un||s>cn)throw P(8,"too much metadata");pe(e,2,()=>{Ae(e,l),ne(e,Bt(f))})}
if(o){let{code:l,details:c,mayHaveRun:f}=o;pe(e,3,()=>{B(e,l),e.at-r+c.length+32<=ln&&ne(e,c)}),f||pe(e,5,()=>{})}}function yt(e,t=!1){if(Ce(e)!==dn)return $t;e.
at++;let n=Qe(e);return j(n)>ln&&w("a prefix is too long"),ht(n,t)}function ht(e,t=!1){let n=Object.create(null),o={metadata:n},r=0,s=0,d=0;for(;j(e);){let l=Z(
e),c=Qe(e);if(l>127){let f=`prefix item ${l} must be understood and is unknown`;throw t?P(12,f):new ve(f)}if([1,3,5,6,8].includes(l)&&(d>>l&1&&w(`prefix item ${l}\
 occurs twice`),d|=1<<l),l===1)o.timeout=Ne(c)/1e3;else if(l===2){let f=ie(c,U(c,10)),h=Dt(f)?Pe(c):ie(c,j(c));s+=f.length+h.length+8,(!pn(f,h)||++r>un||s>cn)&&
w("invalid metadata"),n[f]=f in n?[...fn(n[f]),h]:h}else l===3?(o.code=U(c,10),o.details=Pe(c)):l===5?o.isRefused=!0:l===8&&(o.text=Je(c))}return o}var Je=(e,t)=>new TextDecoder().
decode(Pe(e).subarray(0,t)),yn=({metadata:e,code:t,details:n,isRefused:o},r="")=>new M(at(t??0),r,{metadata:e,mayHaveRun:!o,...n&&{details:n}});function bt(e,t){
if(Ce(e)===6)return e.at++,me(e,5),me(e,10),yn(t,ie(e))}function hn(e){let t=ht(e);return t.code??t.isRefused?yn(t,t.text):void 0}function bn(e,t){mn(e,{status:t,
metadata:t.metadata}),pe(e,8,()=>ne(e,fe(t.message.slice(0,nr))))}function gn(e,t){Pt(e,{status:t,metadata:t.metadata}),ne(e,[6,5,10]),Ae(e,t.message)}var _t=5<<20,rr=1024,or=1024,vn=65536,sr=128,ir=32768,qe=10,Le=16384,An=32768,ar=Le/2,gt=256,vt=262144,dr=1e5,lr=64<<20,Sn=8<<20,ur=10,cr=65536,fr=2e3,pr=5,mr=1e4,
xn="the server is going away",wn=200,yr=2147483647,De=(e,t)=>setTimeout(t,Math.min(Math.max(0,e),yr));function En(e,t,n,o,r){let s=tt(16384),d=new Map,l=new Map,
c=new Set(n),f=[],h=0,v=0,A=0,S=0,R=0,N=32767,C=[0,_t,1/0,Le,0],_=!1,re=!1,H,G=qe,ue=0,Y=!1,F=0,V=!1,Q=!1,L=0,q,ee=a=>{if(!(_||!ge))try{a(ge)}catch(m){$(Ue(m));
try{ge.close()}catch{}}},oe=()=>{s.at&&(V=!1,Q=!0,ee(a=>a.send(ot(s))),s.at=F=0,s.bytes.length>1<<20&&(s.bytes=new Uint8Array(16384)),ee(a=>{let m=a.buffered();
m>lr?T("too many unsent bytes"):m>Sn&&!x.isFull&&(x.isFull=!0,te())}))},te=()=>ee(a=>{if(a.buffered()>Sn/2)return void De(ur,te);x.isFull=!1;for(let m of d.values())
m.room();t.room(x)}),J=()=>{s.at!==F?(F=s.at,queueMicrotask(J)):(Y=!1,oe())},i=(a,m,y,k)=>{let{at:K}=s;try{rt(s,qe),s.at+=qe,y?.(s,k);let Ee=s.at,Te=Ee-K-qe,ke=m===
3?vn:Math.max(C[1],or);if(Te>ke)throw P(8,`the message has ${Te} bytes of at most ${ke}`);s.at=K;for(let Be of[15,a,m,Te>>>16,Te])Jt(s,Be);s.at=Ee}catch(Ee){throw s.
at=K,Ee}s.at>cr?oe():Y||(Y=!0,F=0,queueMicrotask(J))},u=(a,{code:m,message:y},k=7)=>i(a,k,K=>{B(K,m),ne(K,fe(y.slice(0,wn)))}),p=(a,m)=>{i(a,5,B,0),u(a,m)},b=a=>{
if(!_){if(L=0,H){if(ne(H,a),H.at<G)return;a=ot(H),H=void 0}try{let m=0,y=k=>a[m+k]<<8|a[m+k+1];for(;!_&&!(a.length<(G=m+qe));m=G){y(0)!==15&&w("a header without\
 its magic");let k=y(6)*65536+y(8);if(k>(y(4)===3?vn:_t)&&w(`a packet of ${k} bytes`),a.length<(G+=k))break;I(y(2),y(4),a.subarray(m+qe,G))}m<a.length&&(G-=m,ne(
H=tt(),a.subarray(m)))}catch(m){let y=m.message;x.isUp&&u(4,new M(13,y),3),T(`the server broke the protocol: ${y}`)}}},I=(a,m,y)=>{let k=z(y),K=m===3&&(a===5||a===
6),Ee=K?U(k,10):a;Ee>65535&&w(`stream ${Ee}`);let Te=d.get(Ee);if(m>=10){x.isUp||w("a packet before HELLO");let ke=a>=An,Be=f[a%Le];if(!ke&&Be?.id===a&&Be.operation===
m)return se(a),t.answered(),Be.isGivenUp?v--:t.replied(Be,y),g();if(r.filter(Wn=>Wn.packet(x,a,m,y)).length)return;if(ke&&W)return W.packet(a,m,y,!1)}else if(m<
2){y.length&&w("a PING with a body"),m===1?x.isUp||T("the server is a compat peer"):V||(V=!0,i(0,1));return}else if(m===3&&!K){if(!a&&!x.isUp)return X(k);if(a===
4)return T(`closed by the server with code ${U(k,10)}: ${Je(k,wn)}`);if(a===1)return E(k);a>=ir&&w(`packet type ${a} must be understood and is unknown`)}else{if(m===
4)return O();if(m===6)return W?.cancel(a,U(k,10));if(m===8)w("a stray HAND_OFF");else{if(Te&&m<8)return t.answered(),K?Te.items(a===6,k):Te.packet(m,y);if(m===2){
let ke=a-N&32767;if(a>=32768&&ke&&ke<=16384)return N=a,W?W.packet(a,2,y,!0):p(a,P(12,"no service is served"))}}}++ue>dr&&T("too many stray packets")},E=a=>{let m=j(
a);for((!m||m>rr)&&w(`ASK of ${m} bytes`);j(a);){let y=Se(a),k=[...c,...o?.services??[]].find(K=>K.fingerprint===y);i(2,3,K=>sn(K,y,k?.layout))}},X=a=>{(ie(a,4)!==
"fris"||!Z(a))&&w("no HELLO");let m=new Set,y=0;try{for(;j(a);){y=Z(a);let k=Qe(a);if(y>=sr&&w("must be understood and is unknown"),[1,2,3,4,5,6,8,34,35].includes(
y)&&(m.has(y)&&w("occurs twice"),m.add(y)),y&&y in C)C[y]=Ne(k);else if(y===8)Ne(k);else if(y===32||y===33){let K=an(k);y===32&&l.set(...K)}}}catch(k){w(`HELLO \
item ${y}: ${k.message}`)}C[3]=Math.min(C[3],Le),x.isUp=!0,clearTimeout(Me),t.room(x)},se=a=>{f[a%Le]=void 0,h--===C[3]&&t.room(x)},ye=(a,m)=>{d.set(m,a),a.begin(
x,m,C[4])},g=()=>{re&&h===v&&!d.size&&!W?.progress.size&&queueMicrotask(()=>T(xn))},O=()=>{re||(re=!0,t.closing(x,xn),g())},T=a=>{_||(oe(),ee(m=>m.close()),$(a))},
$=a=>{if(_)return;_=!0,clearInterval(q),clearTimeout(Me),t.closing(x,a),x.isUp=!1;let m=new M(14,`the connection was lost: ${a}`);for(let y of f)y&&!y.isGivenUp&&
t.lost(y,m);for(let y of d.values())y.lost(m);W?.down(m);for(let y of r)y.down(x,m)},x={isUp:!1,isFull:!1,write:i,reset:u,refuse:p,announce(a){let m=l.get(a.name),
y=m?.fingerprint===a.fingerprint&&`${m.operations}`==`${a.operations}`;if(!c.has(a)){for(let k of c)if(k.operations.some(K=>a.operations.includes(K)))throw P(9,
`${k.name} has operations of ${a.name}: use another channel`);y||i(3,3,mt,a),c.add(a)}},call(a,m){if(x.isFull||h>=C[3])return!1;do A=(A+1)%An;while(f[A%Le]);let y=a.
id=A;f[y%Le]=a,h++;try{i(y,a.operation,m,a)}catch(k){throw se(y),k}return!0},cancel(a){_||(a.isGivenUp=!0,i(a.id,6,B,a.operation),++v>=ar&&O(),g())},open(a,m){if(!C[2])
throw P(12,"the server does not accept streams");if(x.isFull||S>=Math.min(C[2],28672))return!1;do R=R%32767+1;while(d.has(R));let y=R;d.set(y,a),S++;try{i(y,2,m)}catch(k){
throw x.over(y),k}return a.begin(x,y,C[4]),!0},accept:ye,over(a){d.delete(a),a<32768&&(S--,t.room(x)),g()},drain:O,closeIfIdle:g},W=o?.on(x),Me=De(mr,()=>T("han\
dshake timeout")),Ke=()=>{s.isFlat=ge?.isFlat,i(0,3,a=>{ne(a,fe("fris"));let m=W?gt:0;[_t,m,m,vt].forEach((y,k)=>pe(a,k+1,()=>B(a,y)));for(let y of o?.services??
[])pe(a,32,()=>mt(a,y));for(let y of n)pe(a,33,()=>mt(a,y))}),i(1,0),oe(),!_&&(q=setInterval(()=>{if(++L>pr)return T("keepalive timeout");(L>1||!Q)&&i(0,0),Q=!1;
let a=performance.now();for(let m of f)m&&m.until<=a&&!m.isGivenUp&&t.expired(m)},fr))},ge,Qt=a=>ge?a():queueMicrotask(a),zt=a=>Qt(()=>$(a));try{ge=e({open:()=>Qt(
Ke),data:b,close:zt})}catch(a){zt(Ue(a))}return x}function At(e,t){let n=[],o=0,r=!1,s=()=>{},d=A=>{r||=A,s()},l=()=>n[o],c=()=>{let A=l();return A!==void 0&&(n[o++]=void 0,o>999&&o*2>n.length&&(n.splice(0,o),o=
0)),A},f=()=>{n=[],o=0},h=(async function*(){try{for(;;){let A=c();if(A!==void 0){let S=e(A);S!==void 0&&(yield S)}else if(r){if(r!==!0)throw r;return}else await new Promise(
S=>s=S)}}finally{t()}})(),{return:v}=h;return h.return=()=>(t(),f(),d(!0),v.call(h,void 0)),{messages:h,first:l,take:c,clear:f,put:A=>{n.push(A),s()},end:d}}var Ft=64,hr=4,br=4096,St=(e,t)=>e instanceof ve?new M(13,`not a valid ${t.name}: ${e.message}`):M.from(e);function xt(e,t,n,o,r){let s,d=0,l=0,c=0,f=0,h=!0,v=!0,
A=!1,S=!1,R=!1,N=()=>{},C,_=()=>!h&&!v,{messages:re,clear:H,put:G,end:ue}=At(i=>{let u=i.length+Ft;c-=u,f+=u,v&&f*hr>=vt&&(s?.write(d,5,B,f),f=0);try{let p=z(i),
b=bt(p,$t);if(b)throw b;return Re(p,t)}catch(p){throw St(p,t)}},()=>n?q(!0):oe()),Y=Object.assign(re,{metadata:{}}),F=()=>{_()&&(N(),C?.(),s?.over(d),s=C=void 0,
o())},V=i=>{v=!1,ue(i),F()},Q=()=>{h&&(h=!1,s?.write(d,7),F())},L=i=>{h=!1,V(i)},q=(i,u=_e(1))=>{_()||s?.reset(d,u),H(),L(i)},ee=i=>q(i,i),oe=()=>{H(),A=!0},te=i=>{
if(!(!s||!h)){if(i instanceof M)return J(6,u=>bn(u,i)),h=!1,F();s.write(d,2,u=>{let{at:p}=u;Ve(u,e,i),l-=u.at-p+Ft})}},J=(i,u)=>s?.write(i,3,p=>{B(p,d),u(p)});return{
messages:Y,begin(i,u,p){s=i,d=u,l=p},packet(i,u){if(i===2)return S=!0,!v||A?void 0:c+f>=vt?ee(new M(8,"the peer exceeded its credit")):(c+=u.length+Ft,G(new Uint8Array(
u)));let p=z(u);if(i===5){let b=Ne(p);R||=!b,(l+=b)>0&&N()}else if(u.length){let b=at(U(p,10));L(new M(b,Je(p,br),{mayHaveRun:!R}))}else V(!0)},items(i,u){if(v){
!i&&S&&w("late HEADERS"),S=!0;try{if(i)return V(hn(u)??!0);r?.(Y.metadata=ht(u).metadata)}catch(p){ee(St(p,t))}}},send:te,async pump(i,u,p){try{let b=i,I=b?.[Symbol.
asyncIterator]?.()??b?.[Symbol.iterator]?.();if(!I)throw P(3,`messages are an iterable, not ${String(i)}`);C=async()=>{try{await I.return?.()}catch{}},n||J(5,()=>{});
for(let E;;){for(;(l<=0||s?.isFull)&&!_();)await new Promise(X=>N=X);if(_())return;if(!E)E=await I.next();else{if(E.done)break;te(E.value),E=void 0}}C=void 0,Q(),
_()||p?.()}catch(b){if(!n)throw C?.(),C=void 0,b;q(u?it(b):M.from(b))}},room:()=>N(),finish:Q,discard:oe,fail:ee,lost:L}}var gr=3e4,vr=5e3,Ar=20,Tn=2e3,kn=10,wt=class{constructor(t,{timeout:n,reconnectTimeout:o=vr,metadata:r,serve:s,stayConnected:d}={}){let l=n??gr,c,f=0,h=kn,v=0,
A,S=!1,R="",N=[new Set,new Set,new Set],C=({service:i,method:{sends:u,receives:p}})=>N[i?u||p?1:0:2],_=new Set,re=[],H=()=>{c||A||S||!(N.some(({size:i})=>i)||d)||
(v=performance.now(),c=En(t,G,[..._],s,re))},G={room:i=>queueMicrotask(()=>{for(let u of N)for(let p of u){if(c!==i||!ue(p,i))break;c===i&&u.delete(p)}}),closing(i,u){
if(c===i){if(c=void 0,R=u,i.isUp)for(let p of N)p.forEach(F);i.isUp&&performance.now()-v>=Tn?f=0:S||(clearTimeout(A),A=De(Math.random()*Math.min(Ar*2**Math.min(
f++,16),Tn),()=>{A=void 0,H()})),H()}},answered:()=>void(f=0),replied(i,u){let p=i,{method:{reply:b},options:{onMetadata:I}}=p;Q(p);try{let E=z(u),X=yt(E),se=bt(
E,X);if(se)throw se;E.at&&I?.(X.metadata),p.resolve(Re(E,b)),h<kn&&(h+=.1)}catch(E){p.reject(St(E,b))}},expired:i=>V(i),lost(i,u){let p=i;if(p.link=void 0,!p.method.
idempotent||p.sent>1||h<1)return L(p,u);h--,Y(p)}},ue=(i,u)=>{let{service:p}=i;try{return p&&u.announce(p),i.start(i,u)&&!!++i.sent}catch(b){return L(i,M.from(b)),
!0}},Y=i=>{if(!(c?.isUp&&ue(i,c))){if(S)return L(i,Cn(i.sent));C(i).add(i),H(),F(i)}},F=i=>{i.reconnectsUntil=performance.now()+(i.options.reconnectTimeout??o),
V(i)},V=i=>{let{until:u,sent:p,reconnectsUntil:b}=i,I=performance.now(),E=C(i).has(i)&&!c?.isUp&&`no connection to the server${R&&`: ${R}`}`;clearTimeout(i.timer),
I>=u?L(i,dt(p,E?`; ${E}`:"")):I>=b&&E?L(i,ze(14,E,p)):i.timer=De((I<b?Math.min(u,b):u)-I,()=>V(i))},Q=i=>{C(i).delete(i),clearTimeout(i.timer),i.options.signal?.
removeEventListener("abort",i.abort)},L=(i,u)=>{Q(i),i.link?.cancel(i),i.reject(u)},q=(i,{sentTimeout:u,until:p,options:{metadata:b}})=>{(u!==void 0||r||b)&&Pt(
i,{timeout:u&&p-performance.now(),metadata:{...r,...b}})},ee=(i,u)=>{q(i,u),Ve(i,u.method.request,u.request)},oe=(i,u)=>{let p=u.call(i,ee);return p&&(i.link=u),
p},te=(i,u,p,b,I,E,X,se)=>{let{signal:ye}=b,g={id:0,operation:u.operation,until:performance.now()+ +(I??(i?l:1/0)),isGivenUp:!1,sent:0,reconnectsUntil:1/0,timer:void 0,
link:void 0,service:i,method:u,request:p,options:b,sentTimeout:I,start:E,resolve:X,reject:se,abort:ye&&(()=>L(g,_e(g.sent)))};return isNaN(g.until)?se(P(3,"the \
timeout is not a number")):ye?.aborted?g.abort?.():(ye?.addEventListener("abort",g.abort),I!==void 0&&V(g),(I===void 0||I>0)&&Y(g)),g},J=(i,u,p,b={})=>{let I,E=xt(
u.request,u.reply,!0,()=>I&&Q(I),b.onMetadata);return I=te(i,u,p,b,b.timeout,(X,se)=>{let ye=se.open(E,g=>{q(g,X),D(g,9),B(g,X.operation)});if(ye){let g=X.sentTimeout===
void 0;g&&(X.until=1/0),E.pump(p,u.sends,()=>{!g||u.receives||(X.until=performance.now()+l,V(X))})}return ye},()=>{},E.fail),E};this.unary=(i,u,p,b={})=>new Promise(
(I,E)=>void te(i,u,p,b,b.timeout??n,oe,I,E)),this.serverStreaming=(i,u,p,b)=>J(i,u,[p],b).messages,this.twoWay=(i,u,p,b)=>J(i,u,p,b).messages,this.clientStreaming=
async(i,u,p,b)=>{let{messages:I}=J(i,u,p,b),{done:E,value:X}=await I.next();if(E)throw new M(13,"there is no reply");return I.return?.(),X},this.name=i=>void _.
add(i),this.mount=i=>void re.push(i),this.connected=(i,u)=>new Promise((p,b)=>{te(void 0,{},void 0,{reconnectTimeout:u},void 0,(I,E)=>E.isFull?!1:(i?.(E),Q(I),p(
E),!0),p,b)}),this.close=()=>{S=!0,clearTimeout(A);for(let i of N)for(let u of i)L(u,Cn(u.sent));c?.drain()},d&&queueMicrotask(H)}},Cn=e=>ze(9,"the channel is c\
losed",e);function Ht(e,t,n){let o=new Map(n?.methods);for(let[r,s]of Object.entries(e.methods))o.set(s.operation,{method:s,handler:(d,l)=>t[r]?.(d,l)});return{services:[
...n?.services??[],e],methods:o,on(r){let s=new Map,d=0,l=(c,f)=>{let h=o.get(c);if(!h||!(h.method.sends||h.method.receives)===f)throw P(12,`unknown operation ${c}`);
if(s.size>=gt||d>=gt)throw P(8,"too many calls are in progress");return h};return{progress:s,packet(c,f,h,v){let A,S=N=>r.write(c,f,C=>{N instanceof M?gn(C,N):Ve(
C,A.reply,N)}),R=v?c:In(c,f);s.has(R)&&w("a request id occurs twice");try{let N=z(h),{timeout:C,metadata:_}=yt(N,!0);v&&(me(N,9),f=U(N,3));let re=l(f,v);if(C===
0)throw P(4,"deadline exceeded");({method:A}=re);let H=v||Re(N,A.request),G=new AbortController,ue=!1,Y=L=>{ue||(ue=!0,clearTimeout(Q),L||G.abort(),s.delete(R),
r.closeIfIdle())},F=v?xt(A.reply,A.request,!1,()=>Y(!1)):{send(L){ue||(S(L),Y(!0))},fail:S,finish(){},discard(){}},V=L=>{F.fail(L),Y(!1)},Q=C===void 0?void 0:De(
C,()=>V(dt(1)));s.set(R,V),v&&r.accept(F,c),d++,Sr(re,v,H,F,{signal:G.signal,metadata:_}).finally(()=>d--)}catch(N){let C=N instanceof ve?Mn(N):M.from(N);v?r.refuse(
c,C):S(C)}},cancel(c,f){s.get(In(c,f))?.(_e(1))},down(c){for(let f of s.values())f(c)}}}}}var In=(e,t)=>t*65536+e,Mn=e=>P(3,`malformed request: ${Ue(e)}`);async function Sr({
method:e,handler:t},n,o,r,s){let d=!1;try{if(e.sends)o=r.messages;else if(n)try{let c=await r.messages.next();c.done&&w("no request"),o=c.value}catch(c){throw Mn(
c)}d=!0;let l=t(o,s);e.receives?await r.pump?.(l):(r.send(await l),r.finish())}catch(l){try{r.send(d?it(l):M.from(l))}catch(c){r.send(new M(13,Ue(c)))}}r.discard()}var Xe=65280,xr=16<<20,Vt=64,wr=255,Er=65536,Tr=4,Et={now:0,last:1,oldest:2},On=e=>P([8,12,7][Z(e)-3]??3,ie(e,j(e))),Nn=e=>{let t=U(e,10);return t>wr&&w("a topi\
c is too long"),ie(e,t)},Un=new WeakMap,Ze=class{constructor(t){this.channel=t;this.requests=new Map;this.last=0;let{requests:n}=this,o=Un.get(t);if(o)return o;
Un.set(t,this),t.mount({packet:(r,s,d,l)=>{if(d<Xe)return!1;!s&&d===Xe+5&&(this.refused??=On(z(l)));for(let c of s?[n.get(s)]:n.values())c?.packet(r,s,d-Xe,z(l));
return!0},down(r,s){for(let d of[...n.values()])d.down(r,s)}})}subscribe(t,{group:n="",from:o}={}){return this.request(0,t,n,o)}async publish(t,n){await this.channel.
connected(o=>{o.write(0,Xe+2,r=>{Oe(r,fe(t)),ne(r,Bt(n))}),this.published??=o})}async sync(){await(await this.request(3)).return?.();let{refused:t}=this;if(this.
refused=void 0,t)throw t}request(t,n,o="",r){let{channel:s,requests:d}=this;return new Promise((l,c)=>{if(d.size>=65535)throw P(8,"too many requests");do this.last=
this.last%65535+1;while(d.has(this.last));let f=this.last,h,v=0,A=0,S=!1,{first:R,messages:N,put:C,end:_,take:re}=At(g=>(v-=g.payload.length+Vt,g),()=>{d.delete(
f)&&n!==void 0&&h?.isUp&&h.write(f,Xe+1)}),H=g=>{d.delete(f),c(g),_(g)},G=o?[]:n?.split(".")??[],ue=G.at(-1)===">",Y=g=>{let O=g.split(".");return(ue?O.length>=
G.length:O.length===G.length)&&G.every((T,$)=>T===">"||T==="*"||T===O[$])},F=t===0&&!o&&r!==void 0,V=typeof r=="object";if(V&&!(/^[\da-f]{16}$/.test(r.epoch)&&r.
offset>=0))throw P(3,`${r.epoch}, ${r.offset} is not a position`);let Q=V||r===void 0?Et.oldest:Et[r],L=new Map(V?[[n,{...r,offset:r.offset+1}]]:[]),q=new Map,ee=0,
oe="",te=!1,J=!1,i=!1,u=!1,p=!1,b=()=>!n?.match(/[*>]/)&&L.size>0,I=g=>{h?.write(f,Xe+g,O=>{if(n!==void 0&&Oe(O,fe(n)),g===6){D(O,Q);for(let[T,$]of L)Ae(O,T),je(
O,$.epoch),B(O,$.offset)}else ne(O,fe(o))})},E=()=>{let g=L.size>0;return L=new Map,Q=Et.now,te=!1,i=!0,g},X=g=>{s.connected(O=>{if(d.has(f)){h=O,t===3&&((this.
published??O)!==O&&(this.refused=new M(15,"the connection was lost")),this.published=void 0);try{I(F?6:t)}catch(T){if(!J||!E())throw T;I(6)}}},g).catch(O=>{J&&O.
code===9&&_(!0),H(O)})},se=()=>{p=!0,J&&(i||!(F&&u))&&(S=!0),l(N)},ye=(g,O,T)=>{if(O===5&&g&&!p&&F&&T.bytes[T.at]===Tr)i=!0,I(0);else if((O===5||O===6&&T.bytes[T.
at])&&g&&!p&&J&&E())I(6);else if(O===6&&g&&T.bytes[T.at]===0){Z(T),u=Z(T)===1;let $=Se(T,16);ee=U(T,10);let x=oe!==""&&oe!==$;oe=$,se(),i=!1,S||=b()?!ee:x}else if(O===
7)for(;j(T);){let $=Nn(T),x={epoch:Se(T,16),offset:U(T,10)};if(Number.isSafeInteger(x.offset)||w("an integer is beyond 2^53"),!p||!g&&!Y($))continue;let W=q.get(
$);g&&!W?(ee--,W=L.get($)??(te?{...x,offset:1}:void 0)):!g&&W?.epoch!==x.epoch&&(W=void 0),W&&u&&(g||!i)&&(W.epoch===x.epoch&&W.offset<=x.offset?A+=x.offset-W.offset:
S=!0),q.size>=Er&&!q.has($)&&(q.clear(),i=!0),q.set($,x)}else return!1;return!0};d.set(f,{packet(g,O,T,$){if(!(g!==h||F&&ye(O,T,$)))if(T===2){let x=Nn($);if(!O&&
(!p||!Y(x)))return;let W=Pe($),Me=q.get(x);for(Me&&q.set(x,{...Me,offset:Me.offset+1}),v+=W.length+Vt,C({topic:x,payload:W,position:Me,lagged:A,reconnected:S}),
A=0,S=!1;v>xr;){let Ke=re();v-=Ke.payload.length+Vt;let ge=R();ge.lagged+=Ke.lagged+1,ge.reconnected||=Ke.reconnected}}else T===4?p&&!(F&&u&&!i)&&(A+=U($,10)):O&&
(j($)?H(On($)):se())},down(g,O){if(g===h){if(n===void 0||!p&&!J)return H(O);if(p)if(ee>0&&!i){i=!te&&!b();for(let[T,$]of q)L.set(T,$)}else i?E():(L=q,Q=Et.oldest,
te=!0);q=new Map,p=!1,J=!0,X(1/0)}}}),X()})}};var Tt="frisbee.1";function Rn(e,{protocols:t=[],WebSocket:n=globalThis.WebSocket}={}){return o=>{if(!n)throw new Error("no WebSocket; set the option `WebSocket\
` or use frisbee-rpc/node");let r=new n(String(e),[Tt,...t]);r.binaryType="arraybuffer";let s="";return r.onopen=()=>{if(r.protocol===Tt)return o.open();s=`the \
server does not speak ${Tt}`,r.close()},r.onmessage=({data:d})=>{d instanceof ArrayBuffer?o.data(new Uint8Array(d)):r.close()},r.onerror=({message:d=""})=>void(s||=
d),r.onclose=({code:d,reason:l})=>{o.close(s||`the WebSocket was closed (${d}${l&&`, ${l}`})`)},{send:d=>r.send(d),close:()=>r.close(),buffered:()=>r.bufferedAmount}}}
var qt=(e,t={})=>new wt(Rn(e,t),t);var ce={BUY:0,SELL:1},Xt=he("exchange.Book","traders:u orders:u bids:*m asks:*m deals:*m",()=>[Ln,Ln,Cr]),Cr=he("exchange.Deal","number:u side:e price:u amount:\
u",()=>[ce]),Dn=he("exchange.Inquiry","side:e amount:u",()=>[ce]),Ln=he("exchange.Level","price:u amount:u"),Ir=he("exchange.Nothing",""),$n=he("exchange.Offer",
"price:u called:u answered:u"),Mr=he("exchange.Order","number:u side:e price:u amount:u",()=>[ce]),Or=he("exchange.Report","number:u side:e amount:u price:u lef\
t:u",()=>[ce]),$e=pt("exchange.Exchange","376fc2e317e77aa99ad6e16a12ea86d3","AQkAAAAFBA0FDQFLBgJLBgNLBwAEAQ0CDggDDQQNAAUBDQIOCAMNBA0FDQACAQ4IAg0AAwENAg0DDQACAQ0\
CDQAEAQ0CDggDDQQNAQIAAgMETG9vawAAAQVUcmFkZQMCAwdJbnF1aXJlAAQFEWV4Y2hhbmdlLkV4Y2hhbmdl",{look:{operation:10,request:Ir,reply:Xt},trade:{operation:11,request:Mr,reply:Or,
sends:!0,receives:!0},inquire:{operation:12,request:Dn,reply:$n}}),kt=class{constructor(t){this.channel=t,t.name($e)}look(t,n){return this.channel.unary($e,$e.methods.
look,t,n)}trade(t,n){return this.channel.twoWay($e,$e.methods.trade,t,n)}inquire(t,n){return this.channel.unary($e,$e.methods.inquire,t,n)}},Bn=pt("exchange.Tra\
der","2105f7db600a743fd2ae744d5a292887","AQMAAgEOAgINAAMBDQINAw0BAgACAQVRdW90ZQAAAQ9leGNoYW5nZS5UcmFkZXI=",{quote:{operation:13,request:Dn,reply:$n}});var Gt=240,Vn=8,le=e=>document.getElementById(e),de=(e,t)=>void(le(e).textContent=t),be=e=>(e/100).toFixed(2),Ct=e=>e===ce.BUY?"buy":"sell";function ae(e,t,n=""){
let o=document.createElement(e);return o.className=n,typeof t=="string"?o.textContent=t:o.append(...t),o}function Nr(e,t){let n=le(e);for(n.querySelector(".empt\
y")?.remove(),n.prepend(t);n.children.length>Vn;)n.lastElementChild?.remove()}var et=new Map,Pn=0,_n=0,qn=()=>{},Kt=[];async function*Ur(){for(;;){let e=Kt.shift();
e?yield e:await new Promise(t=>qn=t)}}function Rr({number:e,amount:t,price:n,left:o}){let r=et.get(e);if(!r)return;r.done+=t,r.left=o;let s=r.order.side===ce.BUY?
1:-1;Pn+=s*t,_n-=s*t*n,de("held",String(Pn)),de("cash",be(_n));let d=[...et.values()].reverse().slice(0,Vn).map(({order:l,done:c,left:f})=>ae("tr",[ae("td",`${Ct(
l.side)} ${l.amount}`,Ct(l.side)),ae("td",be(l.price)),ae("td",String(c)),ae("td",String(f))]));le("orders").replaceChildren(...d)}le("ticket").addEventListener(
"submit",e=>{e.preventDefault();let t=new FormData(e.target),n=e.submitter.value==="sell"?ce.SELL:ce.BUY,o={number:et.size+1,side:n,price:Math.round(Number(t.get(
"price"))*100),amount:Number(t.get("amount"))};et.set(o.number,{order:o,done:0,left:o.amount}),Kt.push(o),qn()});var Ge=0,Wt=0,We,Ie=[];function Fn(e,t){let n=Math.
max(1,...t.map(({amount:o})=>o));le(e).replaceChildren(...t.slice(0,10).map(({price:o,amount:r})=>{let s=document.createElement("meter");return s.max=n,s.value=
r,ae("li",[s,ae("span",be(o)),ae("span",String(r))])}))}function Lr(e){for(let{number:o,price:r}of[...e].reverse())o>Wt&&Ie.push(r);Ie.splice(0,Ie.length-Gt);let[
t]=e;if(!t||t.number===Wt)return;Wt=t.number;let n=t.price-Ge;Ge&&n&&(de("change",`${n>0?"▲":"▼"} ${be(Math.abs(n))}`),le("change").dataset.side=n>0?"buy":"\
sell"),Ge=t.price,de("last",be(Ge)),le("deals").replaceChildren(...e.map(({side:o,price:r,amount:s})=>ae("li",[ae("span",o===ce.BUY?"bought":"sold",Ct(o)),ae("s\
pan",be(r)),ae("span",String(s))]))),jt()}function Hn({bids:e,asks:t,deals:n,traders:o,orders:r}){Fn("asks",t),Fn("bids",e),t[0]&&e[0]&&de("spread",`${be(t[0].price-
e[0].price)} apart`),de("traders",String(o));let s=performance.now();(!We||s-We.at>1e3)&&(We&&de("rate",((r-We.orders)/((s-We.at)/1e3)).toFixed(0)),We={orders:r,
at:s}),Lr(n)}function jt(){let e=le("chart"),t=e.getContext("2d"),{clientWidth:n,clientHeight:o}=e;if(!t||Ie.length<2||n===0)return;let r=devicePixelRatio;e.width=
n*r,e.height=o*r,t.scale(r,r);let s=getComputedStyle(e),d=le("state"),l=Math.min(...Ie)-2,c=Math.max(...Ie)+2,f=n-56,h=S=>S/(Gt-1)*f,v=S=>(c-S)/(c-l)*(o-12)+6;t.
font=`12px ${s.fontFamily}`,t.fillStyle=t.strokeStyle=getComputedStyle(d).color,t.lineWidth=.5;for(let S=0;S<5;S++){let R=l+(c-l)*S/4;t.globalAlpha=.35,t.beginPath(),
t.moveTo(0,v(R)),t.lineTo(f,v(R)),t.stroke(),t.globalAlpha=1,t.fillText(be(R),f+8,v(R)+4)}let A=Gt-Ie.length;t.strokeStyle=t.fillStyle=s.color,t.beginPath(),Ie.
forEach((S,R)=>t.lineTo(h(A+R),v(S))),t.lineWidth=1.5,t.stroke(),t.lineTo(f,o),t.lineTo(h(A),o),t.globalAlpha=.1,t.fill()}addEventListener("resize",jt);matchMedia(
"(prefers-color-scheme: dark)").addEventListener("change",jt);var Dr=Ht(Bn,{quote:({side:e,amount:t})=>{let n=Math.round(Number(le("margin").value)*100),o=Ge&&Ge+
(e===ce.BUY?n:-n);return Nr("asked",ae("li",`${Ct(e)} ${t}? You said ${be(o)}.`)),{price:o}}}),{hostname:$r}=location,Xn=qt(`ws://${$r}:${document.documentElement.
dataset.port}/`,{serve:Dr,stayConnected:!0}),It=new kt(Xn),Br=new Ze(Xn);le("inquire").addEventListener("submit",async e=>{e.preventDefault();let t=e.target.querySelector(
"button");t.disabled=!0;try{let n=performance.now(),{price:o,called:r,answered:s}=await It.inquire({side:ce.BUY,amount:10}),d=(performance.now()-n).toFixed(0);de(
"offer",o?`${be(o)} is the best of ${s} of ${r}, after ${d} ms.`:`None of ${r} had a price.`)}catch(n){de("offer",M.from(n).message)}t.disabled=!1});async function Pr(){
for(;;){try{let e=await Br.subscribe("exchange.book"),t=It.trade(Ur()),n=(async()=>{for await(let r of t)Rr(r)})();le("state").dataset.is="open",de("state","con\
nected"),Hn(await It.look({}));let o=(async()=>{for await(let{payload:r}of e)Hn(Rt(Xt,r))})();await Promise.race([n,o])}catch(e){le("state").dataset.is="failed",
de("state",M.from(e).message)}Kt.length=0;for(let e of et.values())e.left=0;await new Promise(e=>setTimeout(e,1e3))}}Pr();setInterval(async()=>{if(document.hidden)
return;let e=performance.now();try{await It.look({},{timeout:5e3}),de("ping",`${(performance.now()-e).toFixed(1)} ms`)}catch{de("ping","–")}},2e3);
