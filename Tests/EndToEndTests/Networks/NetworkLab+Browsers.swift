extension NetworkLab {
  /// Starts a Chromium on a host, which ends with the laboratory.
  func chromium(on host: LabHost) async throws -> Chromium {
    let browser = try await Chromium.launch(in: host.namespace.network, folder: folder)
    browsers.append(browser)
    return browser
  }

  /// Starts a Firefox on a host, which ends with the laboratory.
  func firefox(on host: LabHost, hidesAddresses: Bool) async throws -> Firefox {
    let browser = try await Firefox.launch(
      in: host.namespace.network, hidesAddresses: hidesAddresses, folder: folder)
    browsers.append(browser)
    return browser
  }

  /// Enters a room with the call page in a new window.
  func call(
    in browser: any Browser, room: String, rooms: LabRooms, camera: Camera = .own
  ) async throws -> CallPage {
    let page = try await scenario.page(of: browser, camera: camera)
    // The browser does not know the authority of the laboratory.
    if let page = page as? ChromiumPage { try await page.call("Security.setIgnoreCertificateErrors", ["ignore": true]) }
    let call = CallPage(page: page, browser: browser.name)
    try await call.enter(room: room, at: rooms.pageAddress)
    return call
  }
}
