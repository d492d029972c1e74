// An embedding endpoint in the form of OpenAI's API, for scripts/embedder.sh: node server.js MODEL-FOLDER. It runs the
// sentence model in the folder by onnxruntime-node, and prints its address. A vector is the mean of those of the tokens,
// as the model's authors take it.
"use strict";
const fs = require("fs");
const http = require("http");
const path = require("path");
const ort = require("onnxruntime-node");

const folder = process.argv[2];
const maxTokens = 256; // of a text, as the model was trained
const vocabulary = new Map(Object.entries(JSON.parse(fs.readFileSync(path.join(folder, "tokenizer.json"))).model.vocab));
const [unknown, first, last] = ["[UNK]", "[CLS]", "[SEP]"].map((t) => vocabulary.get(t));

// tokensOf splits a text as BERT's tokenizer without capitals and accents does.
function tokensOf(text) {
  const plain = text.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "");
  const out = [first];
  for (const word of plain.match(/[\p{P}$+<=>^`|~]|\p{Script=Han}|[^\s\p{P}\p{C}$+<=>^`|~\p{Script=Han}]+/gu) || []) {
    out.push(...piecesOf(Array.from(word)));
  }
  return [...out.slice(0, maxTokens - 1), last];
}

// piecesOf returns the longest known pieces of a word, from its beginning.
function piecesOf(letters) {
  const pieces = [];
  for (let at = 0; at < letters.length; ) {
    let end = letters.length;
    let id;
    for (; end > at; end--) {
      id = vocabulary.get((at ? "##" : "") + letters.slice(at, end).join(""));
      if (id !== undefined) break;
    }
    if (end === at || letters.length > 100) return [unknown];
    pieces.push(id);
    at = end;
  }
  return pieces;
}

// embed returns the vector of a text. Texts are run one by one: the bytes of a batch share one scale, so that a vector
// would depend on the texts beside it.
async function embed(session, text) {
  const tokens = tokensOf(text);
  const tensor = (list) => new ort.Tensor("int64", BigInt64Array.from(list, BigInt), [1, tokens.length]);
  const result = await session.run({
    input_ids: tensor(tokens), attention_mask: tensor(tokens.map(() => 1)), token_type_ids: tensor(tokens.map(() => 0)),
  });
  const { data, dims } = result.last_hidden_state;
  const sum = new Array(dims[2]).fill(0);
  data.forEach((x, i) => { sum[i % dims[2]] += x; });
  const length = Math.hypot(...sum);
  return sum.map((x) => x / length);
}

async function main() {
  const session = await ort.InferenceSession.create(path.join(folder, "onnx", "model_quantized.onnx"),
    { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const data = [];
    for (const text of [JSON.parse(body).input].flat()) {
      data.push({ index: data.length, embedding: await embed(session, text) });
    }
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ data }));
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
}

main();
