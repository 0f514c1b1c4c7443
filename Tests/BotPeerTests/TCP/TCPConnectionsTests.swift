import BotPeer
import ICE
import Media
import NIOCore
import NIOEmbedded
import Testing

@Suite("TCP connections and those who flood them")
struct TCPConnectionsTests {
  private static let tiny: [UInt8] = [1, 2, 3]
  private static let limit = EmbeddedConnections.framesOfTurn

  @Test(
    "a stranger's frame that is no check closes the connection before anything is passed on", arguments: [0, 3, 100])
  func noCheck(bytes: Int) throws {
    let side = EmbeddedConnections()
    let stranger = try side.connect(port: 1_000)
    try stranger.send(EmbeddedConnections.stream([UInt8](repeating: 1, count: bytes), count: 5_000))
    #expect(!stranger.isOpen)
    #expect(side.frames.isEmpty)
  }

  @Test("a stranger's frame that is too long for a check closes the connection when its length has arrived")
  func longFrame() throws {
    let side = EmbeddedConnections()
    let stranger = try side.connect(port: 1_000)
    try stranger.send(ByteBuffer(bytes: [255]))
    #expect(stranger.isOpen)
    try stranger.send(ByteBuffer(bytes: [255]))
    #expect(!stranger.isOpen)
  }

  @Test("a stranger may send a few checks, and then the connection is closed")
  func fewChecks() throws {
    let side = EmbeddedConnections()
    let stranger = try side.connect(port: 1_000)
    for _ in 0..<StreamAdmission.maximumChecks {
      try stranger.send(EmbeddedConnections.stream(EmbeddedConnections.check, count: 1))
    }
    #expect(stranger.isOpen)
    try stranger.send(EmbeddedConnections.stream(EmbeddedConnections.check, count: 1))
    #expect(!stranger.isOpen)
    #expect(side.frames[stranger.address] == StreamAdmission.maximumChecks)
  }

  @Test("after a check with the right password other frames are passed on, and no more checks are counted")
  func authenticated() throws {
    let side = EmbeddedConnections()
    let participant = try side.connect(port: 1_000, as: ParticipantID("anna"))
    try participant.send(EmbeddedConnections.stream(EmbeddedConnections.check, count: 30))
    try participant.send(EmbeddedConnections.stream(Self.tiny, count: 5))
    #expect(participant.isOpen)
    #expect(side.frames[participant.address] == 35)
  }

  @Test(
    "a participant's tiny frames are handled in turns, nothing more is read meanwhile, and another waits for none of them"
  )
  func turns() throws {
    let side = EmbeddedConnections()
    let mallory = try side.connect(port: 1_000, as: ParticipantID("mallory"))
    let anna = try side.connect(host: 2, port: 1_000, as: ParticipantID("anna"))
    for participant in [mallory, anna] {
      try participant.send(EmbeddedConnections.stream(EmbeddedConnections.check, count: 1))
    }
    side.loop.advanceTime(by: .milliseconds(5))
    let reads = (mallory: mallory.reads.count, anna: anna.reads.count)
    try mallory.send(EmbeddedConnections.stream(Self.tiny, count: 5_000))
    try anna.send(EmbeddedConnections.stream(Self.tiny, count: 10))
    #expect(side.frames[mallory.address] == 1 + Self.limit)
    #expect(side.frames[anna.address] == 11)
    #expect(mallory.reads.count == reads.mallory)
    #expect(anna.reads.count == reads.anna + 1)
    for turn in 2...10 {
      side.loop.advanceTime(by: EmbeddedConnections.turn)
      #expect(side.frames[mallory.address] == 1 + turn * Self.limit)
    }
    #expect(mallory.reads.count == reads.mallory)
    side.loop.advanceTime(by: .milliseconds(100))
    #expect(side.frames[mallory.address] == 5_001)
    #expect(mallory.reads.count == reads.mallory + 1)
  }

  @Test("all connections of a participant have one share of a turn")
  func oneShare() throws {
    let side = EmbeddedConnections()
    let all = try (0..<8).map { try side.connect(port: 1_000 + $0, as: ParticipantID("mallory")) }
    for connection in all { try connection.send(EmbeddedConnections.stream(EmbeddedConnections.check, count: 1)) }
    side.loop.advanceTime(by: .milliseconds(5))
    let before = side.frames.values.reduce(0, +)
    for connection in all { try connection.send(EmbeddedConnections.stream(Self.tiny, count: 200)) }
    #expect(side.frames.values.reduce(0, +) == before + Self.limit)
    side.loop.advanceTime(by: .milliseconds(40))
    #expect(side.frames.values.allSatisfy { $0 == 201 })
  }

  @Test("what a participant sent before closing the connection is handled before it ends")
  func lastFrames() throws {
    let side = EmbeddedConnections()
    let anna = try side.connect(port: 1_000, as: ParticipantID("anna"))
    try anna.send(EmbeddedConnections.stream(EmbeddedConnections.check, count: 1))
    try anna.channel.writeInbound(EmbeddedConnections.stream(Self.tiny, count: 200))
    anna.channel.close(promise: nil)
    #expect(side.ended.isEmpty)
    side.loop.advanceTime(by: .milliseconds(10))
    #expect(side.frames[anna.address] == 201)
    #expect(side.ended == [anna.address])
  }
}
