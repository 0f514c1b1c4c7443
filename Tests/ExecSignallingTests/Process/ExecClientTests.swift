import ExecSignalling
import Foundation
import Media
import Signalling
import TestSupport
import Testing

@Suite("A program that connects a system", .timeLimit(.minutes(1)))
struct ExecClientTests {
  private let anna = SignalledParticipant("anna", offerer: .local)

  @Test("joins, carries messages in both directions, and is reaped after it has left")
  func normal() async throws {
    let script = try Script(
      Script.joining + """
        while read line; do
          printf '%s\\n' "$line" >>"$HERE/lines"
          case $line in
            *'"offer"'*) echo '{"type":"answer","from":"anna","sdp":"v=1"}';;
            *'"leave"'*) exit 0;;
          esac
        done
        """)
    defer { script.remove() }
    let client = try script.client {
      $0.room = "100"
      $0.leaveTimeout = .seconds(20)
    }
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    let joined = await events.next()
    #expect(joined == .joined(id: "me", others: [anna]))
    client.send(.offer(String(repeating: "x", count: 200_000)), to: "anna")
    let answer = await events.next()
    #expect(answer == .message(.answer("v=1"), from: "anna"))
    client.hangUp("anna")
    await client.leave()
    let last = await events.next()
    #expect(last == nil)
    let lines = try script.text(of: "lines").split(separator: "\n")
    #expect(lines.count == 3 && lines.first?.utf8.count ?? 0 > 200_000)
    #expect(lines.dropFirst() == [#"{"to":"anna","type":"hangUp"}"#, #"{"type":"leave"}"#])
    #expect(try script.remaining() == [])
    await client.leave()
  }

  @Test("learns the room and our name, and after the next start our former id; what it says of the system counts")
  func hello() async throws {
    let script = try Script(
      """
      read hello; printf '%s\\n' "$hello" >>"$HERE/lines"
      echo '{"type":"hello","version":1,"capabilities":{"tricklesCandidates":false}}'
      read join; printf '%s\\n' "$join" >>"$HERE/lines"
      echo '{"type":"joined","id":"me","participants":[]}'
      if [ -e "$HERE/again" ]; then \(Script.staying) fi
      touch "$HERE/again"; echo 'Oh no.' >&2; exit 3
      """)
    defer { script.remove() }
    let client = try script.client {
      $0.room = "100"
      $0.user = "bot"
      $0.token = "s3cret"
    }
    #expect(client.capabilities.tricklesCandidates)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    #expect(!client.capabilities.tricklesCandidates)
    let joined = await events.next()
    #expect(joined == .joined(id: "me", others: []))
    let lost = await events.next()
    guard case .connectionLost(let reason, _)? = lost else { return #expect(Bool(false)) }
    #expect(reason == #"sh ended with exit code 3; the last line of its standard error was "Oh no."."#)
    let again = await events.next()
    #expect(again == joined)
    await client.leave()
    let lines = try script.text(of: "lines").split(separator: "\n")
    let text = #"{"callees":[],"maximumParticipants":256,"receives":true,"room":"100","sends":true,"token":"s3cret","#
    let hello = text + #""type":"hello","user":"bot","version":1}"#
    let joins = [#"{"type":"join"}"#, #"{"formerID":"me","type":"join"}"#]
    #expect(lines.map(String.init) == [hello, joins[0], hello, joins[1]])
    #expect(try script.remaining() == [])
  }

  @Test("may end the call or reject us, and nothing more is tried")
  func endings() async throws {
    for (line, expected) in [
      (
        #"{"type":"ended","reason":"The room was closed"}"#,
        SignallingEvent.closed(reason: "sh has ended the call: The room was closed.")
      ),
      (#"{"type":"rejected","reason":"Banned"}"#, .rejected(reason: "sh rejects what we do: Banned.")),
    ] {
      let script = try Script(Script.joining + "echo '\(line)'")
      defer { script.remove() }
      let client = try script.client()
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      let found = [await events.next(), await events.next(), await events.next()]
      #expect(found == [.joined(id: "me", others: [anna]), expected, nil])
      await client.leave()
      #expect(try script.remaining() == [])
    }
    let script = try Script(
      #"read hello; echo '{"type":"hello","version":1}{}'; echo '{"type":"rejected","reason":"No"}'"#)
    defer { script.remove() }
    #expect(await Script.failure(of: try script.client()) == .rejected("sh rejects the join: No."))
    #expect(try script.remaining() == [])
  }

  @Test("that cannot be started is one sentence")
  func noProgram() async throws {
    let script = try Script("")
    defer { script.remove() }
    let file = script.folder.appendingPathComponent("adapter.sh").path
    let missing = ExecClient(command: try ExecCommand("/nowhere/adapter"))
    #expect(
      await Script.failure(of: missing)
        == .invalidConfiguration("There is no program /nowhere/adapter, or it is a script whose first line names none.")
    )
    let text = ExecClient(command: try ExecCommand("'\(file)'"))
    #expect(
      await Script.failure(of: text) == .invalidConfiguration("\(file) is no program that may be executed."))
    await missing.leave()
  }

  @Test("inherits three pipes and nothing else, and its pipes are closed after its end")
  func descriptors() async throws {
    let script = try Script(
      "ls -l /proc/self/fd >\"$HERE/list\"; links=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo \"$links\" >\"$HERE/links\"\n"
        + Script.joining + Script.staying
    )
    defer { script.remove() }
    // This end is inherited unless it is closed for the program.
    let ends = Pipe()
    defer { _ = ends }
    let flags = fcntl(ends.fileHandleForReading.fileDescriptor, F_GETFD)
    _ = fcntl(ends.fileHandleForReading.fileDescriptor, F_SETFD, flags & ~FD_CLOEXEC)
    let client = try script.client()
    try await client.connect()
    let open = try script.text(of: "list").split(separator: "\n").filter { $0.contains(" -> ") }
    #expect(open.count == 4, "standard input, output, error and the folder that ls reads: \(open)")
    let pipes = Set(
      try script.text(of: "links").split(separator: "\n").map(String.init).filter { $0.hasPrefix("pipe:") })
    #expect(pipes.count == 3)
    await client.leave()
    var left = pipes
    for _ in 0..<100 where !left.isEmpty {
      let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      let links = numbers.compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }
      left = pipes.intersection(links)
      if !left.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    }
    #expect(left.isEmpty)
  }
}
