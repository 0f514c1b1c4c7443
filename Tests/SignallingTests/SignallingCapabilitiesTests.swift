import Media
import Signalling
import Testing

@Suite("Signalling capabilities")
struct SignallingCapabilitiesTests {
  private struct Client: SignallingClient {
    let events = SignallingEvents(AsyncStream { $0.finish() })
    func connect() async throws(SignallingConnectError) {}
    func send(_ message: SignallingMessage, to participant: ParticipantID) {}
    func leave() async {}
  }

  @Test("a client that says nothing trickles, restarts ICE, has data channels and is assigned ICE servers")
  func defaults() {
    let capabilities = Client().capabilities
    #expect(capabilities == SignallingCapabilities())
    #expect(capabilities.tricklesCandidates && capabilities.restartsICE && capabilities.assignsICEServers)
    #expect(capabilities.dataChannels == SignallingCapabilities.DataChannels(labels: [], opensWhenAnswering: false))
    #expect(!capabilities.requiresHangUpWhenClosedByParticipant && !capabilities.reportsEndedConnections)
    #expect(!capabilities.namesUsers && !capabilities.announcesLostParticipants)
  }

  @Test("calls carry data channels unless a system has none")
  func dataChannels() {
    var capabilities = SignallingCapabilities()
    let byDefault = capabilities.carriesDataChannels
    capabilities.dataChannels = nil
    #expect(byDefault && !capabilities.carriesDataChannels)
  }
}
