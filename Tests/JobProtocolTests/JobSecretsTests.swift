import JobProtocol
import Testing

@Suite("secrets of jobs") struct JobSecretsTests {
  @Test("secrets are read from one object, and written back")
  func read() throws {
    let text = #"{"pin":"1234","token":"t","iceCredentials":{"user":"u","password":"p q"},"turnSecret":"s"}"#
    let secrets = try JobSecrets(parsing: Array(text.utf8))
    #expect(secrets.pin == "1234")
    #expect(secrets.iceCredentials == .init(user: "u", password: "p q"))
    #expect(try JobSecrets(parsing: secrets.json) == secrets)
    #expect(try JobSecrets(parsing: []).isEmpty)
    #expect(try JobSecrets(parsing: Array(" \n".utf8)).isEmpty)
  }

  @Test("no description, dump or error has a secret")
  func hidden() throws {
    let secrets = try JobSecrets(parsing: Array(#"{"pin":"hush4711"}"#.utf8))
    var dumped = ""
    dump(secrets, to: &dumped)
    #expect(!"\(secrets) \(String(reflecting: secrets)) \(dumped)".contains("hush4711"))
    for text in [#"{"hush4711":"x"}"#, #"{"pin":{"hush4711":1}}"#, #""hush4711""#, #"["hush4711"]"#, "hush4711"] {
      let error = #expect(throws: JobSecrets.ParseError.self) { try JobSecrets(parsing: Array(text.utf8)) }
      #expect(error.map { !"\($0)".contains("hush4711") } == true)
    }
  }

  @Test("more than 16 KiB are refused")
  func tooLarge() {
    let text = #"{"pin":""# + String(repeating: "1", count: 16_400) + #""}"#
    #expect(throws: JobSecrets.ParseError.tooLarge) { try JobSecrets(parsing: Array(text.utf8)) }
  }

  @Test("a secret that would be cut at a space or a line end is refused")
  func whitespace() {
    for text in [
      #"{"pin":"1 2"}"#, #"{"token":"a\nb"}"#, #"{"pin":""}"#, #"{"iceCredentials":{"user":"a","password":"b\nc"}}"#,
    ] {
      #expect(throws: JobSecrets.ParseError.unusable) { try JobSecrets(parsing: Array(text.utf8)) }
    }
  }
}

@Suite("who is paused") struct PauseStateTests {
  @Test("a pause of everybody contains those who come later, until they are resumed")
  func everybody() {
    var state = PauseState.none
    state.pause(["a"])
    #expect(state == PauseState(users: ["a"]))
    state.pause(nil)
    #expect(state.isPaused("a") && state.isPaused("later"))
    state.resume(["b", "a"])
    #expect(state == PauseState(all: true, resumedUsers: ["a", "b"]))
    #expect(!state.isPaused("a") && state.isPaused("later"))
    state.pause(["a"])
    #expect(state.isPaused("a") && !state.isPaused("b"))
    state.resume(nil)
    #expect(state == .none)
  }

  @Test("users are paused one by one, and named once")
  func users() {
    var state = PauseState.none
    state.pause(["b", "a"])
    state.pause(["a"])
    #expect(state == PauseState(users: ["a", "b"]))
    state.resume(["c", "a"])
    #expect(state.isPaused && state.isPaused("b") && !state.isPaused("a"))
  }

  @Test("ids are compared by their bytes")
  func bytes() {
    let composed = "\u{E5}"
    let decomposed = "a\u{30A}"
    #expect(PauseState(users: [composed]).isPaused(composed))
    #expect(!PauseState(users: [composed]).isPaused(decomposed))
  }
}
