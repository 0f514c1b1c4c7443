import HTTPTypes
import Hummingbird
import JSON
import JobProtocol
import Logging
import Media
import NIOCore
import ObjectStore
import SQLStore

extension APIResponder {
  /// `GET /readyz`
  func ready() async throws -> Response {
    var missing = await control.missing
    if let problem = objects.problem { missing.append(problem) }
    if let problem = access.problem {
      // Anybody may ask: what the file has, and where it is, stands in the log only.
      logger.error("The file of tokens cannot be used: \(problem)")
      missing.append("The file of tokens cannot be used.")
    }
    do {
      _ = try await store.now()
    } catch {
      let sentence = "The database does not answer."
      if !missing.contains(sentence) { missing.append(sentence) }
    }
    guard missing.isEmpty else { throw Self.notReady(missing) }
    return Self.json(.object(["status": .text("ready")]))
  }

  /// `GET /metrics`
  func metricsText() async throws -> Response {
    metrics.note(unstored.figures(), isRefused: objects.problem != nil)
    let text = await metrics.text(store: store, control: control)
    return Response(
      status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  /// `POST /v1/session`: puts a token into a cookie that scripts cannot read.
  func beginSession(_ request: Request, _ context: APIContext) async throws -> Response {
    let isSecure = try checkOrigin(request)
    let body = try Self.json(try await Self.body(of: request))
    guard case .object(let fields) = body else {
      throw APIProblem(faults: [JobProblem("", "The body is an object.")])
    }
    if let name = fields.keys.sorted().first(where: { $0 != "token" }) {
      throw APIProblem(
        faults: [JobProblem(JobProblem.pointer("", name.printable(utf8Bytes: 64)), "There is no such field.")])
    }
    guard let text = fields["token"]?.string?.ascii, text.utf8.count <= AccessToken.maximumBytes,
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"\\,;".utf8.contains($0) })
    else { throw APIProblem(faults: [JobProblem("/token", "The token is a text.")]) }
    let token = try access.authenticate(.header(text), address: context.address)
    var response = Self.json(sessionDocument(token))
    response.headers[.setCookie] = cookie(text, seconds: 2_592_000, isSecure: isSecure)
    return response
  }

  /// `DELETE /v1/session`
  func endSession() -> Response {
    Response(status: .noContent, headers: [.setCookie: cookie("", seconds: 0, isSecure: configuration.tls != nil)])
  }

  private func cookie(_ value: String, seconds: Int, isSecure: Bool) -> String {
    "\(Self.sessionCookie)=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)"
      + (isSecure ? "; Secure" : "")
  }

  func sessionDocument(_ token: AccessToken) -> JSONValue {
    .object([
      "name": .text(token.name), "role": .text(token.role.rawValue), "project": .text(token.project),
      "snapshots": .bool(configuration.page.showsSnapshots),
      "servers": .array(configuration.servers.keys.sorted().map { .text($0) }),
    ])
  }
}
