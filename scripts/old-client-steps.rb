# frozen_string_literal: true

# The calls that scripts/old-client.rb makes: each method and tool of the client that
# talks to a server, as each role that it is for.

HTML = "<h2>Berths</h2><p>Old rope and <b>new</b> rope, at [[Rent Quay]].</p><h2>Dues</h2><p>Paid in rope.</p>"
TERMS = "[[The Kept Light]]\n[[Oda Tarn]]"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OURS = [HTML, TERMS, PNG, "<p>More.</p>", "<p>First.</p>", "<p>Plain</p>", "# Plain\n\n**bold**", "<p>Child</p>", "<p>New dues.</p>",
        "<p>A default.</p>", "rope", "[[Harbour]]\n[[Dues]]", "Changed"].freeze

# The client makes its key in a way that OpenSSL 3 refuses, whatever the server says.
OPENSSL3 = OpenSSL::OPENSSL_LIBRARY_VERSION.match?(/OpenSSL 3/)
step("auth: token", "user") { |t| t.client.auth.token }
step("auth: verify", "user", expect: OPENSSL3 ? "PKeyError" : nil) { |t| t.client.auth.verify_token(t.client.auth.token) }
step("username", "user") { |t| t.client.username or raise "no user name" }
step("health_check", "user") { |t| t.client.health_check["status"] }
step("ping", "user") { |t| t.client.ping["status"] }
tool("HealthCheck", "user", detailed: true)

step("get_card", "user") { |t| t.get_card("Rent Quay") }
step("get_card with_children", "user") { |t| t.get_card("Rent Quay", with_children: true) }
step("get_card rendered", "user") { |t| t.get_card("The Kept Light", rendered: true) }
step("get_card absent", "user", expect: "NotFoundError") { |t| t.get_card("No Such Place") }
step("get_card denied", "user", expect: "AuthorizationError") { |t| t.get_card("Rent Quay+GM") }
tool("GetCard", "user", name: "Rent Quay", with_children: true)
tool("GetCard", "user", name: "Rent Quay", rendered: true)
tool("GetCard", "user", name: "No Such Place", expect: "RuntimeError")
tool("GetCard", "user", name: "Rent Quay+GM", expect: "RuntimeError")
tool("Fetch", "user", id: "Rent Quay")
tool("Search", "user", query: "rent")
tool("GetCardStats", "user", name: "Rent Quay")
tool("GetCardOutline", "user", name: "Rent Quay")
tool("FindInCard", "user", name: "Rent Quay", query: "rent")

step("search_cards", "user") { |t| t.search_cards(q: "rent", limit: 5)["cards"].map { |c| c["name"] } }
step("search_cards content", "user") { |t| t.search_cards(q: "rope", search_in: "content", include_virtual: true) }
step("search_cards times", "user") { |t| t.search_cards(updated_since: (Time.now.utc - 86_400).iso8601, updated_before: (Time.now.utc + 86_400).iso8601) }
step("fetch_all_cards", "user") { |t| t.fetch_all_cards(type: "Character", limit: 5).size }
step("each_card_page", "user") { |t| n = 0; t.each_card_page(q: "a", limit: 20, max_pages: 2) { |p| n += p["cards"].size }; n }
tool("SearchCards", "user", query: "rent", search_in: "both", limit: 5)
step("list_children", "user") { |t| t.list_children("Rent Quay", include_virtual: true) }
tool("ListChildren", "user", parent_name: "Rent Quay")
step("list_types", "user") { |t| t.list_types(limit: 5, offset: 2)["types"].size == 5 or raise "limit is not held" }
step("fetch_all_types", "user") { |t| t.fetch_all_types.size }
tool("GetTypes", "user", limit: 10)
step("convert to markdown", "user") { |t| t.convert_content("<p>Plain</p>", from: :html, to: :markdown).fetch("markdown") }
step("convert to html", "user") { |t| t.convert_content("# Plain\n\n**bold**", from: :markdown, to: :html).fetch("html") }
tool("RenderContent", "user", content: "<p>Plain</p>", from_format: "html", to_format: "markdown")
tool("RenderContent", "user", content: "# Plain\n\n**bold**", from_format: "markdown", to_format: "html")
%w[referers links linked_by nests nested_in].each { |kind| tool("GetRelationships", "user", card_name: "Rent Quay", relationship_type: kind) }
tool("RunQuery", "user", query: { name: "rent", type: "Place" }, limit: 5, offset: 0)
tool("RunQuery", "user", query: { content: "rope", updated_at: [">=", "2020-01-01"] })
tool("RunQuery", "user", query: { name: "a", created_at: ["between", "2020-01-01", "2040-01-01"] })
tool("RunQuery", "user", query: { prefix: "Lend" })
tool("GetSiteContext", "user")
step("get_ai_instructions", "gm") { |t| t.get_ai_instructions("Rent Quay").inspect }

step("create_card", "user") { |t| t.create_card("Hemp Yard", content: HTML, type: "RichText") }
tool("CreateCard", "user", name: "Hemp Yard+Yard", content: "<p>Child</p>")
step("create_card invalid", "user", expect: "Error") { |t| t.create_card("", content: "<p>Plain</p>") }
tool("UpdateCard", "user", name: "Hemp Yard+Yard", content: "<p>Plain</p>")
tool("AppendContent", "user", name: "Hemp Yard", content: "<p>More.</p>", separator: "\n")
tool("PrependContent", "user", name: "Hemp Yard", content: "<p>First.</p>", separator: "\n")
tool("FindAndReplace", "user", name: "Hemp Yard", find: "rope", replace: "cord")
tool("FindAndReplace", "user", name: "Hemp Yard", find: "rope", replace: "hemp", occurrence: "last")
tool("FindAndReplace", "user", name: "Hemp Yard", find: "not there", replace: "hemp", expect: "RuntimeError")
tool("UpdateSection", "user", name: "Hemp Yard", section: "Dues", content: "<p>New dues.</p>")
tool("GetCardHistory", "user", name: "Hemp Yard")
tool("GetRevision", "user", name: "Hemp Yard", act_id: 1)
tool("DiffCard", "user", name: "Hemp Yard", from_revision: 1, to_revision: 2)
tool("DiffCard", "user", name: "Hemp Yard")
tool("BatchCards", "user", operations: [{ action: "create", name: "Hemp Yard+Loft", content: "<p>Child</p>" },
                                        { action: "update", name: "No Such Place", content: "<p>Plain</p>" }])
tool("BatchCards", "user", mode: "transactional", operations: [{ action: "create", name: "Hemp Yard+Cellar", content: "<p>Child</p>", type: "RichText" }])
step("build_child_op", "user") { |t| t.batch_operations([t.build_child_op("Hemp Yard", "Gate", content: "<p>Child</p>")]) }
step("search_and_replace", "user") { |t| t.search_and_replace("cord", "twine", card_name_pattern: "Hemp", dry_run: true) }
step("search_and_replace", "user") { |t| t.search_and_replace("cord", "twine", card_name_pattern: "Hemp") }
step("tags", "user") { |t| t.create_card("Hemp Yard+tags", content: "[[Harbour]]\n[[Dues]]", type: "Pointer") }
step("get_card_tags", "user") { |t| t.get_card_tags("Hemp Yard").include?("Harbour") or raise "no tags" }
step("get_all_tags", "user") { |t| t.get_all_tags.size }
step("search_by_tag", "user") { |t| t.search_by_tag("Harbour").map { |c| c["name"] }.include?("Hemp Yard") or raise "not found" }
step("search_by_tags", "user") { |t| t.search_by_tags(%w[Harbour Dues]).map { |c| c["name"] } == ["Hemp Yard"] or raise "not found" }
step("search_by_tags_any", "user") { |t| t.search_by_tags_any(%w[Harbour Nothing]).map { |c| c["name"] } == ["Hemp Yard"] or raise "not found" }
step("search_by_tag_pattern", "user") { |t| t.search_by_tag_pattern("Harb") }
tool("SearchByTags", "user", tags: %w[Harbour Dues], expect: "RuntimeError") # its tool takes a list for an object
tool("GetTags", "user", card_name: "Hemp Yard")
tool("GetTags", "user")
tool("SuggestTags", "user", card_name: "Hemp Yard")
step("upload_file", "user") { |t| t.upload_file("Hemp Mark", type: "Image", file_data: PNG, filename: "mark.png") }
tool("UploadFile", "user", name: "Hemp Mark Two", type: "File", file_data: PNG, filename: "mark.png")
tool("GetFileUrl", "user", name: "Hemp Mark")
tool("GetFileUrl", "user", name: "Hemp Mark", size: "medium")
tool("SubmitFeedback", "user", category: "other", message: "A note.")
tool("SubmitFeedback", "user", category: "other", message: "Another note.")
tool("TemplateCard", "user", operation: "get", type_name: "Character")
tool("TemplateCard", "admin", operation: "set", type_name: "Character", content: "<p>A default.</p>")
tool("TemplateCard", "admin", operation: "get", type_name: "Character")
tool("AutoLink", "gm", card_name: "Hemp Yard")
tool("AutoLink", "gm", card_name: "Hemp Yard", mode: "apply", dry_run: true, scope: "Hemp Yard", include_types: ["RichText"])
step("spoiler terms", "gm") { |t| t.create_card("Hemp Terms", content: TERMS, type: "Pointer") }
tool("SpoilerScan", "gm", terms_card: "Hemp Terms", results_card: "Hemp Terms+results+GM")
Dir.mktmpdir do |dir|
  tool("CreateWeeklySummary", "user", days: 7, base_path: dir, username: "Sample")
  tool("CreateWeeklySummary", "user", days: 7, base_path: dir, username: "Sample", date: "2026 01 05", create_card: true)
end

tool("RenameCard", "admin", name: "Hemp Yard+Gate", new_name: "Hemp Yard+Door")
tool("RenameCard", "user", name: "Hemp Yard+Door", new_name: "Hemp Yard+Gate", expect: "RuntimeError")
tool("DeleteCard", "user", name: "Hemp Yard+Door", i_verified_not_virtual: true, expect: "RuntimeError")
tool("DeleteCard", "admin", name: "Hemp Yard+Door", i_verified_not_virtual: true)
tool("DeleteCard", "admin", name: "Hemp Yard", expect: "RuntimeError")
tool("DeleteCard", "admin", name: "Hemp Yard", force: true)
tool("ListTrash", "admin")
tool("GetCardHistory", "admin", name: "Hemp Yard")
tool("RestoreCard", "admin", name: "Hemp Yard", from_trash: true)
tool("RestoreCard", "admin", name: "Hemp Yard", act_id: 1)
tool("RestoreCard", "user", name: "Hemp Yard", act_id: 1, expect: "RuntimeError")
tool("AdminBackup", "admin", operation: "download", save_path: File.join(Dir.tmpdir, "old-client-backup"))
tool("AdminBackup", "admin", operation: "list")
step("delete backup", "admin") do |t|
  file = t.list_database_backups["backups"].first["filename"]
  File.binwrite(File.join(Dir.tmpdir, "old-client-backup"), t.download_database_backup_file(file))
  t.delete_database_backup(file)
end
AS["named"] = tools_for("named", "MCP_USERNAME" => ENV.fetch("USER_NAME", "sample-user"), "MCP_PASSWORD" => ENV.fetch("USER_KEY")).last
step("login by name and secret", "named") { |t| t.client.username or raise "no user name" }
step("get_card by name and secret", "named") { |t| t.get_card("Rent Quay") }
