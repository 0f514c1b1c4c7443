import BotPeer
import Call
import JobProtocol
import Logging
import Media
import MetricsEndpoint
import PrometheusText
import RoomServer
import Signalling
import SkyRTC
import Testing

@Suite struct ProgramMetricsTests {
  @Test func `a counter never goes back, and is shown before it has counted`() {
    let metrics = ProgramMetrics(["chatbot_packets_total", "chatbot_packets_lost_total"])
    #expect(metrics.registry.text().contains("\nchatbot_packets_total 0\n"))
    metrics.raise("chatbot_packets_total", to: 7)
    metrics.raise("chatbot_packets_total", to: 5)
    #expect(metrics.registry.text().contains("\nchatbot_packets_total 7\n"))
    metrics.raise("chatbot_packets_total", to: 8)
    #expect(metrics.registry.text().contains("\nchatbot_packets_total 8\n"))
    #expect(metrics.registry.text().contains("\nchatbot_packets_lost_total 0\n"))
    #expect(!metrics.registry.text().contains("chatbot_frames_total"))
  }

  @Test func `the names of the metrics are those of the service`() {
    let counts: MediaCounts = {
      var counts = MediaCounts()
      (counts.packets, counts.lost, counts.recovered) = (1, 2, 3)
      (counts.frames, counts.decodeErrors, counts.unverified) = (4, 5, 6)
      return counts
    }()
    let metrics = ProgramMetrics(Set(MetricFamily.media.map(\.name)))
    metrics.raise(to: counts, recording: true)
    let text = metrics.registry.text()
    for line in [
      "chatbot_packets_total 1", "chatbot_packets_lost_total 2", "chatbot_packets_recovered_total 3",
      "chatbot_frames_total 4", "chatbot_decode_errors_total 5", "chatbot_frames_unverified_total 6",
    ] { #expect(text.contains("\n\(line)\n")) }
    // All have the help text of a declaration.
    for line in text.split(separator: "\n") where line.hasPrefix("# HELP") {
      let words = line.split(separator: " ", maxSplits: 3)
      #expect(words.count == 4 && words[3] != words[2])
    }
  }

  @Test func `a room server counts its rooms, users and connections`() async throws {
    let server = RoomServer(RoomServer.Settings(rooms: SkyRTCServer.Configuration(port: 0)))
    let metrics = RoomServerMetrics(hasGateway: true)
    let sampling = Task { await metrics.run(server) }
    let url = try await server.start().webSocketURL
    let one = try SkyRTCClient(url: url, room: "100")
    let other = try SkyRTCClient(url: url, room: "200")
    for client in [one, other] { try await client.connect() }
    #expect(await holds(metrics, ["chatbot_rooms 2", "chatbot_users 2", "chatbot_connections 2"]))
    #expect(metrics.text.contains("\nchatbot_whip_publishers 0\n"))
    #expect(metrics.text.contains("\nchatbot_packets_total 0\n"))
    #expect(metrics.text.contains("\nchatbot_event_loop_delay_seconds_count "))
    await other.leave()
    #expect(await holds(metrics, ["chatbot_rooms 1", "chatbot_users 1", "chatbot_connections 1"]))
    await one.leave()
    sampling.cancel()
    await server.stop()
    #expect(!RoomServerMetrics(hasGateway: false).text.contains("chatbot_whip"))
  }

  /// Waits until the metrics have all these lines.
  private func holds(_ metrics: RoomServerMetrics, _ lines: [String]) async -> Bool {
    for _ in 0..<100 {
      let text = metrics.text
      if lines.allSatisfy({ text.contains("\n\($0)\n") }) { return true }
      try? await Task.sleep(for: .milliseconds(100))
    }
    return false
  }

  @Test func `a call without media shows its process, and metrics of recordings only if it records`() async throws {
    let call = try await RoomCall(RoomCall.Settings(), client: SilentClient(), log: Logger(label: "test"))
    let metrics = CallMetrics(isRecording: false)
    let sampling = Task { await metrics.run(call) }
    for _ in 0..<100 where !metrics.text.contains("chatbot_event_loop_delay_seconds_count") {
      try await Task.sleep(for: .milliseconds(50))
    }
    let text = metrics.text
    #expect(text.contains("\nchatbot_users 0\n") && text.contains("\nchatbot_stalled_users 0\n"))
    #expect(text.contains("\nchatbot_event_loop_delay_seconds_count 1\n"))
    #expect(!text.contains("\nchatbot_cpu_seconds_total 0\n") && !text.contains("\nchatbot_private_memory_bytes 0\n"))
    #expect(!text.contains("chatbot_recorded_bytes_total") && !text.contains("chatbot_decode_errors_total"))
    #expect(CallMetrics(isRecording: true).text.contains("\nchatbot_recorded_bytes_total 0\n"))
    // What is not known has no value: an alert on a full disk would fire.
    #expect(!CallMetrics(isRecording: true).text.contains("chatbot_free_disk_bytes"))
    sampling.cancel()
    call.leave(because: "the test is over")
    _ = await call.run()
  }
}

/// A client of a server without users.
private final class SilentClient: SignallingClient {
  let events: SignallingEvents
  private let continuation: AsyncStream<SignallingEvent>.Continuation

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: SignallingEvent.self)
    events = SignallingEvents(stream)
    self.continuation = continuation
  }

  func connect() async throws(SignallingConnectError) { continuation.yield(.joined(id: "me", others: [])) }
  func send(_ message: SignallingMessage, to participant: ParticipantID) {}
  func leave() async { continuation.finish() }
}
