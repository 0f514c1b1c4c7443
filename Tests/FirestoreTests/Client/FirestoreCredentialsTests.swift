import Firestore
import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite("Firestore credentials", .timeLimit(.minutes(1)))
struct FirestoreCredentialsTests {
  @Test("an emulator in the environment is accessed as its owner")
  func emulator() throws {
    let options = try FirestoreClient.Options(environment: [
      "FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080", "FIRESTORE_API_KEY": "unused",
    ])
    #expect(options.server == "http://127.0.0.1:8080")
    #expect(options.credentials.description == "the owner of an emulator")
  }

  @Test("a secret is in no description and no dump")
  func hidden() throws {
    let credentials = try FirestoreCredentials.fromEnvironment(["FIRESTORE_API_KEY": " SECRET\n"])
    var options = FirestoreClient.Options()
    options.credentials = credentials
    var dumped = ""
    dump(options, to: &dumped)
    for text in ["\(credentials)", String(reflecting: credentials), "\(options)", dumped] {
      #expect(!text.contains("SECRET"))
    }
  }

  @Test("a file that is missing, or contains no credentials, is an error of one sentence")
  func badFiles() throws {
    try withFolder { folder in
      let file = folder + "/key.json"
      for contents in ["", "{}", #"{"type":"service_account","client_email":"a","private_key":"SECRET"}"#, "[[[["] {
        try Data(contents.utf8).write(to: URL(fileURLWithPath: file))
        let error = #expect(throws: FirestoreCredentialsError.self) {
          try FirestoreCredentials.serviceAccount(file: file)
        }
        #expect(error?.description.contains("SECRET") == false)
      }
      #expect(throws: FirestoreCredentialsError.self) { try FirestoreCredentials.apiKey(file: folder + "/missing") }
      #expect(throws: FirestoreCredentialsError.self) {
        try FirestoreCredentials.fromEnvironment(["FIRESTORE_API_KEY": "a b"])
      }
    }
  }

  @Test("the API key signs in once for many requests, and again when the token is withdrawn")
  func anonymous() async throws {
    let server = try FirestoreServer()
    try await server.control(#"{"require": [], "apiKey": "KEY"}"#)
    let credentials = try FirestoreCredentials.fromEnvironment(["FIRESTORE_API_KEY": "KEY"])
    let store = try server.store { $0.credentials = credentials }
    for _ in 0..<3 { #expect(try await store.get(CollectionPath("rooms").document("1")) == nil) }
    #expect(try await server.control().contains(#""POST v1/accounts:signUp": 1"#))
    try await server.control(#"{"require": []}"#)
    #expect(try await store.get(CollectionPath("rooms").document("1")) == nil)
    #expect(try await server.control().contains(#""POST v1/accounts:signUp": 2"#))
    let wrong = try FirestoreCredentials.fromEnvironment(["FIRESTORE_API_KEY": "WRONG"])
    let rejected = try server.store { $0.credentials = wrong }
    let error = await #expect(throws: FirestoreError.self) {
      _ = try await rejected.get(CollectionPath("rooms").document("1"))
    }
    #expect(error?.isPermanent == true)
    #expect(error?.description.contains("WRONG") == false)
  }

  @Test("a service account signs an assertion that OpenSSL verifies, and exchanges it for a token")
  func serviceAccount() async throws {
    let server = try FirestoreServer()
    try await server.control(#"{"require": []}"#)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try ExternalTool.run("openssl", ["genrsa", "-out", folder + "/key.pem", "2048"]).status == 0)
    let publicKey = ["rsa", "-in", folder + "/key.pem", "-pubout", "-out", folder + "/public.pem"]
    #expect(try ExternalTool.run("openssl", publicKey).status == 0)
    let pem = try String(contentsOfFile: folder + "/key.pem", encoding: .utf8)
    let account = [
      "type": "service_account", "client_email": "bot@p.iam.gserviceaccount.com", "private_key": pem,
      "private_key_id": "1", "token_uri": server.url + "/token",
    ]
    try JSONEncoder().encode(account).write(to: URL(fileURLWithPath: folder + "/account.json"))
    let credentials = try FirestoreCredentials.serviceAccount(file: folder + "/account.json")
    #expect(credentials.description == "the service account bot@p.iam.gserviceaccount.com")
    let store = try server.store { $0.credentials = credentials }
    for _ in 0..<3 { #expect(try await store.get(CollectionPath("rooms").document("1")) == nil) }
    let state = try await server.control()
    #expect(state.contains(#""POST token": 1"#))
    let start = try #require(state.firstRange(of: #""assertion": ""#)?.upperBound)
    let parts = state[start...].prefix { $0 != "\"" }.split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    #expect(String(decoding: decoded(parts[0]), as: UTF8.self) == #"{"alg":"RS256","kid":"1","typ":"JWT"}"#)
    #expect(String(decoding: decoded(parts[1]), as: UTF8.self).contains(#""iss":"bot@p.iam.gserviceaccount.com""#))
    try Data("\(parts[0]).\(parts[1])".utf8).write(to: URL(fileURLWithPath: folder + "/signed"))
    try decoded(parts[2]).write(to: URL(fileURLWithPath: folder + "/signature"))
    let verified = try ExternalTool.run(
      "openssl",
      ["dgst", "-sha256", "-verify", folder + "/public.pem", "-signature", folder + "/signature", folder + "/signed"])
    #expect(verified.output.contains("Verified OK"))
  }

  private func decoded(_ base64URL: String) -> Data {
    var text = base64URL.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while !text.utf8.count.isMultiple(of: 4) { text += "=" }
    return Data(base64Encoded: text) ?? Data()
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }
}
