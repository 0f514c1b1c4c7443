import ICE
import Testing

@Suite("TURN server URLs")
struct TURNServerURLTests {
  @Test(
    "turn: and turns: URLs contain host, port and transport",
    arguments: [
      ("turn:turn.example.org", "turn.example.org", 3_478, ICEServerURL.Transport.udp, "turn:turn.example.org"),
      ("turn:a?transport=udp", "a", 3_478, .udp, "turn:a"),
      ("TURN:a:1?transport=TCP", "a", 1, .tcp, "turn:a:1?transport=tcp"),
      ("turns:a", "a", 5_349, .tls, "turns:a"), ("turns:a:3478?transport=tcp", "a", 3_478, .tls, "turns:a:3478"),
      ("turn:[2001:db8::1]:5?transport=tcp", "2001:db8::1", 5, .tcp, "turn:[2001:db8::1]:5?transport=tcp"),
      ("turn:bob:secret@a:5", "a", 5, .udp, "turn:a:5"),
    ] as [(String, String, UInt16, ICEServerURL.Transport, String)])
  func reads(text: String, host: String, port: UInt16, transport: ICEServerURL.Transport, written: String) throws {
    let url = try ICEServerURL(parsing: text)
    #expect(url.kind == .turn)
    #expect(url.host == host)
    #expect(url.port == port)
    #expect(url.transport == transport)
    #expect(url.description == written)
    #expect(try ICEServerURL(parsing: url.description) == url)
  }

  @Test("a stun: URL is of kind stun, over UDP and without credentials")
  func stun() throws {
    let url = try ICEServerURL(parsing: "stun:a")
    #expect(url.kind == .stun)
    #expect(url.transport == .udp)
    #expect(url.credentials == nil)
    #expect(try url != ICEServerURL(parsing: "turn:a"))
  }

  @Test(
    "user name and password precede the host, with percent signs for special characters",
    arguments: [
      ("turn:bob:secret@a", "bob", "secret"),
      ("turns:1700000000%3Abob:7tNSWpJ3/+k=@a", "1700000000:bob", "7tNSWpJ3/+k="),
      ("turn:b%40c:p%25%3a:q@[::1]:4", "b@c", "p%::q"), ("turn:bob:p@q@a", "bob", "p@q"), ("turn:bob:@a", "bob", ""),
      ("turn:%E3%83%9E:x@a", "\u{30DE}", "x"), ("turn:bob:what?@a?transport=tcp", "bob", "what?"),
    ])
  func credentials(text: String, username: String, password: String) throws {
    let url = try ICEServerURL(parsing: text)
    #expect(url.credentials == TURNCredentials(username: username, password: password))
    #expect(!"\(url)".contains("@"))
    #expect(!"\(url)".contains(username))
    var dumped = ""
    dump(url, to: &dumped)
    if password.count > 3 { #expect(!dumped.contains(password)) }
  }

  @Test(
    "each error is a sentence without the password",
    arguments: [
      (
        "turn:a?transport=tls",
        "A turn: URL has no parameter but ?transport=udp or ?transport=tcp, but this one has \"?transport=tls\"."
      ),
      (
        "turns:a?transport=udp",
        "A turns: URL has no parameter but ?transport=tcp (TLS over TCP), but this one has \"?transport=udp\"."
      ),
      ("stun:bob:secret@a", "A stun: URL has no user name and password: a STUN server needs none."),
      (
        "turn:bob@a",
        "The part before @ has the form user:password, in which %3A stands for a colon, %40 for @ and %25 for %."
      ),
      (
        "turn:bob:secret%4@a",
        "The part before @ has the form user:password, in which %3A stands for a colon, %40 for @ and %25 for %."
      ),
      (
        "turn:bob:secret%FF@a",
        "The part before @ has the form user:password, in which %3A stands for a colon, %40 for @ and %25 for %."
      ),
      ("turn:bob:secret@", "\"\" is neither a host name nor an IP address (an IPv6 address needs brackets)."),
      ("turn:bob:secret@a:0", "A port is a number from 1 to 65535, but this one is \"0\"."),
      ("turn://bob:secret@a", "An ICE server URL has the form stun:host, without slashes, but this one is \"…@a\"."),
      ("bob:secret@a", "An ICE server URL has the form stun:host or stun:host:port, but \"…@a\" has no scheme."),
    ])
  func mistakes(text: String, sentence: String) {
    do throws(ICEServerURL.ParseError) {
      let url = try ICEServerURL(parsing: text)
      Issue.record("\(text) was parsed as \(url)")
    } catch {
      #expect(error.description == sentence)
      #expect(!error.description.contains("secret"))
    }
  }
}
