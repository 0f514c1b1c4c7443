import Foundation

/// A program in place of `chatbot` that behaves as a job process, but joins no room. What it does is in the name of the room.
enum FakeProgram {
  /// Writes the program into a folder.
  static func write(into folder: String) throws -> String {
    let path = "\(folder)/chatbot"
    try script.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  /// - `crash`: it ends at once, without a word.
  /// - `hang`: it stops answering a second after it began.
  /// - `refuse`: the server refuses.
  /// - `nopause`: it refuses to resume.
  /// - `talk`: it writes a thousand lines into its log.
  private static let script = #"""
    #!/usr/bin/env python3
    import fcntl, json, os, select, signal, socket, sys, time
    assert sys.argv[1] == 'job'
    folder = sys.argv[2]
    os.chdir(folder)
    lock = open('lock', 'w')
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(75)
    spec = json.load(open('spec.json'))
    secrets = json.loads(sys.stdin.buffer.read() or b'{}')
    room = spec.get('room', '')
    if room == 'crash':
        os.kill(os.getpid(), signal.SIGSEGV)
    os.makedirs('media', exist_ok=True)
    journal = open('journal.ndjson', 'ab', buffering=0)
    seq = 0
    def write(type, **fields):
        global seq
        seq += 1
        fields.update(seq=seq, time=int(time.time() * 1000), type=type)
        journal.write(json.dumps(fields).encode() + b'\n')
    paused = spec.get('paused') or {'all': False, 'users': [], 'resumedUsers': []}
    write('started', protocol=1, version='0', job=spec['job'], attempt=spec['attempt'], attemptID=spec['attemptID'],
          kind=spec['kind'], process=os.getpid(), paused=paused)
    open('secrets-were', 'w').write(secrets.get('pin', ''))
    ice = secrets.get('iceCredentials') or {}
    open('ice-was', 'w').write(ice.get('user', '') + ' ' + ice.get('password', ''))
    if room == 'refuse':
        write('ended', reason='serverRefused', exitCode=69, sentence='The server refused.')
        sys.exit(69)
    log = open('log.ndjson', 'ab', buffering=0)
    def say(message, level='info', **fields):
        log.write(json.dumps({'time': '2026-01-01T00:00:00.000Z', 'level': level, 'message': message,
            'fields': fields}).encode() + b'\n')
    say('user joined', user='anna', job='another', attempt='99')
    log.write(b'no line of a log\n')
    say('a \x1b[31m line\n', level='warning', name='b\u202e')
    if room == 'talk':
        for number in range(1000):
            say('line %d' % number)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind('control')
    listener.listen(8)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append('stopped'))
    clients, subscribers = {}, {}
    began = time.time()
    joined = False
    next_status = 0
    packets = 1000
    def status(id):
        return {'id': id, 'status': {'time': int(time.time() * 1000), 'state': 'joined' if joined else 'starting',
            'paused': paused, 'users': [], 'userCount': 1, 'cpuSeconds': 0.01, 'privateBytes': 4 << 20,
            'bytesWritten': 100, 'totals': {'packets': packets, 'frames': 10}}}
    def send(client, value):
        try:
            client.sendall(json.dumps(value).encode() + b'\n')
        except OSError:
            pass
    def change(client, id, kind, users):
        if room == 'nopause' and kind == 'resumed':
            return send(client, {'id': id, 'error': {'code': 'failed', 'sentence': 'It does not resume.'}})
        if users is None:
            paused.update(all=kind == 'paused', users=[], resumedUsers=[])
        elif kind == 'paused':
            paused['users'] = sorted(set(paused['users']) | set(users))
        else:
            paused['users'] = [user for user in paused['users'] if user not in users]
        fields = {'effectiveAt': int(time.time() * 1000), 'state': paused}
        if users is not None:
            fields['users'] = users
        write(kind, **fields)
        send(client, {'id': id, 'paused': fields})
    while not stop:
        ready, _, _ = select.select([listener] + list(clients), [], [], 0.05)
        now = time.time()
        if room == 'hang' and now - began > 1:
            time.sleep(3600)
        if not joined and now - began > 0.1:
            joined = True
            write('joined', user='me')
            write('participantJoined', user='anna', name='Anna')
        for client in ready:
            if client is listener:
                clients[listener.accept()[0]] = b''
                continue
            try:
                data = client.recv(65536)
            except OSError:
                data = b''
            if not data:
                del clients[client]
                subscribers.pop(client, None)
                continue
            *lines, clients[client] = (clients[client] + data).split(b'\n')
            for line in lines:
                request = json.loads(line)
                id, name = request['id'], request['request']
                if name == 'hello':
                    send(client, {'id': id, 'hello': {'protocol': 1, 'version': '0', 'job': spec['job'],
                        'attempt': spec['attempt'], 'attemptID': spec['attemptID'], 'process': os.getpid()}})
                elif name == 'subscribe':
                    subscribers[client] = id
                    send(client, status(id))
                elif name == 'status':
                    send(client, status(id))
                elif name in ('pause', 'resume'):
                    change(client, id, name + 'd', request.get('users'))
                elif name == 'snapshot':
                    for part in range(2):
                        send(client, {'id': id, 'snapshot': {'time': 1, 'width': 2, 'height': 2, 'part': part, 'parts': 2,
                            'png': 'iVBO' if part == 0 else 'Rw0K'}})
                elif name == 'stop':
                    send(client, {'id': id, 'stopping': True})
                    stop.append(request.get('reason', 'stopped'))
        if now >= next_status:
            next_status = now + 0.2
            packets += 1
            for client, id in list(subscribers.items()):
                send(client, status(id))
    say('the last line')
    write('ended', reason=stop[0], exitCode=0, sentence='It was stopped.')
    """#
}
