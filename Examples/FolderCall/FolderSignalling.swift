import Foundation
import Media
import Signalling
import Synchronization

/// Signalling between two programs through a folder that both can write to: each one appends its messages to a file.
final class FolderSignalling: SignallingClient {
  let events: SignallingEvents
  private let output: AsyncStream<SignallingEvent>.Continuation
  private let own: URL
  private let partner: URL
  private let participant: SignalledParticipant
  private let reader = Mutex<Task<Void, Never>?>(nil)

  /// A message is one line of JSON.
  private struct Line: Codable {
    var kind: String
    var text: String
  }

  init(folder: String, name: String, partner: String, offers: Bool) {
    own = URL(fileURLWithPath: folder).appendingPathComponent(name)
    self.partner = URL(fileURLWithPath: folder).appendingPathComponent(partner)
    participant = SignalledParticipant(ParticipantID(partner), name: partner, offerer: offers ? .local : .remote)
    let (stream, continuation) = AsyncStream.makeStream(of: SignallingEvent.self)
    (events, output) = (SignallingEvents(stream), continuation)
  }

  func connect() async throws(SignallingConnectError) {
    guard FileManager.default.createFile(atPath: own.path, contents: nil) else {
      throw .unreachable("\(own.path) cannot be created.")
    }
    output.yield(.joined(id: ParticipantID(own.lastPathComponent), others: [participant]))
    reader.withLock { $0 = Task { await read() } }
  }

  func send(_ message: SignallingMessage, to participant: ParticipantID) {
    let line =
      switch message {
      case .offer(let sdp): Line(kind: "offer", text: sdp)
      case .answer(let sdp): Line(kind: "answer", text: sdp)
      case .candidate(let candidate): Line(kind: "candidate", text: candidate.candidate)
      }
    guard let data = try? JSONEncoder().encode(line), let file = try? FileHandle(forWritingTo: own) else { return }
    _ = try? file.seekToEnd()
    try? file.write(contentsOf: data + Data("\n".utf8))
  }

  func leave() async {
    reader.withLock { $0?.cancel() }
    try? FileManager.default.removeItem(at: own)
    output.finish()
  }

  /// Reads the partner's new lines every 50 ms.
  private func read() async {
    var known = 0
    while (try? await Task.sleep(for: .milliseconds(50))) != nil {
      guard let lines = try? Data(contentsOf: partner).split(separator: UInt8(ascii: "\n")) else { continue }
      for data in lines.dropFirst(known) {
        guard let line = try? JSONDecoder().decode(Line.self, from: data) else { break }
        known += 1
        let message: SignallingMessage =
          switch line.kind {
          case "offer": .offer(line.text)
          case "answer": .answer(line.text)
          default: .candidate(TrickledCandidate(candidate: line.text, mLineIndex: 0))
          }
        output.yield(.message(message, from: participant.id))
      }
    }
  }
}
