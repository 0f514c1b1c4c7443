import Foundation

/// A page of Firefox: a top-level browsing context of WebDriver BiDi.
struct FirefoxPage: Page {
  let commands: CommandChannel
  let complaints: Complaints
  let context: String

  func allowDevices() async throws {
    // The profile allows devices for every page.
  }

  func addStartScript(_ source: String) async throws {
    _ = try await commands.call(
      "script.addPreloadScript",
      ["functionDeclaration": .string("() => {\n\(source)\n}"), "contexts": [.string(context)]])
  }

  func open(_ url: String) async throws {
    _ = try await commands.call(
      "browsingContext.navigate", ["context": .string(context), "url": .string(url), "wait": "interactive"])
  }

  func evaluate(_ expression: String, within limit: Duration) async throws -> JSON {
    let wrapped = "(async () => JSON.stringify(await (\(expression))) ?? 'null')()"
    let answer = try await commands.call(
      "script.evaluate",
      [
        "expression": .string(wrapped), "target": ["context": .string(context)], "awaitPromise": true,
        "userActivation": true,
      ], within: limit)
    guard answer["type"] == "success" else {
      let message = answer["exceptionDetails"]["text"].string ?? "no reason given"
      throw ScriptError(expression: expression, message: message)
    }
    return try JSON(parsing: answer["result"]["value"].string ?? "null")
  }

  var errors: [String] {
    get async { await complaints.of(context) }
  }

  func screenshot() async throws -> Data {
    let answer = try await commands.call("browsingContext.captureScreenshot", ["context": .string(context)])
    return Data(base64Encoded: answer["data"].string ?? "") ?? Data()
  }

  func close() async {
    _ = try? await commands.call("browsingContext.close", ["context": .string(context)], within: .seconds(5))
  }
}
