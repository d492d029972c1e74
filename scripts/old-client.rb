#!/usr/bin/env ruby
# frozen_string_literal: true

# Runs the card wiki's Ruby client, unmodified, against a server, and records its requests
# and the fields that it reads from the answers. internal/app/archivetest replays the
# recording. The client's own text is not recorded: a content or a card's name that the
# client made up is replaced.
#
#   ruby scripts/old-client.rb CHECKOUT http://127.0.0.1:8420/api/mcp \
#     > internal/app/archivetest/testdata/old-client.json
#
# CHECKOUT is a checkout of Magi-AGI/magi-archive-mcp. The server is a fresh "loregate serve
# --sample"; USER_KEY and GM_KEY hold its keys of those roles, ADMIN_KEY a key of the role
# admin made with --operator. The gems http, jwt and dotenv are needed (Debian:
# ruby-http, ruby-jwt, ruby-dotenv). The gem mcp carries the client's tools to a model and
# takes no part in its requests: a stand-in for its classes is below.

require "json"
require "time"
require "http"
require "tmpdir"
require "stringio"

checkout, base = ARGV
abort "usage: ruby scripts/old-client.rb CHECKOUT BASE_URL > recording.json" unless base

# Recording collects requests and what is read of their answers.
module Recording
  class << self
    attr_accessor :role, :step, :answered
    attr_reader :exchanges

    def start(verb, uri, opts)
      @exchanges ||= []
      uri = HTTP::URI.parse(uri.to_s)
      query = (opts[:params] || {}).map { |k, v| [k.to_s, v.to_s] }
      query += URI.decode_www_form(uri.query) if uri.query
      @exchanges << { "role" => role, "step" => step, "method" => verb.to_s.upcase,
                      "path" => uri.path.sub(%r{\A/api/mcp}, ""), "query" => query.to_h,
                      "body" => opts[:json], "status" => nil, "reads" => {} }
      @exchanges.last
    end

    # read notes that a field of the newest answer was read, and the JSON type it had.
    def read(exchange, path, value)
      type = case value
             when nil then "null"
             when String then "string"
             when true, false then "boolean"
             when Integer then "integer"
             when Numeric then "number"
             when Array then "array"
             else "object"
             end
      reads = exchange["reads"]
      reads[path] = type if reads[path].nil? || reads[path] == "null"
    end
  end
end

# Seen is an object of an answer that notes which of its fields are read.
class Seen < Hash
  attr_accessor :exchange, :path

  def self.wrap(value, exchange, path)
    case value
    when Hash
      seen = new
      seen.exchange = exchange
      seen.path = path
      value.each { |k, v| seen.store(k, wrap(v, exchange, path.empty? ? k : "#{path}.#{k}")) }
      seen
    when Array then value.map { |v| wrap(v, exchange, "#{path}[]") }
    else value
    end
  end

  def note(key)
    return if @own&.key?(key)

    Recording.read(exchange, path.empty? ? key.to_s : "#{path}.#{key}", fetch(key, nil))
  end

  def [](key)
    note(key)
    super
  end

  def []=(key, value)
    (@own ||= {})[key] = true # the client's own, not read from the answer
    super
  end

  def key?(key)
    note(key)
    super
  end

  def dig(key, *rest)
    value = self[key]
    rest.empty? || value.nil? ? value : value.dig(*rest)
  end

  def to_s = to_h.to_s
end

HTTP::Client.prepend(Module.new do
  def request(verb, uri, opts = {})
    exchange = Recording.start(verb, uri, opts.respond_to?(:to_h) ? opts.to_h : opts)
    response = super
    exchange["status"] = response.code
    Recording.answered = exchange
    response
  end
end)

JSON.singleton_class.prepend(Module.new do
  def parse(*args, **opts)
    value = super
    return value unless value.is_a?(Hash) && Recording.answered

    exchange = Recording.answered
    Recording.answered = nil # what else is parsed is no answer
    Seen.wrap(value, exchange, "")
  end
end)

# The stand-in for the gem mcp: enough for the client's tools to be called.
module MCP
  class Tool
    class Response
      attr_reader :content, :structured_content

      def initialize(content, structured_content: nil, error: false)
        @content = content
        @structured_content = structured_content
        @error = error
      end

      def error? = @error
    end

    class << self
      def description(*) = nil
      def annotations(*, **) = nil
      def input_schema(*, **) = nil
      def output_schema(*, **) = nil
      def tool_name(*) = nil
    end
  end
end
$LOADED_FEATURES << "mcp.rb"

keys = { "user" => ENV.fetch("USER_KEY"), "gm" => ENV.fetch("GM_KEY"), "admin" => ENV.fetch("ADMIN_KEY") }
ENV["DECKO_API_BASE_URL"] = base
ENV["JWT_ISSUER"] = ENV.fetch("ISSUER", "loregate")
ENV.delete("MCP_USERNAME")
$LOAD_PATH.unshift(File.join(checkout, "lib"))
require "magi/archive/mcp/tools"
Dir[File.join(checkout, "lib/magi/archive/mcp/server/tools/*.rb")].sort.each { |f| require f }

Tools = Magi::Archive::Mcp::Tools
ToolSet = Magi::Archive::Mcp::Server::Tools

def tools_for(role, env)
  saved = env.to_h { |k, _| [k, ENV[k]] }
  env.each { |k, v| ENV[k] = v }
  tools = Tools.new
  saved.each { |k, v| ENV[k] = v }
  [role, tools]
end

AS = keys.to_h { |role, key| tools_for(role, "MCP_API_KEY" => key, "MCP_ROLE" => role) }
$failures = 0

def step(name, role, expect: nil)
  Recording.role = role
  Recording.step = name
  result = yield AS.fetch(role)
  if result.is_a?(MCP::Tool::Response)
    text = result.content.first[:text]
    raise text if result.error?
    result = text
  end
  raise "answered, where #{expect} was awaited" if expect
  warn format("ok    %-6s %-34s %s", role, name, result.to_s.gsub(/\s+/, " ")[0, 120])
rescue StandardError => e
  said = "#{e.class.name.split("::").last}: #{e.message.gsub(/\s+/, " ")[0, 260]}"
  if expect && e.class.name.end_with?(expect)
    warn format("ok    %-6s %-34s %s", role, name, said)
  else
    $failures += 1
    warn format("FAIL  %-6s %-34s %s", role, name, said)
  end
end

def tool(name, role, expect: nil, **args)
  step("tool #{name}", role, expect: expect) do |tools|
    err, $stderr = $stderr, StringIO.new
    begin
      ToolSet.const_get(name).call(**args, server_context: { magi_tools: tools })
    ensure
      $stderr = err
    end
  end
end

load File.join(__dir__, "old-client-steps.rb")

made = ->(text) { !OURS.any? { |own| own == text } }

# Names of cards that the client makes up are given other ones.
steps = File.read(File.join(__dir__, "old-client-steps.rb"))
names = {}
name_all = lambda do |value|
  case value
  when Hash
    n = value["name"] || value[:name]
    names[n] ||= "Card #{names.size + 1} of the client" if n.is_a?(String) && !n.empty? && !steps.include?("\"#{n}\"")
    value.each_value { |v| name_all.(v) }
  when Array then value.each { |v| name_all.(v) }
  end
end
Recording.exchanges.each { |x| name_all.(x["body"]) }
placeholder = lambda do |value, key|
  case value
  when Hash then value.to_h { |k, v| [k, placeholder.(v, k.to_s)] }
  when Array then value.map { |v| placeholder.(v, key) }
  when String
    case
    when key == "api_key" || key == "password" then "KEY"
    when key == "name" && names[value] then names[value]
    when key == "content" && made.(value) then "a text that the client made, of cord and rope"
    when value.match?(/\A\d{4}-\d\d-\d\dT/) then "{{now#{format("%+d", (Time.parse(value) - Time.now).round(-2))}}}"
    else value
    end
  else value
  end
end
Recording.exchanges.reject! { |x| x["status"] == 429 } # the client asks again
Recording.exchanges.each do |x|
  x["path"] = x["path"].split("/").map { |part| (to = names[URI.decode_www_form_component(part.gsub("+", "%2B"))]) ? to.gsub(" ", "%20") : part }.join("/")
  x["path"].sub!(/loregate-[0-9a-f]{16}\.db/, "{{backup}}")
  x["query"] = placeholder.(x["query"], "")
  x["body"] = placeholder.(x["body"], "")
  x.delete("step")
  x.delete("body") if x["body"].nil?
  x.delete("query") if x["query"].empty?
end
puts "[", Recording.exchanges.map { |x| "  #{JSON.generate(x)}" }.join(",\n"), "]"
warn "#{Recording.exchanges.size} requests, #{$failures} steps failed"
exit($failures.zero? ? 0 : 1)
