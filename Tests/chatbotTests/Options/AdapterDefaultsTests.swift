import Logging
import Signalling
import SignallingAdapters
import Testing

@Suite("Defaults of signalling adapters")
struct AdapterDefaultsTests {
  /// A system that states only what every system must state.
  private struct PlainAdapter: SignallingAdapter {
    let name = "Plain"
    let shortName = "Plain"
    let schemes = ["plain"]
    let summary = "A system for tests."
    let example = "chatbot --server plain://localhost"
    let uses = Set(SignallingUse.allCases)
    let options: Set<SignallingOption> = []

    func capabilities(at address: SignallingAddress) -> SignallingCapabilities { SignallingCapabilities() }

    func makeClient(
      _ settings: SignallingSettings, logger: Logger
    ) throws(SignallingSettingsError) -> any SignallingClient {
      throw SignallingSettingsError("Tests make no client.")
    }
  }

  /// A system in which other participants are always on this machine, without a server.
  private struct LocalAdapter: SignallingAdapter {
    let name = "Local"
    let shortName = "Local"
    let schemes = ["local"]
    let summary = "A system for tests."
    let example = "chatbot --server local:///tmp"
    let uses = Set(SignallingUse.allCases)
    let options: Set<SignallingOption> = []

    func capabilities(at address: SignallingAddress) -> SignallingCapabilities { SignallingCapabilities() }

    func offersLoopback(at address: SignallingAddress, environment: [String: String]) -> Bool { true }

    func makeClient(
      _ settings: SignallingSettings, logger: Logger
    ) throws(SignallingSettingsError) -> any SignallingClient {
      throw SignallingSettingsError("Tests make no client.")
    }
  }

  @Test("a system has no server that can be measured unless it names one")
  func probe() throws {
    let adapter: any SignallingAdapter = PlainAdapter()
    #expect(try adapter.probe(of: SignallingAddress("plain://localhost"), environment: [:]) == nil)
  }

  @Test(
    "loopback addresses are offered where the server is on this machine",
    arguments: [
      ("plain://localhost:1", true), ("plain://127.0.0.1", true), ("plain://[::1]/room", true),
      ("plain://localhost.example", false), ("plain://192.0.2.1", false), ("plain://", false),
    ])
  func loopback(address: String, isOffered: Bool) {
    let adapter: any SignallingAdapter = PlainAdapter()
    #expect(adapter.offersLoopback(at: SignallingAddress(address), environment: [:]) == isOffered)
  }

  @Test("a system without a server may say that participants are on this machine")
  func local() {
    let adapter: any SignallingAdapter = LocalAdapter()
    #expect(adapter.offersLoopback(at: SignallingAddress("local:///tmp"), environment: [:]))
  }
}
